"""Readers: they answer from retrieved context, for systems that only retrieve."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum, log
from sys import intern

from memeval.execution.extractive2.reader import ExtractiveReader2
from memeval.reading import Reader, ReaderAnswer

CACHED_CHARACTERS = 10_000
"""Longer lines are not cached."""

CACHED_LINES = 50_000
"""Number of cached lines: those of a benchmark, since its runs are often read one after another."""

CACHED_CONTEXT = 200_000
"""Characters of contexts whose lines are cached together, for the next question about the same context."""

NATIVE = "native"
"""The system writes the answers."""

OFFLINE = "extractive"
"""The name that selects a protocol's reader without a model."""


@dataclass(frozen=True)
class _Sentence:
    words: frozenset[str]
    text: str


@dataclass(frozen=True)
class _Line:
    """A line of a context."""

    date: str
    sentences: tuple[_Sentence, ...]
    """Its sentences, without questions."""
    words: frozenset[str]
    """The words of all sentences."""


class NoReader:
    """Answers nothing: only the retrieved items are graded."""

    name = "none@1"

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        """Return a blank answer; see :class:`Reader`."""
        return ReaderAnswer("")


class ChunksReader:
    """Answers with the whole retrieved text, to grade whether it contains the answer."""

    name = "chunks@1"

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        """Return the contexts, separated by blank lines; see :class:`Reader`."""
        return ReaderAnswer("\n\n".join(contexts))


class ExtractiveReader:
    """Answers with the sentence of the context that shares most words with the question; of equals, the latest.

    Words are weighted by inverse document frequency in the context, so a name in every line has little weight. Lines
    dated after the time of the question are ignored, and so are questions. For a question about a time, the answer
    starts with the line's date. The reader needs no model, is deterministic, and is a lower bound for other readers.
    """

    name = "extractive@1"

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        """Answer a question; see :class:`Reader`."""
        until = (timestamp or "9999")[:10]
        lines = [line for line in _lines(contexts) if line.date[:10] <= until]
        asked = frozenset(_words(question))
        near = [line for line in lines if not line.words.isdisjoint(asked)]
        sharing = [
            (line.date, words, each) for line in near for each in line.sentences if (words := each.words & asked)
        ]
        if not sharing:
            return ReaderAnswer("")
        count = sum(len(line.sentences) for line in lines)
        containing = Counter(word for _, words, _ in sharing for word in words)
        weight = {word: log(1 + count / number) for word, number in containing.items()}
        # The sum of the weights does not depend on the order of the words.
        scores = ((fsum(map(weight.__getitem__, words)), date) for date, words, _ in sharing)
        _, _, index = max((*score, index) for index, score in enumerate(scores))
        date, _, best = sharing[index]
        return ReaderAnswer(f"{date}: {best.text}" if date and _ASKS_WHEN.search(question) else best.text)


def distinct_lines(contexts: Sequence[str]) -> list[str]:
    """Return the distinct lines of all contexts, in order of first occurrence."""
    return list(dict.fromkeys(line for context in contexts for line in context.split("\n")))


_DATED = re.compile(r"^\[(\d{4}-\d\d-\d\d[^\]]*)\] (?:([^:]{1,60}): )?")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_ASKS_WHEN = re.compile(r"\b(?:when|(?:what|which) (?:date|day|month|year))\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_COMMON = frozenset(
    """
    a about after all am an and any are as at be been before but by can could did do does for from had has have he
    her him his how i if in into is it its just me my now of on or our she so some that the their them then there
    these they this to us use used uses using was we were what what's when where which who whom why will with
    would you your
    """.split()  # noqa: SIM905
)


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text without common words, in lower case, without plural and tense endings."""
    words = (word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text.casefold()))
    return tuple(_stem(word) for word in words if word not in _COMMON)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _lines(contexts: Sequence[str]) -> Sequence[_Line]:
    """Return the distinct lines of all contexts with a sentence, in order; of small contexts, the last are cached."""
    given = tuple(contexts)
    return _kept_lines(given) if sum(map(len, given)) <= CACHED_CONTEXT else _all_lines(given)


def _all_lines(contexts: tuple[str, ...]) -> Sequence[_Line]:
    return [found for line in distinct_lines(contexts) if (found := _line(line)).sentences]


_kept_lines = lru_cache(maxsize=4)(_all_lines)


def _line(line: str) -> _Line:
    """Return a parsed line. Long lines are not cached, to save memory."""
    return _cached(line) if len(line) <= CACHED_CHARACTERS else _parsed(line)


def _parsed(line: str) -> _Line:
    head = _DATED.match(line)
    date, speaker = (head.group(1), head.group(2) or "") if head else ("", "")
    text = line[head.end() :] if head else line
    sentences = tuple(
        _Sentence(words=frozenset(map(intern, _words(f"{speaker} {sentence}"))), text=sentence)
        for sentence in _SENTENCE.split(text.strip())
        if sentence and not sentence.endswith("?")
    )
    return _Line(date, sentences, frozenset().union(*(each.words for each in sentences)))


_cached = lru_cache(maxsize=CACHED_LINES)(_parsed)


READERS: tuple[Reader, ...] = (ExtractiveReader(), ExtractiveReader2(), NoReader(), ChunksReader())
"""The readers for every benchmark that need no model."""
