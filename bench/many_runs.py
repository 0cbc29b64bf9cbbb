"""Checks and regrades many runs: ``python -m bench.many_runs FOLDER --runs 1000 --benchmark beliefs@2``.

The runs are the repository's own of one track, each several times: a copy starts some seconds earlier, and has its own
id and its line in the ledger. So ``verify`` and ``reproduce`` find no problem. Caches are empty before each command.
Copies of a run have equal answers, which several runs of different systems have less often.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from bench.measure import PYTHON, cost_of
from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder, runs_under
from memeval.archive.sources import SOURCES
from memeval.records.ledger import LedgerEvent, Runner
from memeval.storage import write_whole

RESULTS = Path(__file__).parents[1] / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs, unless they are there; measure both commands, and print what they took."""
    parser = argparse.ArgumentParser(prog="python -m bench.many_runs", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the runs are made, or were made before")
    parser.add_argument("--runs", type=int, default=1000, help="number of runs")
    parser.add_argument("--benchmark", default="beliefs@2", help="the benchmark with its version")
    parser.add_argument("--protocol", default="judge", help="its protocol")
    parser.add_argument("--tier", default="full", help="its tier")
    parser.add_argument("--only", nargs="+", choices=("verify", "reproduce"), default=["verify", "reproduce"])
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    asked = parser.parse_args(arguments)
    results: Path = asked.folder.absolute() / "results"
    if not results.exists():
        made(stored_on(asked.benchmark, asked.protocol, asked.tier), asked.runs, results)
    folders = runs_under(results)
    rows = sum(folder.run.files["responses.jsonl"].rows for folder in folders)
    size = sum(path.stat().st_size for path in results.rglob("*") if path.is_file())
    print(f"{len(folders):,} runs, {rows:,} responses, {size / 1e6:,.0f} MB")
    for command in asked.only:
        with tempfile.TemporaryDirectory(prefix="memeval-bench-") as cold:
            line = [PYTHON, "-m", "memeval", command, str(results), "--jobs", str(asked.jobs)]
            cost = cost_of(line, asked.folder, {"MEMEVAL_CACHE": cold})
        # Only time: the processes that do the work are no children of the first, so nobody sums up what they used.
        print(f"{command}: {cost.seconds:.0f} s; first process {cost.peak_mb:.0f} MB", flush=True)
    return 0


def stored_on(benchmark: str, protocol: str, tier: str) -> list[RunFolder]:
    """Return the stored runs of a track without model calls, which would name the run that paid for them."""
    return [
        folder
        for folder in runs_under(RESULTS / benchmark.partition("@")[0])
        if (folder.run.track.benchmark, folder.run.track.protocol, folder.run.track.tier) == (benchmark, protocol, tier)
        and not {"judgments.jsonl", "calls.jsonl"} & folder.run.files.keys()
    ]


def made(stored: Sequence[RunFolder], runs: int, results: Path) -> None:
    """Make runs, and a ledger that accepts them.

    Args:
        stored: runs to copy in turn.
        runs: number of runs.
        results: the new results folder.
    """
    shutil.copytree(RESULTS / SOURCES, results / SOURCES)
    ledger = Ledger(results)
    for _, folder in zip(range(runs), _copies(stored, results), strict=False):
        ledger.append(LedgerEvent.ACCEPTED, folder, by="bench", reason="a copy for measuring", runner=Runner.MAINTAINER)


def _copies(stored: Sequence[RunFolder], results: Path) -> Iterator[RunFolder]:
    """Yield copies without end, each of which starts a second before the one before it, so that no two have one id."""
    started = min(datetime.fromisoformat(folder.run.timing.started) for folder in stored)
    while True:
        for folder in stored:
            head = json.loads(folder.head_bytes)
            started -= timedelta(seconds=1)
            head["timing"]["started"] = started.isoformat()
            head["run_id"] = f"{started:%Y%m%dT%H%M%SZ}-{head['fingerprint'][:8]}"
            path = results.joinpath(*folder.path.parts[-3:-1], head["run_id"])
            shutil.copytree(folder.path, path)
            write_whole(path / "run.json", (json.dumps(head, indent=2, sort_keys=True) + "\n").encode())
            yield RunFolder(path)


if __name__ == "__main__":
    sys.exit(main())
