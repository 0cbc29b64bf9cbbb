"""Readers: who answers from retrieved context, for systems that only retrieve."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum, log

from memeval.execution.chunks import ChunksReader
from memeval.execution.habits import HabitsReader
from memeval.execution.reading import Reader, ReaderAnswer, ReaderFailed

__all__ = [
    "NATIVE",
    "OFFLINE",
    "ExtractiveReader",
    "NoReader",
    "Reader",
    "ReaderAnswer",
    "ReaderFailed",
    "distinct_lines",
    "reader_named",
]

KEPT_CHARACTERS = 10_000
"""What a longer line says is worked out anew each time."""

NATIVE = "native"
"""The system answers by itself."""

OFFLINE = "extractive"
"""The reader that needs no model: by this name, whichever of them a protocol goes with."""


@dataclass(frozen=True)
class _Sentence:
    date: str
    words: frozenset[str]
    text: str


class NoReader:
    """Answers nothing: what counts is what was retrieved."""

    name = "none@1"

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        """Return a blank answer; see :class:`Reader`."""
        return ReaderAnswer("")


class ExtractiveReader:
    """Answers with the one sentence of context that shares most with the question, the latest of equals.

    Words are weighted by how rare they are in the context (inverse document frequency), so that a name that stands in
    every line decides nothing. Lines dated after the asked time are left out, and so are questions. Asked when, it puts
    the line's date first. It understands nothing: it is a floor that needs no model, and it is the same everywhere.
    """

    name = "extractive@1"

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        """Answer a question; see :class:`Reader`."""
        sentences = _sentences(contexts, timestamp)
        asked = set(_words(question))
        holding = Counter(word for sentence in sentences for word in sentence.words if word in asked)
        weight = {word: log(1 + len(sentences) / count) for word, count in holding.items()}
        if not weight:
            return ReaderAnswer("")
        _, _, place = max((_overlap(each, weight), each.date, place) for place, each in enumerate(sentences))
        best = sentences[place]
        return ReaderAnswer(f"{best.date}: {best.text}" if best.date and _ASKS_WHEN.search(question) else best.text)


def distinct_lines(contexts: Sequence[str]) -> list[str]:
    """Return the lines of all deliveries, each once, in the order they first came."""
    return list(dict.fromkeys(line for context in contexts for line in context.split("\n")))


def reader_named(name: str) -> Reader | None:
    """Return the reader of that name, with or without its version; ``None`` where there is none."""
    readers: tuple[Reader, ...] = (ExtractiveReader(), NoReader(), ChunksReader(), HabitsReader())
    return next((reader for reader in readers if name in (reader.name, reader.name.partition("@")[0])), None)


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
    """Return the telling words of a text, lower-cased, with plural and tense endings cut."""
    words = (word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text.casefold()))
    return tuple(_stem(word) for word in words if word not in _COMMON)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _sentences(contexts: Sequence[str], timestamp: str | None) -> list[_Sentence]:
    """Return the sentences of the distinct lines of the context that were said by ``timestamp``, in order."""
    until = (timestamp or "9999")[:10]
    return [sentence for line in distinct_lines(contexts) for sentence in _said(line) if sentence.date[:10] <= until]


def _said(line: str) -> tuple[_Sentence, ...]:
    """Return what a line says; questions say nothing. What long lines say is not kept, for that takes much memory."""
    return _kept(line) if len(line) <= KEPT_CHARACTERS else _read(line)


def _read(line: str) -> tuple[_Sentence, ...]:
    head = _DATED.match(line)
    date, speaker = (head.group(1), head.group(2) or "") if head else ("", "")
    text = line[head.end() :] if head else line
    return tuple(
        _Sentence(date=date, words=frozenset(_words(f"{speaker} {sentence}")), text=sentence)
        for sentence in _SENTENCE.split(text.strip())
        if sentence and not sentence.endswith("?")
    )


_kept = lru_cache(maxsize=20_000)(_read)


def _overlap(sentence: _Sentence, weight: dict[str, float]) -> float:
    """Return the weight of the words a sentence shares with the question, whatever the order they are added in."""
    return fsum(weight[word] for word in sentence.words if word in weight)
