"""Filler sessions of long histories: errands, facts of other people, and facts that no question asks about.

They never answer a question and never make another answer correct. On asked topics, other people have only values that
a key lists as wrong, or values that do not occur elsewhere. Key phrases of correct answers never occur.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import date

from memeval.benchmarks.beliefs.long.lives import LongLife
from memeval.benchmarks.beliefs.long.talk import DetailedTalker, Loose
from memeval.benchmarks.beliefs.long.vocabulary import WORDS
from memeval.benchmarks.beliefs.streams import stream
from memeval.benchmarks.beliefs.talk import DraftTurn
from memeval.benchmarks.beliefs.timeline import Act, Manner, Timeline, TimelineEvent
from memeval.benchmarks.beliefs.vocabulary import BY_ID, TOPICS, Topic, TopicValue
from memeval.benchmarks.beliefs.vocabulary.people import RELATIONS, Relation

CHATTER, OTHERS = 0.5, 0.8
"""Thresholds of a random number: below the first, a session is chatter; below the second, about another person; else
about a fact of the user that no question asks about."""

KINS = {
    "she": ("classmate", "dentist", "flute teacher", "choir friend", "niece", "tenant", "sister-in-law", "mentor"),
    "he": ("barber", "nephew", "tutor", "bandmate", "stepfather", "plumber", "teammate", "brother-in-law"),
}
"""Relations of additional people, who have random names."""

_NOTHING = Timeline((), {})
_ANY_DAY = date(2024, 1, 1)


class Filler:
    """Filler sessions by number. Equal numbers give equal sessions at every size of the history.

    Args:
        seed: seed of the generator.
        name: name of the history, part of the random streams.
        lives: the lives in the history.
    """

    def __init__(self, seed: int, name: str, lives: Sequence[LongLife]) -> None:
        self._seed, self._name, self._lives = seed, name, lives
        values = {topic.id: _harmless(topic, lives) for topic in BY_ID.values()}
        self._others = tuple((topic, values[topic.id]) for topic in BY_ID.values() if values[topic.id])
        self._own = {life.life.person.slug: _own(seed, life, values) for life in lives}

    def session(self, number: int) -> tuple[LongLife, list[DraftTurn]]:
        """Return the life and the turns of a session."""
        rng = stream(self._seed, "long", "filler", self._name, number)
        life = self._lives[int(rng.random() * len(self._lives))]
        person = life.life.person
        talker = DetailedTalker(person, _NOTHING, rng, Loose(rng))
        kind = rng.random()
        if kind < CHATTER:
            return life, talker.chatter()
        draw = talker.hand.draw
        if kind < OTHERS:
            topic, values = draw(self._others)
            who = draw(RELATIONS) if rng.random() < 0.25 else somebody(rng)
            event = TimelineEvent(_ANY_DAY, topic.id, Act.ANNOUNCE, draw(values), Manner.DIRECT, who)
        else:
            topic, value = draw(self._own[person.slug])
            act, manner = draw((Act.ANNOUNCE, Act.CONFIRM)), draw((Manner.DIRECT, Manner.INDIRECT))
            event = TimelineEvent(_ANY_DAY, topic.id, act, value, manner)
        return life, talker.event(event)


def somebody(rng: random.Random) -> Relation:
    """Return another person with a name of random syllables."""
    draw = Loose(rng).draw
    she, her, him = draw((("she", "her", "her"), ("he", "his", "him")))
    return Relation(draw(KINS[she]), f"{draw(WORDS.first)}{draw(WORDS.middle)}{draw(WORDS.last)}", she, her, him)


def _harmless(topic: Topic, lives: Sequence[LongLife]) -> tuple[TopicValue, ...]:
    """Return the values of a topic that other people can have without an effect on any answer key."""
    golds = {phrase for life in lives for item in life.items for phrase in item.gold.phrases}
    fine = [value for value in topic.values if golds.isdisjoint(value.phrases)]
    asking = [life for life in lives if topic.id in life.life.focus.values()]
    if not asking:
        return tuple(fine)
    return tuple(value for value in fine if any(_is_wrong(topic, value, life) for life in asking))


def _is_wrong(topic: Topic, value: TopicValue, life: LongLife) -> bool:
    """Return whether a value is listed as wrong, or does not occur in the sessions of a life."""
    named = {fact.phrases for item in life.items for fact in item.wrong}
    said = {
        draft.event.value.phrases for draft in life.drafts if draft.event is not None and draft.event.topic == topic.id
    }
    return value.phrases in named or (not said & named and value.phrases not in said)


def _own(
    seed: int, life: LongLife, values: Mapping[str, tuple[TopicValue, ...]]
) -> tuple[tuple[Topic, TopicValue], ...]:
    """Return the facts of a person that no question asks about: one constant value per topic."""
    rng = stream(seed, "long", "own", life.life.person.slug)
    return tuple(
        (topic, rng.choice(values[topic.id]))
        for topic in TOPICS
        if topic.id not in life.life.focus.values() and values[topic.id]
    )
