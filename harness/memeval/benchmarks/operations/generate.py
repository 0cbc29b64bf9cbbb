"""Generates the trials of a protocol from a seed: which fault, when, and how many texts are stored before."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memeval.benchmarks.kit.kept import Generation
from memeval.benchmarks.kit.streams import stream
from memeval.benchmarks.operations.disk_faults import DISK_FAULTS, disk_faults
from memeval.benchmarks.operations.keys import TrialKey
from memeval.benchmarks.operations.use import APART, CHANGES, FRESHNESS, GROWTH, trials
from memeval.keys import ItemKey
from memeval.records.scenario import Scenario
from memeval.records.trials import Activity, Crash, CrashFault, Trial

DURABILITY, POWER_CUT = "durability", "power-cut"

FULL, AGAIN, THOUSAND, QUICK = "full", "again", "thousand", "quick"

FEWEST_WRITES, MOST_WRITES = 20, 60
"""How many texts are acknowledged in a trial before the fault is awaited."""

PROBED = 40
"""How many of the texts stored before a trial are searched for after it."""

WHOLE = "Every acknowledged text is there, once and whole, and further texts can be stored."

SAID = "Every text is there, or a call fails with an error."

WORKS = {
    FRESHNESS: "The first search shows every change.",
    CHANGES: "The first search shows every change.",
    APART: "Every text is there once, and no search returns a text of another user.",
    GROWTH: "The store grows to the largest size.",
}


@dataclass(frozen=True)
class Part:
    """A category of crashes."""

    category: str
    fault: CrashFault
    during: Activity
    trials: Mapping[str, Mapping[int, int]]
    """By tier: how many trials there are with so many texts stored before."""


def _shares(full: int, again: int, quick: int) -> dict[str, dict[int, int]]:
    """Return half of the trials with an empty store, and half with a filled one."""
    return {
        FULL: {0: full // 2, 5000: full // 2},
        AGAIN: {0: again // 2, 5000: again // 2},
        THOUSAND: {0: quick // 2, 1000: quick // 2},
        QUICK: {0: quick // 2, 200: quick // 2},
    }


PARTS: dict[str, tuple[Part, ...]] = {
    DURABILITY: (
        Part("killed-writing", CrashFault.KILL, Activity.WRITING, _shares(60, 60, 6)),
        Part("killed-idle", CrashFault.KILL, Activity.IDLE, _shares(20, 20, 2)),
        Part("killed-searching", CrashFault.KILL, Activity.SEARCHING, _shares(20, 20, 2)),
        Part("stopped", CrashFault.STOP, Activity.IDLE, _shares(10, 10, 2)),
    ),
    POWER_CUT: (
        Part("cut", CrashFault.CUT, Activity.WRITING, _shares(20, 30, 4)),
        Part("late-cut", CrashFault.LATE_CUT, Activity.WRITING, _shares(20, 30, 4)),
    ),
}

FAULTS = {
    CrashFault.KILL: "All processes are killed",
    CrashFault.STOP: "The system is stopped in order",
    CrashFault.CUT: "The power of the disk is cut (default mount)",
    CrashFault.LATE_CUT: "The power of the disk is cut (written back every five minutes)",
}

ACTIVITIES = {
    Activity.WRITING: "during writes",
    Activity.IDLE: "while idle",
    Activity.SEARCHING: "during searches",
}


def generate(seed: int, protocol: str, tier: str) -> Generation:
    """Return the scenarios of a protocol, each with one trial, and their keys."""
    without_crashes = FULL if tier == AGAIN else tier
    if protocol in PARTS:
        made = [
            _made(part.category, {"stored": str(trial.stored)}, trial)
            for part in PARTS[protocol]
            for trial in _crashes(seed, part, tier)
        ]
    elif protocol == DISK_FAULTS:
        made = [_made(*draft, SAID) for draft in disk_faults(seed, without_crashes)]
    else:
        made = [_made(*draft, WORKS[protocol]) for draft in trials(seed, protocol, without_crashes)]
    return tuple(scenario for scenario, _ in made), tuple(key for _, key in made)


def _crashes(seed: int, part: Part, tier: str) -> Iterator[Crash]:
    number = sum(part.trials[FULL].values()) if tier == AGAIN else 0
    for stored, count in part.trials[tier].items():
        for _ in range(count):
            number += 1
            draw = stream("operations@1", seed, part.category, number)
            writes = draw.randint(FEWEST_WRITES, MOST_WRITES)
            stop = part.fault is CrashFault.STOP
            before = f"{stored:,} texts are stored before" if stored else "the store is empty before"
            when = "" if stop else f" {ACTIVITIES[part.during]},"
            yield Crash(
                question_id=f"{part.category}-{number:03}",
                question=f"{FAULTS[part.fault]}{when} after {writes} acknowledged texts; {before}.",
                seed=draw.randrange(10**9),
                stored=stored,
                fault=part.fault,
                during=part.during,
                writes=writes,
                moment=round(draw.random(), 3),
                probed=min(PROBED, stored),
            )


def _made(category: str, slices: Mapping[str, str], trial: Trial, reference: str = WHOLE) -> tuple[Scenario, ItemKey]:
    scenario = Scenario(scenario_id=trial.question_id, steps=(trial,))  # type: ignore[arg-type]
    key = ItemKey(
        item_id=trial.question_id,
        scenario_id=trial.question_id,
        question_ids=(trial.question_id,),
        category=category,
        cluster=trial.question_id,
        slices=dict(slices),
        key=TrialKey(reference=reference),
    )
    return scenario, key
