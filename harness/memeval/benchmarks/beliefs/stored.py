"""The protocol ``stored``: one life told from beginning to end, and then a look at what is kept of it."""

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
from memeval.grading.mentions import Mentions
from memeval.keys import Fact, ItemKey, StoredTopic, StoreKey
from memeval.records.scenario import Export, Scenario

Phrases = tuple[str, ...]

CATEGORY = "stored-facts"

CHATTER = (12, 20)
"""How many sessions of a life tell nothing."""

QUESTION = "What do you keep?"
"""What stands for the question in rows; no system is asked it."""

_VALUES = Mentions(
    (phrase, value.phrases) for topic in BY_ID.values() for value in topic.values for phrase in value.phrases
)


@lru_cache(maxsize=2)
def stored(seed: int, size: int) -> tuple[tuple[Scenario, ...], tuple[ItemKey, ...]]:
    """Return a scenario and a key for each person of a generation.

    Args:
        seed: of the generation.
        size: items of the generation, which decides how many people there are.

    Raises:
        BrokenRule: a key is not right about its history.
    """
    made = [_make(seed, live(seed, cast), number) for number, cast in enumerate(plan(seed, size), start=1)]
    return tuple(item.scenario for item in made), tuple(item.key for item in made)


def _make(seed: int, life: Life, number: int) -> Made:
    """Return the item of one life."""
    need = Need(CATEGORY, number, {})
    writer = Writer(seed, life, need)
    writer.tell(life.timeline.events)
    writer.chatter(writer.rng.randint(*CHATTER), writer.first, writer.last)
    seen, sessions = writer.later(), writer.sessions()
    question_id = f"{need.scenario_id}:q01"
    export = Export(question_id=question_id, question=QUESTION, timestamp=seen.isoformat())
    scenario = Scenario(scenario_id=need.scenario_id, steps=(*(step for _, step in sessions), export))
    said = _VALUES.within(text_of(scenario))
    key = store_key(life, seen, said)
    _check(need.scenario_id, key, said)
    item = ItemKey(
        item_id=need.scenario_id,
        scenario_id=need.scenario_id,
        question_ids=(question_id,),
        category=CATEGORY,
        cluster=life.person.slug,
        key=key,
    )
    return Made(scenario, item, tuple(told for told, _ in sessions))


def store_key(life: Life, now: date, said: Set[Phrases]) -> StoreKey:
    """Return what should be kept of a life.

    What was only daydreamed of, and what other people said of themselves, is neither asked for nor held against
    anyone. A fact whose ground has gone without anybody coming back to it is open.

    Args:
        life: the life.
        now: the day of looking.
        said: the values that were said, of anybody, each as its phrases.
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
    """Refuse a key whose facts were never said, or that knows two facts by one phrase."""
    told: tuple[Fact, ...] = (*key.current, *key.stale)
    for fact in told:
        if fact.phrases not in said:
            raise BrokenRule(f"{where}: {fact.phrases[0]!r} is nowhere said.")
    phrases = [phrase.lower() for fact in (*told, *key.never) for phrase in fact.phrases]
    if len(phrases) != len(set(phrases)):
        raise BrokenRule(f"{where}: two facts share a phrase.")
