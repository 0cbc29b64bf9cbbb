"""Reads the released file: eight sets of questions about four lists of numbered facts."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import released_bytes
from memeval.records.base import Digest, digest_bytes
from memeval.records.errors import BadInput

INFO = load(__package__)

FULL = INFO.sources[0]


@dataclass(frozen=True)
class FactQuestion:
    text: str
    answer: str
    """The released answer."""


@dataclass(frozen=True)
class FactList:
    size: str
    """Length of the list in tokens, as its authors name it: ``6k``."""
    facts: tuple[str, ...]
    """The facts without their numbers, which are their places: a later fact replaces an earlier one."""
    questions: dict[str, tuple[FactQuestion, ...]]
    """Questions by ``sh`` (single-hop) and ``mh`` (multi-hop), in the order of the file."""

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {fact: number for number, fact in enumerate(self.facts)}

    @cached_property
    def _text(self) -> str:
        return "\n".join(("", *self.facts, ""))

    def starting(self, start: str) -> Iterator[str]:
        """Yield the facts that start with a text, in order."""
        return self._with(f"\n{start}")

    def ending(self, end: str) -> Iterator[str]:
        """Yield the facts that end with a text, in order."""
        return self._with(f"{end}\n")

    def _with(self, part: str) -> Iterator[str]:
        """Yield the facts with a part of the text. Searching the whole text is faster than comparing each fact."""
        text, at = self._text, -1
        while (at := self._text.find(part, at + 1)) >= 0:
            start = text.rfind("\n", 0, at + 1) + 1
            yield text[start : text.index("\n", start)]


@dataclass(frozen=True)
class FactFile:
    digest: Digest
    lists: tuple[FactList, ...]
    """The lists, the shortest first."""


def read(path: Path) -> FactFile:
    """Read the released file. Raises ``BadInput``: it is missing, unreadable, or another file."""
    return parse(released_bytes(path, INFO.name, FULL), path)


def parse(data: bytes, where: object) -> FactFile:
    """Read the bytes of a file, without a check of its digest. Raises ``BadInput``: facts are out of order."""
    sets: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for each in json.loads(data):
        _, hops, size = each["metadata"]["source"].split("_")
        sets[size][hops] = each
    sizes = sorted(sets, key=lambda size: int(size.removesuffix("k")))
    return FactFile(digest_bytes(data), tuple(_list_of(size, sets[size], where) for size in sizes))


def _list_of(size: str, sets: dict[str, Any], where: object) -> FactList:
    """Return a list with its questions. Both sets of a size have the same facts."""
    _, *lines = sets["sh"]["context"].rstrip("\n").split("\n")
    facts = []
    for place, line in enumerate(lines):
        number, _, fact = line.partition(". ")
        if number != str(place):
            raise BadInput(
                f"the facts of {size} are out of order: {number[:16]!r} stands where {place} belongs.",
                where=where,
                remedy="Use the released file: a later fact replaces an earlier one.",
            )
        facts.append(fact)
    questions = {
        hops: tuple(
            FactQuestion(*pair) for pair in zip(each["questions"], (a for (a,) in each["answers"]), strict=True)
        )
        for hops, each in sorted(sets.items(), reverse=True)
    }
    return FactList(size, tuple(facts), questions)


def matched(question: FactQuestion, released: FactList) -> str | None:
    """Return the start of the fact that a single-hop question asks about: all of it before the value.

    The fact ends with the released answer. Of several such facts, it is the one whose start differs from the question
    in the fewest letters, counting words that only one of them has, each by its first four letters. ``None``: no fact
    ends with the answer, or two are equally near.
    """
    asked = _stems(question.text)
    end = f" {question.answer}."
    starts = (fact.removesuffix(end) for fact in released.ending(end))
    near = sorted((sum(map(len, asked ^ _stems(start))), start) for start in starts)
    if not near or (len(near) > 1 and near[0][0] == near[1][0]):
        return None
    return near[0][1] + " "


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:4].lower() for word in re.findall(r"[^\W_]+", text))
