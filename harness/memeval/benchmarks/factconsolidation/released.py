"""Reads the released file: eight sets of questions about four lists of numbered facts."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import file_bytes, refuse_repeats
from memeval.benchmarks.factconsolidation.grading import normalised
from memeval.records.base import Digest, digest_bytes, first_misfit
from memeval.records.errors import BadInput

FULL = load(__package__).sources[0]

LARGEST = 32_000_000
"""Largest accepted file, in bytes."""

HOPS = {"sh": "single-hop", "mh": "multi-hop"}

_RELEASED = "Use the released file: 'memeval data pull factconsolidation' downloads it."
_NAME = re.compile(r"factconsolidation_(?P<hops>sh|mh)_(?P<size>\d{1,4}k)")
_LINE = re.compile(r"(?P<number>\d{1,7})\. (?P<fact>\S.*\.)")

Text = Annotated[str, Field(pattern=r"\S")]


class _Part(BaseModel):
    """A part of the file. Fields that memeval does not use are ignored."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class _Metadata(_Part):
    source: str


class _Set(_Part):
    context: str
    questions: Annotated[tuple[Text, ...], Field(min_length=1)]
    answers: tuple[Annotated[tuple[Text, ...], Field(min_length=1, max_length=1)], ...]
    metadata: _Metadata


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
    """Read the released file.

    Raises ``BadInput``: the file is missing, unreadable, truncated, of another format, has facts out of order, or is
    not the released file.
    """
    data = file_bytes(path, LARGEST, _RELEASED)
    found = parse(data, path)
    if found.digest != FULL.digest:
        raise BadInput(
            f"the format is valid, but this is not the released file: its digest is {found.digest}, expected "
            f"{FULL.digest}.",
            where=path,
            remedy=_RELEASED,
        )
    return found


def parse(data: bytes, where: object) -> FactFile:
    """Read the bytes of a file, without a check of its digest. Raises ``BadInput``: it is invalid."""
    sets = _sets(data, where)
    if not sets:
        raise _wrong(where, "the file has no sets")
    refuse_repeats((each.metadata.source for each in sets), "the set", where, _RELEASED)
    named = {each.metadata.source: _NAME.fullmatch(each.metadata.source) for each in sets}
    lists: dict[str, dict[str, _Set]] = {}
    for each in sets:
        found = named[each.metadata.source]
        if found is None:
            raise _wrong(where, f"the set {each.metadata.source[:64]!r} is not one of FactConsolidation")
        lists.setdefault(found["size"], {})[found["hops"]] = each
    sizes = sorted(lists, key=lambda size: int(size[:-1]))
    return FactFile(digest_bytes(data), tuple(_list_of(size, lists[size], where) for size in sizes))


def _sets(data: bytes, where: object) -> tuple[_Set, ...]:
    if not data.strip():
        raise _wrong(where, "the file is empty")
    try:
        return TypeAdapter(tuple[_Set, ...]).validate_json(data.removeprefix(BOM_UTF8))
    except ValidationError as error:
        first = first_misfit(error)
    if first["type"] == "json_invalid":
        if len(data) < FULL.bytes and "EOF" in first["msg"]:
            raise _wrong(where, f"the file is truncated: it has {len(data):,} bytes, expected {FULL.bytes:,}")
        raise _wrong(where, f"not valid JSON ({first['msg'].removeprefix('Invalid JSON: ')})")
    if not first["loc"]:
        raise _wrong(where, "expected a JSON list of sets")
    number, *path = first["loc"]
    raise _wrong(where, f"set {int(number) + 1}: '{'.'.join(map(str, path))}': {first['msg']}")


def _list_of(size: str, sets: dict[str, _Set], where: object) -> FactList:
    if missing := sorted(HOPS.keys() - sets.keys()):
        raise _wrong(where, f"the list of {size} has no {HOPS[missing[0]]} questions")
    single, multi = (sets[hops] for hops in HOPS)
    if single.context != multi.context:
        raise _wrong(where, f"the two sets of {size} have different facts")
    questions = {hops: _questions(each, where) for hops, each in sets.items()}
    return FactList(size, _facts(single.context, size, where), questions)


def _facts(context: str, size: str, where: object) -> tuple[str, ...]:
    """Return the facts of a context: a line of introduction, then one numbered fact a line."""
    _, *lines = context.rstrip("\n").split("\n")
    facts = []
    for place, line in enumerate(lines):
        found = _LINE.fullmatch(line)
        if found is None:
            raise _wrong(where, f"line {place + 2} of the list of {size} is not a number, a point and a sentence")
        if int(found["number"]) != place:
            raise _wrong(
                where, f"the facts of {size} are out of order: number {found['number']} stands where {place} belongs"
            )
        facts.append(found["fact"])
    if not facts:
        raise _wrong(where, f"the list of {size} has no facts")
    refuse_repeats(facts, f"a fact of {size},", where, _RELEASED)
    return tuple(facts)


def _questions(released: _Set, where: object) -> tuple[FactQuestion, ...]:
    name, questions, answers = released.metadata.source, released.questions, released.answers
    if len(questions) != len(answers):
        raise _wrong(where, f"the set {name} has {len(questions)} questions and {len(answers)} answers")
    refuse_repeats(questions, f"a question of {name},", where, _RELEASED)
    found = tuple(FactQuestion(text, answer) for text, (answer,) in zip(questions, answers, strict=True))
    if blank := [place for place, each in enumerate(found, 1) if not normalised(each.answer)]:
        raise _wrong(where, f"answer {blank[0]} of the set {name} has no word to compare")
    return found


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


def _wrong(where: object, problem: str) -> BadInput:
    return BadInput(f"{problem}.", where=where, remedy=_RELEASED)
