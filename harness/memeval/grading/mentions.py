"""Finding many phrases in much text: once over the words, however many phrases there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from memeval.judging.text import normal, words

T = TypeVar("T")


class Mentions(Generic[T]):
    """Finds which phrases a text holds: as whole words one after the other, in any case, whatever stands between.

    Args:
        phrases: each with what it stands for; one without a word in it is never found.
    """

    def __init__(self, phrases: Iterable[tuple[str, T]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], T]]] = {}
        for phrase, meant in phrases:
            if found := tuple(words(normal(phrase))):
                self._by_first.setdefault(found[0], []).append((found, meant))

    def within(self, text: str) -> set[T]:
        """Return what the phrases in a text stand for."""
        return self.among(words(normal(text)))

    def among(self, said: Sequence[str]) -> set[T]:
        """Return what the phrases among some words stand for."""
        found = set()
        for place, word in enumerate(said):
            for phrase, meant in self._by_first.get(word, ()):
                if tuple(said[place : place + len(phrase)]) == phrase:
                    found.add(meant)
        return found
