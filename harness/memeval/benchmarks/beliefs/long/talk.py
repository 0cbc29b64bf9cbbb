"""Writes the conversations of long histories: small talk has names and things that hardly ever come again."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from memeval.benchmarks.beliefs.lives import Life
from memeval.benchmarks.beliefs.talk import CHATTER, Talker
from memeval.benchmarks.beliefs.wording.packs import WordedTopic
from memeval.benchmarks.beliefs.wording.vocabulary import Vocabulary
from memeval.benchmarks.kit.long.details import WORDS, detail
from memeval.benchmarks.kit.streams import Loose
from memeval.benchmarks.kit.talk import DraftTurn
from memeval.benchmarks.kit.values import TopicValue

VALUES = ("copper tape", "folding bellows", "gong", "keyring", "shutter", "velvet dial")
"""Things in the details that are values of a topic. Details with them are drawn again."""


class DetailedTalker(Talker):
    """Adds a detail to the request and to the reply of small talk, in sessions of a life and in filler sessions."""

    def chatter(self) -> list[DraftTurn]:
        """Return a session of small talk, with details in the first of its two subjects."""
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

    Args:
        life: the person, with the events of the session.
        rng: random stream of the session.
        harmless: the values of each topic that change no answer.
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
