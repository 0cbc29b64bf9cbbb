"""What long histories are filled with: errands, other people's facts, and facts that nobody asks about.

None of it answers a question, or makes another answer right: of what is asked about, other people have only such values
as a key names as wrong, or such as never came up; and no key phrase of a right answer is ever said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from memeval.benchmarks.beliefs.long.lives import LongLife
from memeval.benchmarks.beliefs.long.talk import DetailedTalker, Loose
from memeval.benchmarks.beliefs.long.vocabulary import FIRST, LAST, MIDDLE
from memeval.benchmarks.beliefs.streams import stream
from memeval.benchmarks.beliefs.talk import DraftTurn
from memeval.benchmarks.beliefs.timeline import Act, Manner, Timeline, TimelineEvent
from memeval.benchmarks.beliefs.vocabulary import BY_ID, TOPICS, Topic, TopicValue
from memeval.benchmarks.beliefs.vocabulary.people import RELATIONS, Relation

CHATTER, OTHERS = 0.5, 0.8
"""Below the first number a session is chatter, below the second it is about somebody else, else about a fact of the
person's own that nobody asks about."""

KINS = {
    "she": ("classmate", "dentist", "flute teacher", "choir friend", "niece", "tenant", "sister-in-law", "mentor"),
    "he": ("barber", "nephew", "tutor", "bandmate", "stepfather", "plumber", "teammate", "brother-in-law"),
}
"""Who else there is besides those of whom lives tell: more of them than anyone can keep apart."""

_NOTHING = Timeline((), {})
_ANY_DAY = date(2024, 1, 1)


class Filler:
    """The sessions that fill a history, by number; equal numbers give equal sessions whatever the history's size.

    Args:
        seed: the generation's seed.
        name: of the history, as it goes into the chance of its sessions.
        lives: whose history it is.
    """

    def __init__(self, seed: int, name: str, lives: Sequence[LongLife]) -> None:
        self._seed, self._name, self._lives = seed, name, lives
        values = {topic.id: _harmless(topic, lives) for topic in BY_ID.values()}
        self._others = tuple((topic, values[topic.id]) for topic in BY_ID.values() if values[topic.id])
        self._own = {life.life.person.slug: _own(seed, life, values) for life in lives}

    def session(self, number: int) -> tuple[LongLife, list[DraftTurn]]:
        """Return whose a session is, and what is said in it."""
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
            who = draw(RELATIONS) if rng.random() < 0.25 else _somebody(talker)
            event = TimelineEvent(_ANY_DAY, topic.id, Act.ANNOUNCE, draw(values), Manner.DIRECT, who)
        else:
            topic, value = draw(self._own[person.slug])
            act, manner = draw((Act.ANNOUNCE, Act.CONFIRM)), draw((Manner.DIRECT, Manner.INDIRECT))
            event = TimelineEvent(_ANY_DAY, topic.id, act, value, manner)
        return life, talker.event(event)


def _somebody(talker: DetailedTalker) -> Relation:
    """Return somebody with a name made of syllables."""
    draw = talker.hand.draw
    she, her, him = draw((("she", "her", "her"), ("he", "his", "him")))
    return Relation(draw(KINS[she]), f"{draw(FIRST)}{draw(MIDDLE)}{draw(LAST)}", she, her, him)


def _harmless(topic: Topic, lives: Sequence[LongLife]) -> tuple[TopicValue, ...]:
    """Return the values of a topic that can be said of others without harm to any key of some lives."""
    golds = {phrase for life in lives for item in life.items for phrase in item.gold.phrases}
    fine = [value for value in topic.values if golds.isdisjoint(value.phrases)]
    asking = [life for life in lives if topic.id in life.life.focus.values()]
    if not asking:
        return tuple(fine)
    return tuple(value for value in fine if any(_is_wrong(topic, value, life) for life in asking))


def _is_wrong(topic: Topic, value: TopicValue, life: LongLife) -> bool:
    """Return whether an answer with a value would be seen to be wrong, or has nothing to do with what was said."""
    named = {fact.phrases for item in life.items for fact in item.wrong}
    said = {told.event.value.phrases for told in life.told if told.event is not None and told.event.topic == topic.id}
    return value.phrases in named or (not said & named and value.phrases not in said)


def _own(
    seed: int, life: LongLife, values: Mapping[str, tuple[TopicValue, ...]]
) -> tuple[tuple[Topic, TopicValue], ...]:
    """Return the facts of a person that nobody asks about: one value a topic, for good."""
    rng = stream(seed, "long", "own", life.life.person.slug)
    return tuple(
        (topic, rng.choice(values[topic.id]))
        for topic in TOPICS
        if topic.id not in life.life.focus.values() and values[topic.id]
    )
