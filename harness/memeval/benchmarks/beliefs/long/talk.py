"""Writes the conversations of long histories, with more details than elsewhere."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from memeval.benchmarks.beliefs.long.vocabulary import WORDS
from memeval.benchmarks.beliefs.streams import Hand
from memeval.benchmarks.beliefs.talk import Talker
from memeval.benchmarks.beliefs.timeline import Timeline
from memeval.benchmarks.beliefs.vocabulary.people import Person

T = TypeVar("T")


class Loose(Hand):
    """Draws from pools with replacement, because a single session rarely repeats anything."""

    def draw(self, pool: Sequence[T]) -> T:
        """Return one of ``pool``."""
        return pool[int(self.rng.random() * len(pool))]

    def left(self, pool: Sequence[T]) -> int:
        """Return the size of ``pool``: all entries can always be drawn."""
        return len(pool)


class DetailedTalker(Talker):
    """Writes sessions with details in their errands, both in relevant and in filler sessions.

    Args:
        person: the user.
        timeline: the facts of the user.
        rng: random stream.
        hand: draws the wording; ``None`` for draws without repetition.
    """

    def __init__(self, person: Person, timeline: Timeline, rng: random.Random, hand: Hand | None = None) -> None:
        super().__init__(person, timeline, rng)
        self.hand = hand or self.hand

    def _theme(self) -> tuple[str, str, str, str]:
        ask, reply, more, end = super()._theme()
        return (
            f"{ask} {detail(self.rng, WORDS.details)}",
            f"{reply} {detail(self.rng, WORDS.remarks)}",
            f"{more} {detail(self.rng, WORDS.details)}",
            f"{end} {detail(self.rng, WORDS.remarks)}",
        )


def detail(rng: random.Random, pool: Sequence[str]) -> str:
    """Return a sentence with random things, days and names.

    Args:
        rng: the random stream.
        pool: what somebody adds to a request or a reply, with slots.
    """
    # Most of the time of a long history is spent here: drawing in one pass is four times as fast as ``choice``.
    draw = rng.random
    text = pool[int(draw() * len(pool))]
    adjective, noun, other, spot, day, number, *names = [each[int(draw() * size)] for each, size in _POOLS]
    return text.format(
        adj=adjective,
        noun=noun,
        other=other,
        spot=spot,
        day=day,
        number=number,
        friend="".join(names[:3]),
        place="".join(names[3:]),
    )


_POOLS = tuple(
    (pool, len(pool))
    for pool in (
        *(WORDS.adjectives, WORDS.nouns, WORDS.nouns, WORDS.spots, WORDS.days, WORDS.numbers),
        *(WORDS.first, WORDS.middle, WORDS.last),
        *(WORDS.first, WORDS.middle, WORDS.places),
    )
)
"""The words of a detail in the order they are drawn, each with its number of entries."""
