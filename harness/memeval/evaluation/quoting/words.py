"""The words of some texts, to look up which of them stand in another text in a row."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

LEAST_WORDS = 3
"""So many words in a row that stand in the source are quoted."""

MOST_PLACES = 32
"""Of the places at which some words stand in the source, so many are tried for the longest stretch in common."""

SPANS_HELD = 1024
"""Texts of the source in which it is known where each word stands."""

_SINGLE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, kana and Chinese characters."""

_WORD = re.compile(rf"\\u[0-9A-Fa-f]{{4}}|\\[bfnrt]|%[0-9A-Fa-f]{{2}}|([{_SINGLE}]|[^\W_{_SINGLE}]+)")
"""A word; in scripts without spaces, a sign. What escapes a sign in JSON or a URL is no part of a word."""

Span = tuple[int, int]


class CommonWords(NamedTuple):
    """Words in a row that a text has in common with the source."""

    begin: int
    """The first of them, among the words of the text."""
    end: int
    """Behind the last of them."""
    source: int
    """The first of them, among the words of the source."""


class SourceWords:
    """All words of a source.

    Args:
        texts: its texts by place; a stretch stands in one of them.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._numbers: dict[str, int] = {}
        self._words = array("q")
        self._extent: dict[str, Span] = {}
        numbers = self._numbers
        for place, text in texts.items():
            first = len(self._words)
            found = filter(None, _WORD.findall(text))
            self._words.extend([numbers.setdefault(word.lower(), len(numbers) + 1) for word in found])
            self._extent[place] = (first, len(self._words))
            self._words.append(0)  # no stretch goes on from one text into the next
        self._places = list(self._extent)
        self._firsts = np.asarray([first for first, _end in self._extent.values()], dtype=np.int64)
        keys, usable = _keys(self._words)
        order = np.argsort(keys[usable], kind="stable")
        self._where = usable[order]
        self._sorted = keys[self._where]
        self._spans_in = lru_cache(maxsize=SPANS_HELD)(lambda place: _spans(texts[place]))

    def place_of(self, word: int) -> str:
        """Return the place of the text that a word stands in."""
        return self._places[int(np.searchsorted(self._firsts, word, side="right")) - 1]

    def spans(self, first: int, count: int) -> list[Span]:
        """Return where some words in a row stand in their text."""
        place = self.place_of(first)
        begin = first - self._extent[place][0]
        return self._spans_in(place)[begin : begin + count]

    def read(self, text: str) -> tuple[list[Span], list[int]]:
        """Return where each word of a text stands in it, and its number; 0 where the source has no such word."""
        spans = _spans(text)
        return spans, [self._numbers.get(text[begin:end].lower(), 0) for begin, end in spans]

    def stretches(self, words: Sequence[int], whole: Iterable[str] = (), *, every: bool = False) -> list[CommonWords]:
        """Return stretches over every word of a text that is part of one, each word in one of them, in order.

        Args:
            words: the text's words, by number.
            whole: places of texts of the source that are looked for as a whole, however short they are.
            every: whether a word of the source that is part of no stretch is one by itself.
        """
        candidates = self._candidates(words)
        short = [stretch for place in whole for stretch in self._occurrences(words, place)]
        found = []
        number = 0
        while number < len(words):
            best = self._furthest(words, candidates, short, number)
            if best is None and every and words[number]:
                best = CommonWords(number, number + 1, int(self._firsts_of_words[words[number]]))
            if best is not None:
                found.append(CommonWords(number, best.end, best.source + number - best.begin))
            number = number + 1 if best is None else best.end
        return found

    @cached_property
    def _firsts_of_words(self) -> Any:
        """Where in the source each word stands first, by its number; numbers are given from 1 up, 0 ends each text."""
        return np.unique(np.asarray([0, *self._words]), return_index=True)[1] - 1

    def _candidates(self, words: Sequence[int]) -> dict[int, Span]:
        """Return by word which of ``_where`` it and those after it may stand at; the words must still be compared."""
        keys, usable = _keys(words)
        low, high = (np.searchsorted(self._sorted, keys[usable], side=side) for side in ("left", "right"))
        hits = np.nonzero(high > low)[0]
        last = np.minimum(high[hits], low[hits] + MOST_PLACES)
        return dict(zip(usable[hits].tolist(), zip(low[hits].tolist(), last.tolist(), strict=True), strict=True))

    def _occurrences(self, words: Sequence[int], place: str) -> Iterable[CommonWords]:
        first, end = self._extent[place]
        wanted, count = list(self._words[first:end]), end - first
        if not 0 < count < LEAST_WORDS:
            return ()
        starts = (at for at in range(len(words) - count + 1) if words[at] == wanted[0])
        return [CommonWords(at, at + count, first) for at in starts if list(words[at : at + count]) == wanted]

    def _furthest(
        self, words: Sequence[int], candidates: Mapping[int, Span], short: Iterable[CommonWords], number: int
    ) -> CommonWords | None:
        """Return the stretch over a word that goes on the furthest; ``None`` where there is none.

        Where a stretch holds the word, ``LEAST_WORDS`` in a row that hold it stand in the source: one of them begins
        at most ``LEAST_WORDS - 1`` words before it, and goes on at least as far.
        """
        best: CommonWords | None = None
        for begin in range(max(number - LEAST_WORDS + 1, 0), number + 1):
            first, last = candidates.get(begin, (0, 0))
            for at in self._where[first:last].tolist():
                end = self._common(words, begin, at)
                if end - begin >= LEAST_WORDS and (best is None or end > best.end):
                    best = CommonWords(begin, end, at)
        for stretch in short:
            if stretch.begin <= number < stretch.end and (best is None or stretch.end > best.end):
                best = stretch
        return best

    def _common(self, words: Sequence[int], begin: int, at: int) -> int:
        """Return the end of what a text from ``begin`` and the source from ``at`` have in common."""
        mine = self._words
        while begin < len(words) and words[begin] and words[begin] == mine[at]:
            begin, at = begin + 1, at + 1
        return begin


def _spans(text: str) -> list[Span]:
    return [found.span() for found in _WORD.finditer(text) if found[1] is not None]


def _keys(words: Sequence[int]) -> tuple[Any, Any]:
    """Return a number for every ``LEAST_WORDS`` words in a row, and where they begin whose words are all known."""
    numbers = np.asarray(words, dtype=np.uint64)
    count = max(len(numbers) - LEAST_WORDS + 1, 0)
    keys = np.zeros(count, dtype=np.uint64)
    known = np.ones(count, dtype=bool)
    for offset in range(LEAST_WORDS):
        part = numbers[offset : offset + count]
        keys = keys * np.uint64(0x9E3779B97F4A7C15) + part  # wraps around: equal keys are compared word by word
        known &= part != 0
    return keys, np.nonzero(known)[0]
