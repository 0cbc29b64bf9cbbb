"""Filler sessions: small talk, facts of other people, and facts of the user that no question asks about.

They answer no question and change no answer: no value that a key expects or counts as misleading occurs in them. Other
people have other values of the topics that are asked about, and the user's own facts are told in the same sentences as
those that are asked, so that neither topic nor sentence tells filler from the rest.
"""

import random
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from memeval.benchmarks.beliefs.lives import OTHERS, STREAMS, Life
from memeval.benchmarks.beliefs.long.lives import FillerTalker, LongLife, lives
from memeval.benchmarks.beliefs.wording.editions import Vocabulary
from memeval.benchmarks.kit.checks import says
from memeval.benchmarks.kit.long.details import stranger
from memeval.benchmarks.kit.long.history import LongSource, Part
from memeval.benchmarks.kit.streams import stream
from memeval.benchmarks.kit.talk import DraftTurn
from memeval.benchmarks.kit.timeline import Act, Manner, Timeline, TimelineEvent

CHATTER, ABOUT_OTHERS = 0.4, 0.7
"""Thresholds of a random number: below the first, a session is small talk; below the second, about another person; else
about a fact of the user that no question asks about."""

KNOWN = 0.25
"""Share of sessions about others that are about relations of whom the life tells, too."""

_BEFORE = date(2024, 1, 1)
"""Day of the value that a change replaces; a filler session has no other use for days."""

_ACTS = (Act.ANNOUNCE, Act.ANNOUNCE, Act.ANNOUNCE, Act.CONFIRM, Act.MUSE, Act.FORMER)
_MANNERS = tuple(Manner)


class Filler:
    """Filler sessions by number. Equal numbers give equal sessions at every size of the history."""

    def __init__(self, seed: int, name: str, lives: Sequence[LongLife], vocabulary: Vocabulary) -> None:
        self._seed, self._name, self._lives, self._words = seed, name, lives, vocabulary
        guarded = sorted(frozenset[str]().union(*(life.guarded for life in lives)))
        topics = tuple(vocabulary.by_id.values())
        self._harmless = {
            topic.id: tuple(v for v in topic.values if not says(guarded, "\n".join((v.text, *v.phrases))))
            for topic in topics
        }
        self._others = tuple(topic for topic in topics if self._harmless[topic.id])
        self._own = tuple(
            tuple(
                topic
                for topic in vocabulary.topics
                if len(self._harmless[topic.id]) > 1 and not life.made.life.timeline.of(topic.id)
            )
            for life in lives
        )

    def session(self, number: int) -> tuple[LongLife, list[DraftTurn]]:
        rng = stream(STREAMS, self._seed, "long", self._name, number)
        who = int(rng.random() * len(self._lives))
        life, kind = self._lives[who], rng.random()
        if kind < CHATTER:
            return life, self._talker(life, (), rng).chatter()
        if kind < ABOUT_OTHERS:
            topic = rng.choice(self._others)
            about = rng.choice(OTHERS) if rng.random() < KNOWN else stranger(rng)
            manner = rng.choice((Manner.DIRECT, Manner.INDIRECT))
            value = rng.choice(self._harmless[topic.id])
            event = TimelineEvent(_BEFORE, topic.id, Act.ANNOUNCE, value, manner, about)
            return life, self._talker(life, (event,), rng).event(event)
        topic = rng.choice(self._own[who])
        old, new = rng.sample(self._harmless[topic.id], 2)
        before = TimelineEvent(_BEFORE, topic.id, Act.ANNOUNCE, old)
        event = TimelineEvent(_BEFORE + timedelta(days=1), topic.id, rng.choice(_ACTS), new, rng.choice(_MANNERS))
        events = (before, event) if rng.random() < 0.6 else (event,)
        return life, self._talker(life, events, rng).event(event)

    def _talker(self, life: LongLife, events: tuple[TimelineEvent, ...], rng: random.Random) -> FillerTalker:
        told = Life(life.person, Timeline(events, {}), {}, ())
        return FillerTalker(told, self._words, rng, self._harmless)


class LongBeliefs(LongSource):
    prefix = "beliefs-2"
    code = ("benchmarks/beliefs",)

    def __init__(self, seed: int, tier: str, protocol: str, vocabulary: Vocabulary, *, searched: bool) -> None:
        super().__init__(seed, tier)
        self.folder = f"beliefs-2/{protocol}"
        self.included = f"benchmarks/beliefs/long/surveys/{protocol}"
        self._vocabulary, self._searched = vocabulary, searched

    def parts(self) -> Iterator[Part]:
        everybody = lives(self.seed, self._vocabulary, searched=self._searched)
        for name, group in self.groups(everybody):
            yield name, group, Filler(self.seed, name, group, self._vocabulary)
