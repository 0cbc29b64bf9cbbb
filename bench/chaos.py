"""Runs that are disturbed at random have the rows of a calm run: ``python -m bench.chaos --runs 20 --seed 7``.

Each run has a seed of its own, which is printed; ``--only SEED`` repeats it. Up to three times, a run is killed
(``kill -9``), or its system's process, the judge's server, a Dask worker or the Dask scheduler is, or its disk is full,
or the clock steps. Then it is left alone. Meanwhile its system raises, dies, hangs or returns a wrong value on a tenth
of the questions each, and the judge's server fails a tenth of the requests in each of six ways. Half of the systems
answer several questions at the same time. At the end, rows and grades must be those of a calm run, and no question may
have two rows. memeval's gateway is part of the run's process, and is killed with it.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from bench.chaos_parts import Cluster, Disturbed, Judge, Setting
from memeval.archive.runs import RunFolder, sealed_runs
from tests.support.equal_runs import comparable_digests

DISTURBANCES = (
    "the run is killed",
    "the run is killed",
    "the system is killed",
    "the judge's server is killed",
    "the disk is full",
    "the clock steps",
)
ON_A_CLUSTER = ("a worker is killed", "the scheduler is killed")
"""Disturbances of runs on a cluster, beside the others."""

MOST_DISTURBANCES = 3
LONGEST_PAUSE = 1.2
"""Seconds after which a disturbance comes at the latest."""

LAST_TRIES = 4
"""How often the run is started when nothing disturbs it any more; a judge that was away may have stopped it."""


def disturbed(setting: Setting, seed: int, judge: Judge, cluster: Cluster | None) -> tuple[RunFolder | None, list[str]]:
    """Make a run that is disturbed.

    Args:
        setting: the folder and the number of questions at once; its scheduler is filled in here.
        seed: decides what happens and when.
        judge: the judge's server.
        cluster: the machines of the run; ``None`` for this one.

    Returns:
        The run, ``None`` if it was not finished, and what happened.
    """
    chance = random.Random(seed)
    possible = DISTURBANCES if cluster is None else (*DISTURBANCES, *ON_A_CLUSTER, *ON_A_CLUSTER)
    happened: list[str] = []
    for _ in range(chance.randint(1, MOST_DISTURBANCES)):
        what, concurrency = chance.choice(possible), chance.choice((1, 3, 8))
        pause = chance.uniform(0.02, LONGEST_PAUSE)
        bytes_left, step = chance.randrange(500, 30_000), chance.choice((-86_400, -3_600, -1, 1, 3_600, 86_400))
        child = Disturbed(
            setting.on(cluster),
            concurrency,
            disk_bytes=bytes_left if what == "the disk is full" else None,
            clock_step=step if what == "the clock steps" else 0,
        )
        if what.endswith("is killed"):
            time.sleep(pause)
        if what == "the run is killed":
            child.kill()
        elif what == "the system is killed":
            what += "" if child.kill_system(chance) else " (there was none)"
        elif what == "the judge's server is killed":
            judge.kill()
            time.sleep(0.1)
            judge.start()
        elif cluster is not None and what in ON_A_CLUSTER:
            cluster.kill_scheduler() if "scheduler" in what else cluster.kill_worker(chance)
        happened.append(f"{what} ({child.wait()})")
        if cluster is not None:
            cluster.start()
    for _ in range(LAST_TRIES):
        code = Disturbed(setting.on(cluster), 8).wait()
        if code == 0:
            break
    happened.append(f"left alone ({code})")
    return next(iter(sealed_runs(setting.results)), None), happened


def calm_run(setting: Setting) -> RunFolder:
    """Make a run that nothing disturbs, and return it."""
    code = Disturbed(setting, 4).wait()
    if code:
        raise RuntimeError(f"the calm run ended with {code}: {setting.log()}")
    return next(iter(sealed_runs(setting.results)))


def difference(run: RunFolder, calm: RunFolder) -> str:
    """Return in what a run differs from a calm one; blank if in nothing."""
    questions = Counter(row.question_id for row in run.responses())
    if twice := [question for question, rows in questions.items() if rows > 1]:
        return f"{twice[0]} has {questions[twice[0]]} rows"
    ours, theirs = comparable_digests(run), comparable_digests(calm)
    files = ", ".join(name for name in theirs if ours.get(name) != theirs[name])
    if not files:
        return ""
    expected = {row.question_id: row.comparable() for row in calm.responses()}
    for row in run.responses():
        given, wanted = row.comparable(), expected.get(row.question_id, {})
        for field in given:
            if given[field] != wanted.get(field):
                return f"{files}: {field} of {row.question_id} is {given[field]!r}, not {wanted.get(field)!r}"
    return f"{files} differ"


def chaos(seeds: Sequence[int], scratch: Path, *, clusters: bool = True) -> list[str]:
    """Make a run for each seed, and print how it went.

    Args:
        seeds: the seeds.
        scratch: an empty folder.
        clusters: whether a quarter of the runs is on a Dask cluster.

    Returns:
        A sentence for each run that differs from a calm one.
    """
    calm_judge = Judge(fails=False)
    calm_judge.start()
    judge = Judge(fails=True, port=calm_judge.port)  # the address of the judge is in its requests
    differences: list[str] = []
    try:
        calm = calm_run(Setting(scratch / "calm", 1, judge.port))
        calm_judge.kill()
        judge.start()
        for number, seed in enumerate(seeds, 1):
            draw = random.Random(f"setting {seed}")
            setting = Setting(scratch / f"run-{seed}", draw.choice((1, 4)), judge.port)
            on_cluster = draw.random() < 0.25 and clusters
            with Cluster() if on_cluster else nullcontext() as cluster:
                run, happened = disturbed(setting, seed, judge, cluster)
            differs = f"not finished; {setting.log()}" if run is None else difference(run, calm)
            where = "on a cluster" if on_cluster else "here"
            sentence = f"seed {seed} ({where}, {setting.at_once} at once): {', '.join(happened)}: {differs or 'equal'}."
            if differs:
                differences.append(sentence)
            print(f"{sentence} {number - len(differences)} of {number} equal{_resources()}", flush=True)
    finally:
        judge.kill()
        calm_judge.kill()
    return differences


def _resources() -> str:
    """Return memory and open files of this process, where the system tells them."""
    statm, files = Path("/proc/self/statm"), Path("/proc/self/fd")
    if not statm.exists():
        return ""
    resident = int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return f"; {resident:.0f} MB, {len(list(files.iterdir()))} open files"


def main() -> int:
    """Make so many runs; return 1 if one has other rows."""
    parser = argparse.ArgumentParser(prog="python -m bench.chaos", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="how many runs (default: 20)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6), help="seed of the first run's seed")
    parser.add_argument("--only", type=int, help="the seed of one run")
    parser.add_argument("--here", action="store_true", help="no run on a Dask cluster")
    asked = parser.parse_args()
    seeds = [asked.only] if asked.only is not None else [asked.seed * 1000 + number for number in range(asked.runs)]
    print(f"seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="memeval-chaos-") as scratch:
        differences = chaos(seeds, Path(scratch), clusters=not asked.here)
    print("\n".join(differences))
    print(f"seed {asked.seed}: equal rows in {len(seeds) - len(differences)} of {len(seeds)} runs")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
