"""Finding many phrases in a text in one pass over its words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from memeval.judging.text import normal, words

T = TypeVar("T")


class Mentions(Generic[T]):
    """Finds phrases in a text: consecutive whole words, in any case, with any separators.

    Args:
        phrases: each phrase with its value; a phrase without words is never found.
    """

    def __init__(self, phrases: Iterable[tuple[str, T]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], T]]] = {}
        for phrase, value in phrases:
            if found := tuple(words(normal(phrase))):
                self._by_first.setdefault(found[0], []).append((found, value))

    def within(self, text: str) -> set[T]:
        """Return the values of the phrases in a text."""
        return self.among(words(normal(text)))

    def among(self, sequence: Sequence[str]) -> set[T]:
        """Return the values of the phrases in a sequence of words."""
        found = set()
        for start, word in enumerate(sequence):
            for phrase, value in self._by_first.get(word, ()):
                if tuple(sequence[start : start + len(phrase)]) == phrase:
                    found.add(value)
        return found
