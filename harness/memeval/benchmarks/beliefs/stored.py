"""The protocol ``stored``: the history of a person, then an export of all memories."""

from __future__ import annotations

from collections.abc import Set
from datetime import date
from functools import lru_cache

from memeval.benchmarks.beliefs.generate import MadeLife, generate
from memeval.benchmarks.beliefs.items import held, holds, never_held
from memeval.benchmarks.beliefs.lives import Life
from memeval.benchmarks.beliefs.wording.editions import Vocabulary
from memeval.benchmarks.beliefs.wording.packs import WordedTopic
from memeval.benchmarks.kit.checks import BrokenRule, text_of
from memeval.benchmarks.kit.timeline import Act, DependentStatus
from memeval.grading.stored import Mentions
from memeval.keys import ItemKey, StoredTopic, StoreKey
from memeval.records.scenario import Export, Ingest, Scenario

Phrases = tuple[str, ...]

CATEGORY = "stored-facts"

QUESTION = "What do you keep?"
"""Placeholder for the question in rows; no system receives it."""


@lru_cache(maxsize=2)
def stored(seed: int, size: int, vocabulary: Vocabulary) -> tuple[tuple[Scenario, ...], tuple[ItemKey, ...]]:
    """Return a scenario and a key for each person. The sessions are those of the other protocols.

    Raises ``BrokenRule``: a key contradicts its history.
    """
    values = Mentions(
        (phrase, value.phrases)
        for topic in vocabulary.by_id.values()
        for value in topic.values
        for phrase in value.phrases
    )
    made = [_item(each, number, vocabulary, values) for number, each in enumerate(generate(seed, size, vocabulary), 1)]
    return tuple(scenario for scenario, _ in made), tuple(key for _, key in made)


def _item(made: MadeLife, number: int, words: Vocabulary, values: Mentions[Phrases]) -> tuple[Scenario, ItemKey]:
    item_id = f"beliefs-2-{CATEGORY}-{number:04d}"
    sessions = tuple(step for step in made.scenario.steps if isinstance(step, Ingest))
    on = made.scenario.questions()[0].timestamp or ""
    export = Export(question_id=item_id, question=QUESTION, timestamp=on)
    scenario = Scenario(scenario_id=made.scenario.scenario_id, steps=(*sessions, export))
    said = values.within(text_of(scenario))
    key = store_key(made.life, date.fromisoformat(on), said, words)
    for fact in (*key.current, *key.stale):
        if fact.phrases not in said:
            raise BrokenRule(f"{item_id}: {fact.phrases[0]!r} is nowhere said.")
    return scenario, ItemKey(
        item_id=item_id,
        scenario_id=scenario.scenario_id,
        question_ids=(item_id,),
        category=CATEGORY,
        cluster=scenario.scenario_id,
        key=key,
    )


def store_key(life: Life, now: date, said: Set[Phrases], words: Vocabulary) -> StoreKey:
    """Return the facts that a memory of a life should contain.

    Daydreams, memories of long before and facts of other people are neither required nor wrong. A fact is open if its
    basis changed and nobody mentioned the fact again. ``said``: the values that occur in the sessions, for any person,
    each as its phrases.
    """
    topics = sorted({e.topic for e in life.timeline.events if e.about is None and e.act is Act.ANNOUNCE})
    return StoreKey(subjects=tuple(_subject(life, words.by_id[topic], now, said) for topic in topics))


def _subject(life: Life, topic: WordedTopic, now: date, said: Set[Phrases]) -> StoredTopic:
    person, timeline = life.person, life.timeline
    *past, last = timeline.states(topic.id, now)
    is_open = timeline.standing(topic.id, now) is DependentStatus.UNREVISITED
    taken_back = (never_held(person, topic, event) for event in timeline.taken_back(topic.id, now))
    return StoredTopic(
        topic=topic.id,
        current=None if is_open else holds(person, topic, last.value),
        stale=(*taken_back, *(held(person, topic, state.value) for state in past)),
        never=tuple(holds(person, topic, value) for value in topic.values if value.phrases not in said),
    )
