"""beliefs@1 as a benchmark: catalogue, graders, generated data, and the protocol ``stored``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import replace
from datetime import date
from functools import lru_cache
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.beliefs import facts
from memeval.benchmarks.beliefs.checks import BrokenRule, text_of
from memeval.benchmarks.beliefs.generate import generate
from memeval.benchmarks.beliefs.history import Made, Writer
from memeval.benchmarks.beliefs.long import EACH, SIZES
from memeval.benchmarks.beliefs.plan import Need, plan
from memeval.benchmarks.beliefs.shared import ASKED, shared
from memeval.benchmarks.beliefs.timeline import DependentStatus
from memeval.benchmarks.beliefs.vocabulary import BY_ID
from memeval.benchmarks.beliefs.world import Life, live
from memeval.benchmarks.catalogue import load
from memeval.grading.delivery import DeliveredDelta
from memeval.grading.delta import DeltaEfficiency
from memeval.grading.judged import Judged
from memeval.grading.stored import Mentions, StoredFacts
from memeval.keys import Fact, ItemKey, StoredTopic, StoreKey
from memeval.records.base import Digest, digest_bytes
from memeval.records.errors import BadInput
from memeval.records.scenario import Export, Scenario

Phrases = tuple[str, ...]

CATEGORY = "stored-facts"

CHATTER = (12, 20)
"""Minimum and maximum number of sessions without facts in a life."""

QUESTION = "What do you keep?"
"""Placeholder for the question in rows; no system receives it."""

_VALUES = Mentions(
    (phrase, value.phrases) for topic in BY_ID.values() for value in topic.values for phrase in value.phrases
)


@lru_cache(maxsize=2)
def stored(seed: int, size: int) -> tuple[tuple[Scenario, ...], tuple[ItemKey, ...]]:
    """Return a scenario and a key for each person.

    Args:
        seed: seed of the generator.
        size: number of items, which determines the number of people.

    Raises:
        BrokenRule: a key contradicts its history.
    """
    made = [_make(seed, live(seed, cast), number) for number, cast in enumerate(plan(seed, size), start=1)]
    return tuple(item.scenario for item in made), tuple(item.key for item in made)


def _make(seed: int, life: Life, number: int) -> Made:
    """Return the item of one life."""
    need = Need(CATEGORY, number, {})
    writer = Writer(seed, life, need)
    writer.tell(life.timeline.events)
    writer.chatter(writer.rng.randint(*CHATTER), writer.first, writer.last)
    export_day, sessions = writer.later(), writer.sessions()
    question_id = f"{need.scenario_id}:q01"
    export = Export(question_id=question_id, question=QUESTION, timestamp=export_day.isoformat())
    scenario = Scenario(scenario_id=need.scenario_id, steps=(*(step for _, step in sessions), export))
    said = _VALUES.within(text_of(scenario))
    key = store_key(life, export_day, said)
    _check(need.scenario_id, key, said)
    item = ItemKey(
        item_id=need.scenario_id,
        scenario_id=need.scenario_id,
        question_ids=(question_id,),
        category=CATEGORY,
        cluster=life.person.slug,
        key=key,
    )
    return Made(scenario, item, tuple(draft for draft, _ in sessions))


def store_key(life: Life, now: date, said: Set[Phrases]) -> StoreKey:
    """Return the facts that a memory of a life should contain.

    Daydreams and facts of other people are neither required nor wrong. A fact is open if its basis changed and nobody
    mentioned the fact again.

    Args:
        life: the life.
        now: the day of the export.
        said: the values that occur in the sessions, for any person, each as its phrases.
    """
    topics = sorted({event.topic for event in life.timeline.events if event.about is None})
    return StoreKey(subjects=tuple(_subject(life, topic, now, said) for topic in topics))


def _subject(life: Life, topic: str, now: date, said: Set[Phrases]) -> StoredTopic:
    person, timeline = life.person, life.timeline
    *past, last = timeline.states(topic, now)
    is_open = timeline.standing(topic, now) is DependentStatus.UNREVISITED
    taken_back = (facts.never_held(person, event) for event in timeline.taken_back(topic, now))
    return StoredTopic(
        topic=topic,
        current=None if is_open else facts.holds(person, topic, last.value),
        stale=(*taken_back, *(facts.held(person, topic, state.value) for state in past)),
        never=tuple(facts.holds(person, topic, value) for value in BY_ID[topic].values if value.phrases not in said),
    )


def _check(where: str, key: StoreKey, said: Set[Phrases]) -> None:
    """Check that all facts of a key occur in the sessions, and that no two facts share a phrase."""
    stated: tuple[Fact, ...] = (*key.current, *key.stale)
    for fact in stated:
        if fact.phrases not in said:
            raise BrokenRule(f"{where}: {fact.phrases[0]!r} is nowhere said.")
    phrases = [phrase.lower() for fact in (*stated, *key.never) for phrase in fact.phrases]
    if len(phrases) != len(set(phrases)):
        raise BrokenRule(f"{where}: two facts share a phrase.")


DEFAULTS: dict[str, int] = {"seed": 42, "size": 500}
"""Parameters with their defaults."""

LARGEST = 5000
"""Maximum number of items."""


INFO = load(__package__)

GRADERS = {"delta-efficiency": DeliveredDelta(headline="gated")}
"""Graders of the categories without a judge."""


Generation = tuple[tuple[Scenario, ...], tuple[ItemKey, ...]]
"""Scenarios and answer keys."""


def separate(seed: int, size: int) -> Generation:
    """Return a scenario and a key for each item, by category and number."""
    items = generate(seed, size)
    return tuple(item.scenario for item in items), tuple(item.key for item in items)


HISTORIES: Mapping[str, Callable[[int, int], Generation]] = {"judge": separate, "shared": shared, "stored": stored}
"""Generator of the histories of each protocol."""


class BeliefsDataset(Dataset):
    """The generated data of a protocol.

    Args:
        seed: seed of the generator.
        size: number of items.
        protocol: the protocol.
    """

    def __init__(self, seed: int, size: int, protocol: str) -> None:
        self.parameters = {"seed": seed, "size": size}
        self._scenarios, self._keys, self.digest = _generation(seed, size, protocol)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios, by category and number."""
        return iter(self._scenarios)

    def keys(self) -> Iterator[ItemKey]:
        """Yield the keys, by category and number."""
        return iter(self._keys)


@lru_cache(maxsize=2)
def _generation(seed: int, size: int, protocol: str) -> tuple[tuple[Scenario, ...], tuple[ItemKey, ...], Digest]:
    """Return scenarios, keys, and the digest of both as lines of canonical JSON.

    Caches two generations, which take a second each: often many runs of the same data are graded in a row.
    """
    scenarios, keys = HISTORIES[protocol](seed, size)
    lines = [*(scenario.to_json() for scenario in scenarios), *(key.to_json() for key in keys)]
    return scenarios, keys, digest_bytes("".join(f"{line}\n" for line in lines).encode())


ELSEWHERE = frozenset({"delta-efficiency"})
"""Categories without items in the tiers by length, because the length decides how much context grows."""


class BeliefsBenchmark(Benchmark):
    """memeval's own benchmark of changing beliefs. It is generated, so it needs no download."""

    info = INFO
    categories = tuple(Category.of(category, GRADERS.get(category.name, Judged())) for category in INFO.categories)
    former = (DeltaEfficiency(headline="gated"),)

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Generate the data.

        Args:
            path: must be ``None``; there is no file to read.
            parameters: ``seed`` (default 42) and ``size`` (default 500), whole numbers.

        Raises:
            BadInput: a path was given, or a parameter that is unknown or out of range.
        """
        return BeliefsDataset(*self.chosen(path, parameters), INFO.protocols[0].name)

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Generate the data of a protocol and a tier; see :meth:`open`.

        Raises:
            BadInput: as :meth:`open` does.
        """
        if tier in SIZES:
            return _long(self.chosen(path, parameters)[0], parameters, protocol, tier)
        return BeliefsDataset(*self.chosen(path, parameters), protocol)

    def table(self, protocol: str, tier: str | None = None) -> tuple[Category, ...]:
        """Return the categories of a protocol and a tier. In a tier by length, every item counts the same."""
        if tier in SIZES:
            return tuple(replace(each, weight=None, items=EACH) for each in _ALONE if each.name not in ELSEWHERE)
        return _TABLES.get(protocol, self.categories)

    def chosen(self, path: Path | None, parameters: Parameters | None) -> tuple[int, int]:
        """Return the requested seed and size.

        Raises:
            BadInput: a path was given, or a parameter that is unknown or out of range.
        """
        if path is not None:
            raise BadInput(
                "beliefs@1 is generated and reads no file.",
                where=path,
                remedy="Leave --data out. Set 'seed' and 'size' instead.",
            )
        chosen = {**DEFAULTS, **_whole_numbers(self.info.id, parameters or {})}
        if not 1 <= chosen["size"] <= LARGEST:
            raise BadInput(f"{self.info.id}: invalid size={chosen['size']}.", remedy=f"It must be from 1 to {LARGEST}.")
        if chosen["seed"] < 0:
            raise BadInput(f"{self.info.id}: invalid seed={chosen['seed']}.", remedy="It must be 0 or more.")
        return chosen["seed"], chosen["size"]


_ALONE = BeliefsBenchmark.categories
_SHARED = next(each for each in INFO.protocols if each.name == "shared")
_STORED = next(each for each in INFO.protocols if each.name == "stored")
_TABLES: Mapping[str, tuple[Category, ...]] = {
    "shared": tuple(
        replace(each, weight=0.0 if each.name in _SHARED.apart else (each.weight or 0.0) / ASKED) for each in _ALONE
    ),
    "stored": tuple(Category.of(category, StoredFacts()) for category in _STORED.categories),
}


def _long(seed: int, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
    """Return the histories of a tier by length.

    Raises:
        BadInput: the protocol has no such tier, or ``size`` is given.
    """
    from memeval.benchmarks.beliefs.long.dataset import LongDataset

    if protocol != INFO.protocols[0].name:
        raise BadInput(
            f"beliefs@1 has no tier '{tier}' under the protocol '{protocol}'.",
            remedy=f"Use the protocol '{INFO.protocols[0].name}' for the tiers by length.",
        )
    if "size" in (parameters or {}):
        raise BadInput(
            f"beliefs@1 has no parameter 'size' in the tier '{tier}'.",
            remedy="Leave it out. Only 'seed' can be set.",
        )
    return LongDataset(seed, tier)


def _whole_numbers(benchmark: str, parameters: Parameters) -> dict[str, int]:
    """Return the parameters as whole numbers, and refuse others."""
    read: dict[str, int] = {}
    for name, value in parameters.items():
        if name not in DEFAULTS:
            raise BadInput(f"{benchmark} has no parameter '{name}'.", remedy="It has: seed, size.")
        try:
            read[name] = int(str(value))
        except ValueError:
            raise BadInput(f"{benchmark}: invalid {name}={value}.", remedy="It must be a whole number.") from None
    return read
