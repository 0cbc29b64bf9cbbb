"""Readers: they answer from retrieved context, for systems that only retrieve."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum, log

from memeval.execution.extractive2.reader import ExtractiveReader2
from memeval.reading import Reader, ReaderAnswer

CACHED_CHARACTERS = 10_000
"""Longer lines are not cached."""

NATIVE = "native"
"""The system writes the answers."""

OFFLINE = "extractive"
"""The name that selects a protocol's reader without a model."""


@dataclass(frozen=True)
class _Sentence:
    date: str
    words: frozenset[str]
    text: str


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
        sentences = _sentences(contexts, timestamp)
        question_words = set(_words(question))
        containing = Counter(word for sentence in sentences for word in sentence.words if word in question_words)
        weight = {word: log(1 + len(sentences) / count) for word, count in containing.items()}
        if not weight:
            return ReaderAnswer("")
        _, _, index = max((_overlap(each, weight), each.date, index) for index, each in enumerate(sentences))
        best = sentences[index]
        return ReaderAnswer(f"{best.date}: {best.text}" if best.date and _ASKS_WHEN.search(question) else best.text)


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


def _sentences(contexts: Sequence[str], timestamp: str | None) -> list[_Sentence]:
    """Return the sentences of the distinct lines dated up to ``timestamp``, in order."""
    until = (timestamp or "9999")[:10]
    return [
        sentence
        for line in distinct_lines(contexts)
        for sentence in _line_sentences(line)
        if sentence.date[:10] <= until
    ]


def _line_sentences(line: str) -> tuple[_Sentence, ...]:
    """Return the sentences of a line, without questions. Long lines are not cached, to save memory."""
    return _cached(line) if len(line) <= CACHED_CHARACTERS else _parsed(line)


def _parsed(line: str) -> tuple[_Sentence, ...]:
    head = _DATED.match(line)
    date, speaker = (head.group(1), head.group(2) or "") if head else ("", "")
    text = line[head.end() :] if head else line
    return tuple(
        _Sentence(date=date, words=frozenset(_words(f"{speaker} {sentence}")), text=sentence)
        for sentence in _SENTENCE.split(text.strip())
        if sentence and not sentence.endswith("?")
    )


_cached = lru_cache(maxsize=20_000)(_parsed)


def _overlap(sentence: _Sentence, weight: dict[str, float]) -> float:
    """Return the weight of the shared words of sentence and question; the sum does not depend on their order."""
    return fsum(weight[word] for word in sentence.words if word in weight)


READERS: tuple[Reader, ...] = (ExtractiveReader(), ExtractiveReader2(), NoReader(), ChunksReader())
"""The readers for every benchmark that need no model."""
