"""1,986 questions on ten histories through a system of 200 ms, 64 at a time: ``python -m bench.questions_at_once``.

The ideal is latency x questions / concurrency. The time counts from the first question sent to the last row on disk,
so without the start of the systems and the ingestion before it.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from bench.measure import Ratio
from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.execution.progress import Progress
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


class LastRow(Progress):
    """Notes when the last row was on disk."""

    at = 0.0

    def advance(self, items: int, errors: int) -> None:
        """See :class:`Progress`."""
        self.at = time.time()


def sleeper(folder: Path, at_once: int, latency: float, *, is_async: bool) -> SystemSource:
    """Return a system that answers after a pause, in seconds."""
    folder.mkdir(exist_ok=True)
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


def measure(scratch: Path) -> list[Ratio]:
    """Measure a system of threads and one of coroutines, each once, beside the ideal.

    Args:
        scratch: an empty folder.

    Raises:
        RuntimeError: the rows differ from those of questions asked one by one.
    """
    ideal = LATENCY * sum(HISTORIES) / CONCURRENCY
    quick = sleeper(scratch / "quick", 1, 0.0, is_async=False)
    expected = comparable_digests(_run(quick, scratch / "one-by-one", 1, Progress()))
    return [_beside_the_ideal(scratch, kind, ideal, expected) for kind in ("threads", "coroutines")]


def _beside_the_ideal(scratch: Path, kind: str, ideal: float, expected: object) -> Ratio:
    source = sleeper(scratch / kind, CONCURRENCY, LATENCY, is_async=kind == "coroutines")
    last = LastRow()
    run = _run(source, scratch / f"results-{kind}", CONCURRENCY, last)
    if comparable_digests(run) != expected:
        raise RuntimeError(f"{kind}: the rows differ from those of questions asked one by one.")
    first = min(datetime.fromisoformat(row.timings.started).timestamp() for row in run.responses())
    took = last.at - first
    return Ratio(
        name=f"{sum(HISTORIES):,} questions of 200 ms, {CONCURRENCY} at a time, {kind}",
        ours_seconds=took,
        reference_seconds=ideal,
        ratio=took / ideal,
        target=MOST_OF_IDEAL,
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        peak_target_mb=None,
        reference="latency × questions ÷ concurrency",
        pairs=1,
        limit_seconds=ideal,
        ratios=(round(took / ideal, 4),),
    )


def main() -> int:
    """Measure, and print a line each; return 1 where the limit is missed."""
    with tempfile.TemporaryDirectory() as scratch:
        found = measure(Path(scratch))
    for each in found:
        print(f"{each.name}: {each.ours_seconds:.2f} s, {each.ratio:.3f} × the ideal (≤ {each.target})")
    return 0 if all(each.holds for each in found) else 1


def _run(source: SystemSource, results: Path, concurrency: int, progress: Progress) -> RunFolder:
    return run_system(
        source, BenchmarkSession.open(Histories()), RunOptions(results, concurrency=concurrency), progress
    )


if __name__ == "__main__":
    sys.exit(main())
