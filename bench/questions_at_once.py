"""1,986 questions on ten histories through a system of 200 ms, 64 at a time: ``python -m bench.questions_at_once``.

The ideal is latency x questions / concurrency. The time counts from the first question sent to the last row on disk;
the start of the systems and the ingestion before the first question are shown apart.
"""

from __future__ import annotations

import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.running import RunOptions, run_system
from memeval.execution.progress import Silent
from memeval.systems.source import SystemSource, file_source
from tests.support.equal_runs import comparable_digests
from tests.support.tiny import TinyBenchmark, scenario

ADAPTER = """
import asyncio, time

class Sleeper:
    questions_at_once = {at_once}

    def reset(self):
        self.told = []

    def ingest_session(self, session, timestamp):
        self.told += [turn["content"] for turn in session["turns"]]

    {kind} query(self, question, timestamp="now"):
        {pause}
        return self.told[0]
"""

HISTORIES = (199, 105, 193, 260, 242, 158, 190, 239, 196, 204)
"""Questions on each of the ten histories of LoCoMo: 1,986."""

LATENCY, CONCURRENCY = 0.2, 64
MOST_OF_IDEAL = 1.15


class LastRow(Silent):
    """Notes when the last row was on disk."""

    at = 0.0

    def advance(self, items: int, errors: int) -> None:
        """See :class:`Silent`."""
        self.at = time.time()


def sleeper(folder: Path, at_once: int, latency: float, *, is_async: bool) -> SystemSource:
    """Return a system that answers after a pause, in seconds."""
    folder.mkdir()
    path = folder / "sleeper.py"
    kind, pause = ("async def", "await asyncio.sleep") if is_async else ("def", "time.sleep")
    text = ADAPTER.format(at_once=at_once, kind=kind, pause=f"{pause}({latency})")
    path.write_text(text, encoding="utf-8")
    return file_source(path)


class Histories(TinyBenchmark):
    """Ten histories with as many questions as those of LoCoMo."""

    def __init__(self) -> None:
        super().__init__(0)
        self._made = [scenario(number, questions) for number, questions in enumerate(HISTORIES)]


def main() -> int:
    """Measure a system of threads and one of coroutines; return 1 where the limit is missed or rows differ."""
    ideal = LATENCY * sum(HISTORIES) / CONCURRENCY
    with tempfile.TemporaryDirectory() as scratch:
        quick = sleeper(Path(scratch) / "quick", 1, 0.0, is_async=False)
        expected = comparable_digests(_run(quick, Path(scratch) / "one-by-one", 1, Silent()))
        holds = True
        for is_async in (False, True):
            kind = "coroutines" if is_async else "threads"
            source = sleeper(Path(scratch) / kind, CONCURRENCY, LATENCY, is_async=is_async)
            began, last, cpu = time.time(), LastRow(), time.process_time()
            run = _run(source, Path(scratch) / f"results-{kind}", CONCURRENCY, last)
            cpu = time.process_time() - cpu
            first = min(datetime.fromisoformat(row.timings.started).timestamp() for row in run.responses())
            took, equal = last.at - first, comparable_digests(run) == expected
            print(
                f"{kind}: {took:.2f} s = {took / ideal:.3f} × the ideal of {ideal:.2f} s (≤ {MOST_OF_IDEAL}); start-up "
                f"{first - began:.2f} s apart; {cpu / sum(HISTORIES) * 1000:.2f} ms CPU a question, sealing included; "
                f"{'equal' if equal else 'OTHER'} rows"
            )
            holds &= equal and took <= MOST_OF_IDEAL * ideal
    return 0 if holds else 1


def _run(source: SystemSource, results: Path, concurrency: int, progress: Silent) -> RunFolder:
    return run_system(
        source, BenchmarkSession.open(Histories()), RunOptions(results, concurrency=concurrency), progress
    )


if __name__ == "__main__":
    sys.exit(main())
