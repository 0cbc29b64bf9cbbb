"""Runs on Dask workers beside the ideal: ``python -m bench.many_machines speed``, ``shared``, or ``kills --runs 20``.

``speed``: 40 made conversations of 50 questions, 200 ms each, on one worker and on four, and on four workers with a
system that answers several questions at the same time. ``shared``: one conversation of 200 questions, which one, two
and four workers share; each asks two of them at the same time. ``kills``: seeded runs, in the middle of each of which a
worker process is killed (``kill -9``); their rows must be those of a run on this machine.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.chaos_parts import Cluster
from bench.questions_at_once import LastRow
from bench.questions_at_once import sleeper as pausing
from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.execution.progress import Progress
from memeval.systems.source import SystemSource
from tests.support.equal_runs import comparable_digests
from tests.support.tiny import TinyBenchmark

CONVERSATIONS, QUESTIONS, LATENCY = 40, 50, 0.2
TOGETHER = 5
"""How many questions an instance answers at the same time, where it answers several."""
SHARED_WORKERS, SHARED_QUESTIONS, SHARED_AT_ONCE = (1, 2, 4), 200, 2
"""How many workers share a conversation, its questions, and how many of them each asks at the same time."""
KILLS, KILL_LATENCY, KILL_QUESTIONS = 20, 0.02, 120
KILL_CONVERSATIONS = 12, 1
"""Among how many conversations the questions are divided: many, or one, which the workers share."""
MOST_OF_IDEAL, LEAST_SPEEDUP = 1.25, 3.3


def cluster_of(workers: int) -> Any:
    """Start a scheduler and workers of one thread each, on loopback."""
    from distributed import LocalCluster  # a test imports this module for other things

    return LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    )


class KillsAWorker(Progress):
    """Calls a function once, when so many items are on disk.

    Args:
        kill: kills a worker.
        after: how many items.
    """

    def __init__(self, kill: Callable[[], None], after: int) -> None:
        self._kill, self._left, self.is_over = kill, after, False

    def advance(self, items: int, errors: int) -> None:
        """See :class:`Progress`."""
        self._left -= items
        if self._left <= 0 and not self.is_over:
            self.is_over = True
            self._kill()


def sleeper(folder: Path, latency: float, at_once: int = 1) -> SystemSource:
    """Return a system that answers after some time, in seconds."""
    return pausing(folder / f"{at_once}-at-once", at_once, latency, is_async=False)


def speed(folder: Path, latency: float) -> bool:
    """Print the times on one worker and on four; return whether both limits hold."""
    took = {(workers, at_once): _time(folder, latency, workers, at_once) for workers, at_once in ((1, 1), (4, 1))}
    quickest = _time(folder, latency, 4, TOGETHER)
    speedup = took[1, 1] / took[4, 1]
    print(f"4 workers are {speedup:.2f} × as fast as 1 (at least {LEAST_SPEEDUP})")
    ideal = CONVERSATIONS * QUESTIONS * latency / 4
    holds = took[4, 1] <= MOST_OF_IDEAL * ideal and quickest <= MOST_OF_IDEAL * ideal / TOGETHER
    return holds and speedup >= LEAST_SPEEDUP


def shared(folder: Path, latency: float) -> bool:
    """Print the times of one conversation on several numbers of workers; return whether the limit holds for each."""
    one = TinyBenchmark(1, SHARED_QUESTIONS)
    took = {workers: _time(folder, latency, workers, SHARED_AT_ONCE, one) for workers in SHARED_WORKERS}
    ideal = SHARED_QUESTIONS * latency / SHARED_AT_ONCE
    return all(seconds <= MOST_OF_IDEAL * ideal / workers for workers, seconds in took.items())


def _time(folder: Path, latency: float, workers: int, at_once: int, benchmark: TinyBenchmark | None = None) -> float:
    """Print and return the seconds from the first question to the last row on disk."""
    source, together = sleeper(folder, latency, at_once), workers * at_once
    with cluster_of(workers) as cluster:
        results = folder / f"{workers}-workers-{at_once}"
        options = RunOptions(results, scheduler=cluster.scheduler_address, concurrency=together)
        began, last = time.time(), LastRow()
        benchmark = benchmark or TinyBenchmark(CONVERSATIONS, QUESTIONS)
        run = run_system(source, BenchmarkSession.open(benchmark), options, last)
    rows = list(run.responses())
    first = min(datetime.fromisoformat(row.timings.started).timestamp() for row in rows)
    took, ideal = last.at - first, len(rows) * latency / together
    print(
        f"{workers} worker(s), {at_once} question(s) at once: {took:.2f} s = {took / ideal:.3f} × the ideal of "
        f"{ideal:g} s (4 workers: ≤ {MOST_OF_IDEAL}); start-up {first - began:.2f} s apart",
        flush=True,
    )
    return took


def kills(folder: Path, seed: int, runs: int = KILLS) -> bool:
    """Kill a worker in the middle of each of several runs; return whether all have equal rows."""
    chance = random.Random(seed)
    calm = sleeper(folder, KILL_LATENCY)
    expected = {
        number: comparable_digests(_made(calm, number, RunOptions(folder / f"here-{number}", concurrency=4)))
        for number in KILL_CONVERSATIONS
    }
    equal = killed = 0
    with Cluster() as cluster:
        for number in range(1, runs + 1):
            at_once, after = chance.choice((1, 4)), chance.randint(1, KILL_QUESTIONS * 3 // 4)
            conversations = chance.choice(KILL_CONVERSATIONS)
            killer = KillsAWorker(lambda: _kill(cluster, chance), after)
            options = RunOptions(folder / str(number), scheduler=cluster.address, concurrency=2 * at_once)
            run = _made(sleeper(folder, KILL_LATENCY, at_once), conversations, options, killer)
            asked = [row.question_id for row in run.responses()]
            killed += killer.is_over
            equal += comparable_digests(run) == expected[conversations] and len(asked) == len(set(asked))
            print(
                f"seed {seed}, run {number}: {conversations} conversation(s), {at_once} at once, "
                f"killed after {after} items: {equal} of {number} equal",
                flush=True,
            )
    print(f"seed {seed}: equal rows in {equal} of {runs} runs; a worker was killed in {killed} of them")
    return equal == killed == runs


def _made(source: SystemSource, conversations: int, options: RunOptions, progress: Progress | None = None) -> RunFolder:
    benchmark = TinyBenchmark(conversations, KILL_QUESTIONS // conversations)
    return run_system(source, BenchmarkSession.open(benchmark), options, progress)


def _kill(cluster: Cluster, chance: random.Random) -> None:
    """Kill a worker after a moment."""
    time.sleep(chance.uniform(0.0, 3 * KILL_LATENCY))
    cluster.kill_worker(chance)


def main() -> int:
    """Measure what the arguments name; return 1 where a limit is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.many_machines", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("speed", "shared", "kills"), default="speed")
    parser.add_argument("--latency", type=float, default=LATENCY, help=f"seconds of an answer (default: {LATENCY})")
    parser.add_argument("--runs", type=int, default=KILLS, help=f"how many runs with a kill (default: {KILLS})")
    parser.add_argument(
        "--seed", type=int, default=secrets.randbelow(10**6), help="decides when which worker is killed"
    )
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        measure = {"speed": speed, "shared": shared}.get(asked.what)
        holds = kills(folder, asked.seed, asked.runs) if measure is None else measure(folder, asked.latency)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
