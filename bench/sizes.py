"""``python -m bench.sizes``: time and memory by the length of a history, of memeval itself and of the system it runs.

Every measurement is a process of its own. Memory is the largest resident size: memeval's, which should be the same
whatever the length, and that of the largest process it started, which is the system's.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from memeval.benchmarks import find
from memeval.cli.main import main as memeval
from memeval.evaluation.plan import Exam

TIERS = ("10k", "100k", "1m", "10m")
SYSTEMS = ("recency-window", "bm25")
OUT = Path("build/sizes.json")


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
    exam = Exam.open(find("beliefs"), tier=tier)
    found: dict[str, object] = {"tier": tier, "system": system, "opened_seconds": round(time.perf_counter() - began, 1)}
    if system == "generate":
        found |= {"digest": exam.dataset.digest}
    else:
        began = time.perf_counter()
        options = ["--benchmark", "beliefs", "--tier", tier, "--results", str(results), "--sandbox", "none"]
        sys.argv = ["memeval", "run", system, *options, "--concurrency", "1", "--fresh"]
        try:
            memeval()
        except SystemExit as end:
            if end.code:
                raise
        found |= {"run_seconds": round(time.perf_counter() - began, 1), "composite": _composite(results, system)}
    found["memeval_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    found["system_mb"] = round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
    return found


def _composite(results: Path, system: str) -> float:
    """Return the composite of a system's latest run, in percent."""
    head = max((results / "beliefs" / system).glob("*/run.json"), key=lambda path: path.stat().st_mtime)
    return round(100 * float(json.loads(head.read_text())["scores"]["composite"]["value"]), 1)


if __name__ == "__main__":
    sys.exit(main())
