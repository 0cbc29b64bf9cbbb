"""Runs on Dask workers beside the ideal: ``python -m bench.many_machines [speed|kills] [SEED]``.

``speed``: 40 made conversations of 50 questions, 50 ms each, on one worker and on four. ``kills``: 20 runs, in each of
which a worker is killed at a random time; their rows must be those of a run on this machine.
"""

from __future__ import annotations

import os
import random
import secrets
import signal
import sys
import tempfile
import threading
import time
from datetime import datetime
from pathlib import Path

from distributed import LocalCluster

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.running import RunOptions, run_system
from memeval.execution.progress import Silent
from memeval.systems.source import SystemSource, file_source
from tests.support.equal_runs import comparable_digests
from tests.support.tiny import TinyBenchmark

ADAPTER = """
import time

class Sleeper:
    def reset(self):
        self.told = []

    def ingest_session(self, session, timestamp):
        self.told += [turn["content"] for turn in session["turns"]]

    def query(self, question, timestamp="now"):
        time.sleep({pause})
        return self.told[0]
"""

CONVERSATIONS, QUESTIONS, PAUSE = 40, 50, 0.05
KILLS, KILL_QUESTIONS, KILL_PAUSE = 20, 10, 0.02
MOST_OF_IDEAL, LEAST_SPEEDUP = 1.25, 3.3


class LastRow(Silent):
    """Notes when the last row was on disk."""

    at = 0.0

    def advance(self, items: int, errors: int) -> None:
        """See :class:`Silent`."""
        self.at = time.time()


def cluster_of(workers: int) -> LocalCluster:
    """Start a scheduler and workers of one thread each, on loopback."""
    return LocalCluster(workers, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None)


def sleeper(folder: Path, pause: float) -> SystemSource:
    """Return a system that answers after a pause, in seconds."""
    path = folder / "sleeper.py"
    path.write_text(ADAPTER.format(pause=pause), encoding="utf-8")
    return file_source(path)


def speed(folder: Path) -> bool:
    """Print the times on one worker and on four; return whether both limits hold."""
    source, took = sleeper(folder, PAUSE), {}
    for workers in (1, 4):
        with cluster_of(workers) as cluster:
            options = RunOptions(folder / str(workers), scheduler=cluster.scheduler_address, concurrency=workers)
            began, last = time.time(), LastRow()
            run = run_system(source, BenchmarkSession.open(TinyBenchmark(CONVERSATIONS, QUESTIONS)), options, last)
        first = min(datetime.fromisoformat(row.timings.started).timestamp() for row in run.responses())
        took[workers] = last.at - first
        ideal = CONVERSATIONS * QUESTIONS * PAUSE / workers
        print(
            f"{workers} worker(s): {took[workers]:.2f} s = {took[workers] / ideal:.2f} × the ideal of {ideal:g} s; "
            f"start-up {first - began:.2f} s apart"
        )
    speedup = took[1] / took[4]
    print(f"4 workers are {speedup:.2f} × as fast as 1 (at least {LEAST_SPEEDUP})")
    return took[4] <= MOST_OF_IDEAL * CONVERSATIONS * QUESTIONS * PAUSE / 4 and speedup >= LEAST_SPEEDUP


def kills(folder: Path, seed: int) -> bool:
    """Kill a worker at a random time in each of several runs; return whether all have equal rows."""
    chance = random.Random(seed)
    source = sleeper(folder, KILL_PAUSE)
    expected = comparable_digests(_made(source, RunOptions(folder / "here", concurrency=4)))
    equal = with_kills = 0
    with cluster_of(2) as cluster:
        for number in range(KILLS):
            options = RunOptions(folder / str(number), scheduler=cluster.scheduler_address, concurrency=2)
            outcome: list[bool] = []
            killer = threading.Timer(chance.uniform(0.3, 3.0), _kill, (cluster, chance, outcome))
            killer.start()
            run = _made(source, options)
            killer.cancel()
            killer.join()
            with_kills += any(outcome)
            equal += comparable_digests(run) == expected
            print(f"run {number + 1}: {equal} equal, {with_kills} with a killed worker", flush=True)
    print(f"seed {seed}: equal rows in {equal} of {KILLS} runs; a worker was killed in {with_kills} of them")
    return equal == KILLS


def _made(source: SystemSource, options: RunOptions) -> RunFolder:
    return run_system(source, BenchmarkSession.open(TinyBenchmark(12, KILL_QUESTIONS)), options)


def _kill(cluster: LocalCluster, chance: random.Random, outcome: list[bool]) -> None:
    pids = sorted(nanny.pid for nanny in cluster.workers.values() if nanny.pid)
    if pids:
        os.kill(chance.choice(pids), signal.SIGKILL)
        outcome.append(True)


def main() -> int:
    """Measure what the arguments name; return 1 where a limit is missed."""
    what = sys.argv[1] if len(sys.argv) > 1 else "speed"
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else secrets.randbelow(10**6)
    with tempfile.TemporaryDirectory() as scratch:
        return 0 if (kills(Path(scratch), seed) if what == "kills" else speed(Path(scratch))) else 1


if __name__ == "__main__":
    sys.exit(main())
