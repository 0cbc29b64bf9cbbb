"""Readers: who answers from retrieved context, for systems that only retrieve."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Protocol

NATIVE = "native"
"""The system answers by itself."""


class Reader(Protocol):
    """Answers a question from context."""

    @property
    def name(self) -> str:
        """Name and version, such as ``extractive@1``; part of the track."""

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> str:
        """Answer a question.

        Args:
            question: the question.
            timestamp: the time it is asked as of, ISO 8601; ``None`` for now.
            contexts: the context the asker has been given, oldest delivery first.

        Returns:
            The answer; blank where the context holds none.
        """


@dataclass(frozen=True)
class _Line:
    date: str
    words: tuple[str, ...]
    text: str
    place: int


class ExtractiveReader:
    """Answers with the one line of context that shares most with the question, the latest of equals.

    Words are weighted by how rare they are in the context (inverse document frequency), so that a name that stands in
    every line decides nothing. Lines dated after the asked time are left out. It understands nothing: it is a floor
    that needs no model, and it is the same everywhere.
    """

    name = "extractive@1"

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> str:
        """Answer a question; see :class:`Reader`."""
        lines = _lines(contexts, timestamp)
        asked = set(_words(question))
        if not lines or not asked:
            return ""
        holding = Counter(word for line in lines for word in set(line.words))
        weight = {word: log(1 + len(lines) / holding[word]) for word in asked if word in holding}
        best = max(lines, key=lambda line: (_overlap(line, weight), line.date, line.place))
        return best.text if _overlap(best, weight) > 0 else ""


def reader_named(name: str) -> Reader | None:
    """Return the reader of that name, with or without its version; ``None`` where there is none."""
    reader = ExtractiveReader()
    return reader if name in (reader.name, reader.name.partition("@")[0]) else None


_DATED = re.compile(r"^\[(\d{4}-\d\d-\d\d[^\]]*)\] (?:([^:]{1,60}): )?")
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


def _lines(contexts: Sequence[str], timestamp: str | None) -> list[_Line]:
    """Return the distinct lines of the context that were true or said by ``timestamp``."""
    seen: set[str] = set()
    lines: list[_Line] = []
    for raw in (line for context in contexts for line in context.split("\n")):
        if not raw.strip() or raw in seen:
            continue
        seen.add(raw)
        head = _DATED.match(raw)
        date = head.group(1) if head else ""
        if head and timestamp and date[:10] > timestamp[:10]:
            continue
        text = raw[head.end() :] if head else raw
        speaker = (head.group(2) or "") if head else ""
        lines.append(_Line(date=date, words=_words(f"{speaker} {text}"), text=text, place=len(lines)))
    return lines


def _overlap(line: _Line, weight: dict[str, float]) -> float:
    found = {word for word in line.words if word in weight}
    return round(sum(weight[word] for word in found), 9)
