"""``python -m bench.sizes``: time and memory by the length of a history, of memeval itself and of the system it runs.

Every measurement is a process of its own. Memory is the largest resident size: memeval's, which should be the same
whatever the length, and that of the largest process it started, which is the system's.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.cli.main import main as memeval

TIERS = ("10k", "100k", "1m", "10m")
SYSTEMS = ("recency-window", "bm25")
OUT = Path("build/sizes.json")

LOOK_SECONDS = 0.1
"""How often the sizes of processes are looked at."""


class Watch(threading.Thread):
    """Looks now and then how large the processes are that were started from this one.

    What the kernel says of them when they end counts, for a forked process, what the parent had.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.largest_kb = 0
        """The largest resident size of any of them, in kilobytes."""

    def run(self) -> None:
        """Look until the process ends."""
        while True:
            for pid in _started_from(os.getpid()):
                with contextlib.suppress(OSError):
                    size = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
                    self.largest_kb = max(self.largest_kb, int(size[1]) if size else 0)
            time.sleep(LOOK_SECONDS)


def _started_from(pid: int) -> Iterator[int]:
    """Yield the processes started from one, and from those."""
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text().split()):
                yield child
                yield from _started_from(child)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a line each, store the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiers", nargs="+", default=TIERS)
    parser.add_argument("--systems", nargs="+", default=SYSTEMS)
    parser.add_argument("--results", type=Path, help="where runs are stored; a folder that goes away unless named")
    parser.add_argument("--one", nargs=2, metavar=("TIER", "SYSTEM"), help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.one:
        tier, system = asked.one
        print(json.dumps(_one(tier, system, asked.results)))
        return 0
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        results = asked.results or Path(scratch, "results")
        for tier in asked.tiers:
            for system in ("generate", *asked.systems):
                found.append(_measured(tier, system, results, Path(scratch)))
                print("  ".join(f"{name} {value}" for name, value in found[-1].items()), flush=True)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 0


def _measured(tier: str, system: str, results: Path, scratch: Path) -> dict[str, object]:
    """Return one measurement, made in a process of its own."""
    environment = dict(os.environ)
    if system == "generate":  # anew, whatever is kept
        environment["MEMEVAL_DATA"] = str(scratch / "anew")
    command = [sys.executable, "-m", "bench.sizes", "--results", str(results), "--one", tier, system]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{tier}, {system}: {done.stderr[-2000:]}")
    measured: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return measured


def _one(tier: str, system: str, results: Path) -> dict[str, object]:
    """Open a tier, or run a system on it, in this process."""
    began = time.perf_counter()
    benchmark_session = BenchmarkSession.open(find("beliefs"), tier=tier)
    found: dict[str, object] = {"tier": tier, "system": system, "opened_seconds": round(time.perf_counter() - began, 1)}
    if system == "generate":
        found |= {"digest": benchmark_session.dataset.digest}
    else:
        watch = Watch()
        watch.start()
        began = time.perf_counter()
        options = ["--benchmark", "beliefs", "--tier", tier, "--results", str(results), "--sandbox", "none"]
        sys.argv = ["memeval", "run", system, *options, "--concurrency", "1", "--fresh"]
        try:
            memeval()
        except SystemExit as end:
            if end.code:
                raise
        found |= {"run_seconds": round(time.perf_counter() - began, 1), "composite": _composite(results, system)}
        found["system_mb"] = round(watch.largest_kb / 1024)
    found["memeval_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return found


def _composite(results: Path, system: str) -> float:
    """Return the composite of a system's latest run, in percent."""
    head = max((results / "beliefs" / system).glob("*/run.json"), key=lambda path: path.stat().st_mtime)
    return round(100 * float(json.loads(head.read_text())["scores"]["composite"]["value"]), 1)


if __name__ == "__main__":
    sys.exit(main())
