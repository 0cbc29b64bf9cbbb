"""Generates the trials of use: when a change shows, whether users stay apart, and what grows with the texts."""

from collections.abc import Iterator, Sequence

from memeval.benchmarks.kit.streams import stream
from memeval.records.trials import Trial
from memeval.records.trials_of_use import Apart, Change, Freshness, Growth, Onlooker, Servers

FRESHNESS, CHANGES, APART, GROWTH = "freshness", "changes", "apart", "growth"

LOOKED_FOR = {"full": 60.0, "thousand": 60.0, "quick": 5.0}
"""How long a change is looked for, by tier, in seconds."""

TEXTS = {"full": 20, "thousand": 20, "quick": 5}
"""Number of changes in a trial of freshness, by tier."""

SIZES = {"full": (100, 1000, 10_000), "thousand": (100, 1000), "quick": (20, 60)}
"""Numbers of texts that are stored before a trial of freshness, by tier."""

REPEATS = {"full": 3, "thousand": 1, "quick": 1}
"""How often a trial of freshness or of users is repeated, by tier."""

IN_FLIGHT = {"full": (2, 10, 50), "thousand": (2, 10, 50), "quick": (2, 50)}
"""The most calls in flight at one process, by tier."""

TOGETHER = {"full": (2, 10), "thousand": (2, 10), "quick": (2,)}
"""The most calls in flight at each of two processes, by tier."""

USERS = 8

WRITES = {"full": 12, "thousand": 12, "quick": 4}
"""Number of texts of each user, by tier."""

GROWN = {
    "grows": {
        "full": ((100, 300, 1000, 2500, 5000), 5),
        "thousand": ((50, 200, 500, 1000), 5),
        "quick": ((20, 40, 80), 2),
    },
    "grows-far": {"full": ((1000, 10_000, 30_000, 100_000), 1), "thousand": ((1000, 2000), 1), "quick": ((40, 160), 1)},
}
"""Sizes at which a store is measured, and repeats, by category and tier."""

GROWTH_SECONDS = 1200.0

ONLOOKERS = {
    Onlooker.WRITER: "the process that wrote it",
    Onlooker.OTHER: "another process that had the folder open before",
    Onlooker.RESTARTED: "a new process after a clean restart",
}

CHANGED = {
    Change.ADDED: "Texts are stored",
    Change.UPDATED: "Texts are forgotten and stored anew under their ids",
    Change.DELETED: "Texts are forgotten by their ids",
}

Draft = tuple[str, dict[str, str], Trial]
"""A category, slices and the trial."""


def trials(seed: int, protocol: str, tier: str) -> Iterator[Draft]:
    """Yield the trials of a protocol of use."""
    if protocol == FRESHNESS:
        yield from _freshness(seed, tier, [Change.ADDED], REPEATS[tier])
    elif protocol == CHANGES:
        yield from _freshness(seed, tier, [Change.UPDATED, Change.DELETED], 1)
    elif protocol == APART:
        yield from _apart(seed, tier)
    else:
        yield from _growth(seed, tier)


def _freshness(seed: int, tier: str, changes: Sequence[Change], repeats: int) -> Iterator[Draft]:
    for change in changes:
        for onlooker in Onlooker:
            category = f"seen-{onlooker}" if change is Change.ADDED else str(change)
            for stored in SIZES[tier]:
                for number in range(repeats):
                    name = f"{change}-{onlooker}-{stored}-{number + 1}"
                    trial = Freshness(
                        question_id=name,
                        question=f"{CHANGED[change]}; each is looked for at once by {ONLOOKERS[onlooker]}. "
                        f"{stored:,} texts are stored before.",
                        seed=stream("operations@1", seed, name).randrange(10**9),
                        stored=stored,
                        onlooker=onlooker,
                        change=change,
                        changes=TEXTS[tier],
                        seconds=LOOKED_FOR[tier],
                    )
                    yield category, {"stored": str(stored), "onlooker": str(onlooker)}, trial


def _apart(seed: int, tier: str) -> Iterator[Draft]:
    for servers, many in ((Servers.ONE, IN_FLIGHT), (Servers.TWO, TOGETHER)):
        for in_flight in many[tier]:
            for number in range(REPEATS[tier]):
                name = f"{servers}-{in_flight}-{number + 1}"
                where = "one process" if servers is Servers.ONE else "each of two processes on one folder"
                trial = Apart(
                    question_id=name,
                    question=f"{USERS} users write and search at the same time, with up to {in_flight} calls in flight "
                    f"at {where}.",
                    seed=stream("operations@1", seed, name).randrange(10**9),
                    servers=servers,
                    users=USERS,
                    writes=WRITES[tier],
                    in_flight=in_flight,
                )
                yield f"{servers}-server" + "s" * (servers is Servers.TWO), {"in_flight": str(in_flight)}, trial


def _growth(seed: int, tier: str) -> Iterator[Draft]:
    for category, by_tier in GROWN.items():
        sizes, repeats = by_tier[tier]
        for number in range(repeats):
            name = f"{category}-{number + 1}"
            trial = Growth(
                question_id=name,
                question=f"A store grows to {sizes[-1]:,} texts and is measured {len(sizes)} times, in turn with "
                f"SQLite.",
                seed=stream("operations@1", seed, name).randrange(10**9),
                sizes=sizes,
                seconds=GROWTH_SECONDS,
            )
            yield category, {}, trial
