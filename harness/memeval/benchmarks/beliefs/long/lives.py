"""Ten lives with their sessions and questions, the same at every size, in talk that hardly ever repeats anything."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from memeval.benchmarks.beliefs.generate import MadeLife, make_life
from memeval.benchmarks.beliefs.keys import EvidenceKey
from memeval.benchmarks.beliefs.lives import STREAMS, Life, plan
from memeval.benchmarks.beliefs.long import PEOPLE
from memeval.benchmarks.beliefs.talk import CHATTER, Talker
from memeval.benchmarks.beliefs.wording.editions import Vocabulary
from memeval.benchmarks.beliefs.wording.packs import WordedTopic
from memeval.benchmarks.kit.long.details import WORDS, detail
from memeval.benchmarks.kit.people import Person
from memeval.benchmarks.kit.streams import Loose, stream
from memeval.benchmarks.kit.talk import DraftSession, DraftTurn, FullNames
from memeval.benchmarks.kit.timeline import TopicValue
from memeval.keys import ItemKey
from memeval.records.scenario import Ask

VALUES = ("copper tape", "folding bellows", "gong", "keyring", "shutter", "velvet dial")
"""Things in the details that are values of a topic. Details with them are drawn again."""


class DetailedTalker(Talker):
    """Adds a detail to the request and to the reply of small talk, in sessions of a life and in filler sessions."""

    def chatter(self) -> list[DraftTurn]:
        talk = self._small_talk(CHATTER)
        return self._closed([*talk, *super()._small_talk(self._room() - CHATTER, 2)])

    def _small_talk(self, room: int, turns: int = 4) -> list[DraftTurn]:
        ask, reply, *rest = super()._small_talk(room, turns)
        return [self._with(ask, WORDS.details), self._with(reply, WORDS.remarks), *rest]

    def _with(self, line: DraftTurn, pool: Sequence[str]) -> DraftTurn:
        more = detail(self.rng, pool)
        while any(word in more for word in VALUES):
            more = detail(self.rng, pool)
        return DraftTurn(line.role, f"{line.text} {more}")


class FillerTalker(DetailedTalker):
    """Writes one filler session. Slips of the tongue have harmless values.

    ``harmless``: the values of each topic that change no answer.
    """

    def __init__(
        self, life: Life, vocabulary: Vocabulary, rng: random.Random, harmless: Mapping[str, Sequence[TopicValue]]
    ) -> None:
        self._harmless = harmless
        super().__init__(life, vocabulary, rng)
        self.hand = Loose(rng)

    def _unused(self, topic: WordedTopic) -> list[TopicValue]:
        said = {event.value for event in self.timeline.events if event.topic == topic.id}
        return [value for value in self._harmless[topic.id] if value not in said]


ASKED_AFTER = 14
"""Days between the last day of the longest life and the day of the first question."""


@dataclass(frozen=True)
class LongLife:
    made: MadeLife
    drafts: tuple[DraftSession, ...]
    """Its sessions, in order of days."""
    asks: tuple[Ask, ...]
    """The questions, after the last session of all lives."""
    searched: bool

    @property
    def person(self) -> Person:
        return self.made.life.person

    @property
    def guarded(self) -> frozenset[str]:
        """The phrases of all values that a question expects, or that mislead."""
        keys = (item.evidence for item in self.made.items)
        return frozenset(phrase for key in keys for v in (*key.expected, *key.misleading) for phrase in v.phrases)

    def keys(self, scenario_id: str, ordinals: Mapping[date, str]) -> Iterator[ItemKey]:
        sessions = self.made.scenario.each_session()
        moved = {each.session_id: ordinals[date.fromisoformat(each.date)] for each in sessions}
        for key in self.made.keys(searched=self.searched):
            shape = key.key.moved(moved) if isinstance(key.key, EvidenceKey) else key.key
            evidence = tuple(moved[each] for each in key.evidence or ())
            yield key.model_copy(update={"scenario_id": scenario_id, "evidence": evidence, "key": shape})


@lru_cache(maxsize=2)
def lives(seed: int, vocabulary: Vocabulary, *, searched: bool) -> tuple[LongLife, ...]:
    """Return the ten lives of a seed. They differ from those of other tiers.

    ``searched``: whether searches are graded, and not answers.
    """
    own = stream(STREAMS, seed, "long").getrandbits(31)
    made = [make_life(own, cast, vocabulary, DetailedTalker, chatter=(0, 0)) for cast in plan(own, PEOPLE)]
    last = max(session.date for each in made for session in each.scenario.each_session())
    asked = date.fromisoformat(last) + timedelta(days=ASKED_AFTER)
    names = FullNames([each.life.person.name for each in made])
    return tuple(LongLife(each, _drafts(each), _asks(each, asked, names), searched) for each in made)


def _drafts(made: MadeLife) -> tuple[DraftSession, ...]:
    return tuple(
        DraftSession(
            date.fromisoformat(session.date), tuple(DraftTurn(turn.role, turn.content) for turn in session.turns)
        )
        for session in made.scenario.each_session()
    )


def _asks(made: MadeLife, first: date, names: FullNames) -> tuple[Ask, ...]:
    asks: Sequence[Ask] = [ask for ask in made.scenario.questions() if isinstance(ask, Ask)]
    return tuple(
        ask.model_copy(
            update={
                "question": names.within(ask.question, made.life.person.name),
                "timestamp": (first + timedelta(days=number)).isoformat(),
            }
        )
        for number, ask in enumerate(asks)
    )
