"""The protocol ``stored``: one whole life as sessions, then an export of all memories."""

from __future__ import annotations

from collections.abc import Set
from datetime import date
from functools import lru_cache

from memeval.benchmarks.beliefs import facts
from memeval.benchmarks.beliefs.checks import BrokenRule, text_of
from memeval.benchmarks.beliefs.history import Made, Writer
from memeval.benchmarks.beliefs.plan import Need, plan
from memeval.benchmarks.beliefs.timeline import DependentStatus
from memeval.benchmarks.beliefs.vocabulary import BY_ID
from memeval.benchmarks.beliefs.world import Life, live
from memeval.grading.stored import Mentions
from memeval.keys import Fact, ItemKey, StoredTopic, StoreKey
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
