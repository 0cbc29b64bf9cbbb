"""An index of the words of source texts, to find common stretches in another text."""

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

LEAST_WORDS = 3
"""Smallest number of consecutive words that are quoted."""

MOST_OCCURRENCES = 32
"""Largest number of occurrences in the source that are tried for the longest stretch."""

SPANS_CACHED = 1024
"""Size of the cache of word positions, in texts."""

_SINGLE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, kana and Chinese characters."""

_WORD = re.compile(rf"\\u[0-9A-Fa-f]{{4}}|\\[bfnrt]|%[0-9A-Fa-f]{{2}}|([{_SINGLE}]|[^\W_{_SINGLE}]+)")
"""A word; in scripts without spaces, a character. Escape sequences of JSON and URLs are not part of words."""

Span = tuple[int, int]


class CommonWords(NamedTuple):
    begin: int
    """Index of the first word in the text."""
    end: int
    """Index after the last word in the text."""
    source: int
    """Index of the first word in the source."""


class SourceWords:
    """The indexed words of a source. ``texts``: its texts by address; a stretch never crosses texts."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._numbers: dict[str, int] = {}
        self._words = array("q")
        self._extent: dict[str, Span] = {}
        numbers = self._numbers
        for address, text in texts.items():
            first = len(self._words)
            found = filter(None, _WORD.findall(text))
            self._words.extend([numbers.setdefault(word.lower(), len(numbers) + 1) for word in found])
            self._extent[address] = (first, len(self._words))
            self._words.append(0)  # ends the text: no stretch crosses texts
        self._addresses = list(self._extent)
        self._firsts = np.asarray([first for first, _end in self._extent.values()], dtype=np.int64)
        keys, usable = _keys(self._words)
        order = np.argsort(keys[usable], kind="stable")
        self._where = usable[order]
        self._sorted = keys[self._where]
        self._spans_in = lru_cache(maxsize=SPANS_CACHED)(lambda address: _spans(texts[address]))

    def address_of(self, word: int) -> str:
        return self._addresses[int(np.searchsorted(self._firsts, word, side="right")) - 1]

    def spans(self, first: int, count: int) -> list[Span]:
        address = self.address_of(first)
        begin = first - self._extent[address][0]
        return self._spans_in(address)[begin : begin + count]

    def read(self, text: str) -> tuple[list[Span], list[int]]:
        """Return the position and the number of each word of a text; number 0 if the source lacks the word."""
        spans = _spans(text)
        return spans, [self._numbers.get(text[begin:end].lower(), 0) for begin, end in spans]

    def stretches(self, words: Sequence[int], whole: Iterable[str] = (), *, every: bool = False) -> list[CommonWords]:
        """Return the common stretches of a text and the source, in order and without overlaps.

        ``whole``: addresses of source texts that are found as a whole, regardless of length. ``every``: whether a
        single word of the source counts as a stretch.
        """
        candidates = self._candidates(words)
        short = [stretch for address in whole for stretch in self._occurrences(words, address)]
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
        """Index of the first occurrence of each word, by number. Numbers start at 1; 0 ends each text."""
        return np.unique(np.asarray([0, *self._words]), return_index=True)[1] - 1

    def _candidates(self, words: Sequence[int]) -> dict[int, Span]:
        """Return the range of candidates in ``_where`` for each word; the words must still be compared."""
        keys, usable = _keys(words)
        low, high = (np.searchsorted(self._sorted, keys[usable], side=side) for side in ("left", "right"))
        hits = np.nonzero(high > low)[0]
        last = np.minimum(high[hits], low[hits] + MOST_OCCURRENCES)
        return dict(zip(usable[hits].tolist(), zip(low[hits].tolist(), last.tolist(), strict=True), strict=True))

    def _occurrences(self, words: Sequence[int], address: str) -> Iterable[CommonWords]:
        first, end = self._extent[address]
        wanted, count = list(self._words[first:end]), end - first
        if not 0 < count < LEAST_WORDS:
            return ()
        starts = (at for at in range(len(words) - count + 1) if words[at] == wanted[0])
        return [CommonWords(at, at + count, first) for at in starts if list(words[at : at + count]) == wanted]

    def _furthest(
        self, words: Sequence[int], candidates: Mapping[int, Span], short: Iterable[CommonWords], number: int
    ) -> CommonWords | None:
        """Return the stretch over a word with the furthest end; ``None`` if absent.

        Every stretch over the word contains ``LEAST_WORDS`` consecutive words that include it. So its start need only
        be searched among the ``LEAST_WORDS - 1`` words before it.
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
        source = self._words
        while begin < len(words) and words[begin] and words[begin] == source[at]:
            begin, at = begin + 1, at + 1
        return begin


def _spans(text: str) -> list[Span]:
    return [found.span() for found in _WORD.finditer(text) if found[1] is not None]


def _keys(words: Sequence[int]) -> tuple[Any, Any]:
    """Return a key for each ``LEAST_WORDS`` consecutive words, and the starts of those whose words are all known."""
    numbers = np.asarray(words, dtype=np.uint64)
    count = max(len(numbers) - LEAST_WORDS + 1, 0)
    keys = np.zeros(count, dtype=np.uint64)
    known = np.ones(count, dtype=bool)
    for offset in range(LEAST_WORDS):
        part = numbers[offset : offset + count]
        keys = keys * np.uint64(0x9E3779B97F4A7C15) + part  # wraps around: equal keys are compared word by word
        known &= part != 0
    return keys, np.nonzero(known)[0]
