"""Reads the rows of a file made elsewhere by a mapping that is data."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NoReturn

from jsonpath_ng.exceptions import JSONPathError
from jsonpath_ng.jsonpath import DatumInContext, Fields, Index
from jsonpath_ng.parser import parse

from memeval.benchmarks.formats.reading import (
    LONGEST_ID,
    LONGEST_TEXT,
    NO_ANSWER,
    Lines,
    kind_of,
    missing,
    read_document,
    refuse,
)
from memeval.records.errors import BadInput
from memeval.records.mapping import AnswerMapping, FieldPlace, RowField, RowMapping
from memeval.systems.channel import visible

RIGHT = frozenset({"1", "1.0", "true", "yes", "correct", "right"})
WRONG = frozenset({"0", "0.0", "false", "no", "incorrect", "wrong"})

TIED = "tied"
"""In place of a verdict: the votes give none."""

EACH = "$[*]"
"""The rows of a list, or of JSON lines."""

MOST_BROKEN = 0.01
"""Share of torn lines above which a file is refused."""

FORMAT_REMEDY = "Correct or remove this field, or try another --format."

_ERROR_MARK = re.compile(r"^\s*(?:\[ERROR\]|ERROR:)\s*")
"""What some programs write before the error in place of the answer."""

_SHOWN = 12


@dataclass(frozen=True)
class MappedRow:
    """One row of a file, as read by the mapping; ``None`` where the file says nothing."""

    place: int
    broken: bool = False
    item: str | None = None
    category: str | None = None
    scenario: str | None = None
    question: str | None = None
    gold: str | None = None
    trial: int = 0
    answer: str | None = None
    verdicts: Mapping[str, bool | None] = field(default_factory=dict)
    """By judge; ``None`` if the spelling is unknown."""
    scores: Mapping[str, float] = field(default_factory=dict)
    retrieved: tuple[str, ...] | None = None
    evidence: tuple[str, ...] | None = None
    prompt_tokens: float | None = None
    completion_tokens: float | None = None
    context_tokens: float | None = None
    seconds: float | None = None
    cost_usd: float | None = None
    error: str | None = None
    """The error, if the system failed, or if the answer is null."""
    judge: str | None = None
    where: str = ""
    """File and line, or number of the row, for error messages."""


def read_rows(data: bytes, mapping: RowMapping, where: object) -> list[MappedRow]:
    """Read the rows of a file.

    ``data``: its bytes, uncompressed: one JSON value, or JSON lines. Raises ``BadInput``: the file is not JSON, has no
    such rows, or a field that the mapping needs is missing or of another type.
    """
    return rows_of(read_document(data, where, torn=True), mapping, where)


def rows_of(document: Any, mapping: RowMapping, where: object) -> list[MappedRow]:
    """Return the rows of a JSON document.

    ``mapping``: the mapping. If it is an :class:`AnswerMapping`, no row may be broken, and each needs item and answer.
    Raises ``BadInput``: there are no such rows, or a field that the mapping needs is missing or of another type.
    """
    strict = isinstance(mapping, AnswerMapping)
    if strict and mapping.rows == EACH and isinstance(document, dict):
        document = Lines([(1, document)])  # a file with one line
    lines = [number for number, _value in document] if isinstance(document, Lines) else []
    if lines:
        document = [value for _number, value in document]
    rows: list[MappedRow] = []
    filled: set[str] = set()
    for place, match in enumerate(matches(mapping.rows, document, where), 1):
        at = f"{where}:{lines[place - 1]}" if place <= len(lines) else f"{where}: row {place}"
        if not isinstance(match.value, dict):
            if strict:
                refuse(f"expected a JSON object, found {kind_of(match.value)}.", at, FORMAT_REMEDY)
            rows.append(MappedRow(place, broken=True))
            continue
        cells = _Cells(match.value, _keys_above(match), at, filled, strict)
        if all(cells.is_value(path, value) for path, value in mapping.where.items()):
            rows.append(_row(place, cells, mapping))
    broken = sum(row.broken for row in rows)
    if broken > MOST_BROKEN * len(rows):
        raise BadInput(
            f"{broken} of {len(rows)} rows are not JSON objects.",
            where=where,
            remedy="Fetch the file again, or correct 'rows' in the source's mapping.",
        )
    if not rows and not strict:
        raise BadInput(
            f"there are no rows at '{mapping.rows}'.", where=where, remedy="Correct 'rows' in the source's mapping."
        )
    if not rows:
        what = "lines of JSON" if lines else kind_of(document)
        refuse(f"the file contains no answers at '{mapping.rows}'; it is {what}.", where, "Try another --format.")
    if not strict:
        _refuse_absent(mapping, filled, document, where)
    return rows


def _refuse_absent(mapping: RowMapping, filled: set[str], document: Any, where: object) -> None:
    """Refuse a file in which a mapped field does not occur in any row.

    Raises ``BadInput``: there is such a field, which was probably renamed.
    """
    for name in sorted(name.removeprefix("verdicts.").removeprefix("scores.") for name in mapping.fields()):
        if name not in filled:
            first = next(
                (each.value for each in matches(mapping.rows, document, where) if isinstance(each.value, dict)), {}
            )
            fields = ", ".join(visible(key) for key in list(first)[:_SHOWN])
            raise BadInput(
                f"no row has the field of '{name}'.",
                where=where,
                remedy=f"Correct the mapping. The first row has these fields: {fields}.",
            )


def matches(path: str, value: Any, where: object) -> list[DatumInContext]:
    """Return the values at a JSONPath. Raises ``BadInput``: it is not a JSONPath."""
    try:
        return list(_compiled(path).find(value))
    except JSONPathError as error:
        raise BadInput(f"'{path}' is not a JSONPath ({error}).", where=where) from None


@lru_cache(maxsize=256)
def _compiled(path: str) -> Any:
    return parse(path)


def _keys_above(match: DatumInContext) -> tuple[str | int, ...]:
    parts: list[str | int] = []
    step: DatumInContext | None = match
    while step is not None and step.context is not None:
        if isinstance(step.path, Fields):
            parts.append(step.path.fields[0])
        elif isinstance(step.path, Index):
            parts.append(step.path.indices[0])
        step = step.context
    return tuple(reversed(parts))


@dataclass(frozen=True)
class _Cells:
    row: Mapping[str, Any]
    parts: tuple[Any, ...]
    where: str
    filled: set[str]
    """Names of the fields that occurred in any row so far."""
    strict: bool
    """Whether the row is of a format, whose values have one type."""

    def refuse(self, name: str, place: RowField | None, problem: str) -> NoReturn:
        """Refuse a value, with its name in the file for a format, else with its name in the mapping."""
        path = place if isinstance(place, str) or place is None else place.path
        if self.strict:
            raise BadInput(f"'{path}'{problem}.", where=self.where, remedy=FORMAT_REMEDY)
        raise BadInput(f"'{name}'{problem}.", where=self.where, remedy="Correct the mapping.")

    def values(self, place: RowField) -> list[Any]:
        """Return the values at a place, each with pattern and form applied where it is text or a number."""
        detail = FieldPlace(path=place) if isinstance(place, str) else place
        if detail.key is not None:
            if detail.key >= len(self.parts):
                raise BadInput(f"the row has no key {detail.key}.", where=self.where)
            found: list[Any] = [self.parts[detail.key]]
        else:
            found = [match.value for match in matches(detail.path or "", self.row, self.where)]
        return [self._shaped(value, detail) for value in found]

    def _shaped(self, value: Any, detail: FieldPlace) -> Any:
        if isinstance(value, list):
            return [self._shaped(each, detail) for each in value]
        if detail.pattern is not None and value is not None:
            found = re.search(detail.pattern, str(value))
            if found is None:
                return value  # such as a malformed id, which then equals no other
            value = found.group(1)
        return value if detail.written == "{}" else detail.written.replace("{}", str(value))

    def one(self, name: str, place: RowField | None) -> Any:
        """Return the only value at a place; ``None`` without a place, or if the row has none.

        Raises ``BadInput``: there is more than one.
        """
        found = [] if place is None else self.values(place)
        if len(found) > 1:
            path = place if isinstance(place, str) or place is None else place.path
            self.refuse(name, place, f" has {len(found)} values at '{path}'")
        if not found:
            return None
        self.filled.add(name)
        return found[0]

    def voted(self, name: str, place: RowField | None) -> Any:
        """Return the only value at a place, or what its list of votes gives by the rule of the place.

        An even split, an unknown spelling and an empty list give ``TIED``, which is no verdict. ``None`` without a
        value. Raises ``BadInput``: there is more than one value, no list of votes, or one of several types.
        """
        value = self.one(name, place)
        rule = place.votes if isinstance(place, FieldPlace) else None
        if rule is None or value is None:
            return value
        if not isinstance(value, list):
            self.refuse(name, place, f" is {kind_of(value)}, not a list of votes")
        kinds = sorted({kind_of(each) for each in value})
        if len(kinds) > 1:
            self.refuse(name, place, f" has votes of several types: {', '.join(kinds)}")
        if rule == "mean":
            return self._mean(name, place, value)
        votes = [verdict_of(each) for each in value]
        right = sum(vote is True for vote in votes)
        return TIED if None in votes or 2 * right == len(votes) else 2 * right > len(votes)

    def _mean(self, name: str, place: RowField | None, votes: list[Any]) -> float | None:
        """Return the mean of votes, each a number or a verdict; ``None`` without votes."""
        numbers = [each if isinstance(each, int | float) else verdict_of(each) for each in votes]
        known = [float(each) for each in numbers if each is not None]
        if len(known) < len(votes):
            self.refuse(name, place, " has a vote that is neither a number nor a verdict")
        return math.fsum(known) / len(known) if known else None

    def text(self, name: str, place: RowField | None, longest: int = LONGEST_TEXT) -> str | None:
        value = missing(self.one(name, place))
        if isinstance(value, bool) and not self.strict:
            value = str(value)
        if value is None or (isinstance(value, str) and not self.strict):
            return value
        if not isinstance(value, str):
            self.refuse(name, place, " is not text")
        if len(value) > longest or (not value.isascii() and value != value.encode(errors="replace").decode()):
            self.refuse(name, place, f" has more than {longest:,} characters, or half a character")
        return value

    def needed(self, name: str, place: RowField | None) -> RowField | None:
        """Return a place of a format that every row must have. Raises ``BadInput``: the row does not have it."""
        if self.strict and place is not None and not self.values(place):
            self.refuse(name, place, " is missing")
        return place

    def number(self, name: str, place: RowField | None) -> float | None:
        """Return a number, also if it is written as text; ``None`` for null."""
        value = missing(self.voted(name, place))
        if value is None:
            return None
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = float("nan")
        if not abs(number) < 1e15:
            self.refuse(name, place, " is not a number")
        if self.strict and number < 0:
            self.refuse(name, place, " is negative")
        return number

    def ids(self, name: str, place: RowField | None) -> tuple[str, ...] | None:
        """Return a list of ids; ``None`` without a place or for null."""
        if place is None:
            return None
        found = self.values(place)
        if found in ([], [None]):
            return None
        self.filled.add(name)
        if len(found) == 1 and isinstance(found[0], list):
            found = found[0]
        if not all(isinstance(each, str | int) for each in found):
            self.refuse(name, place, " is not a list of ids")
        texts = tuple(str(each) for each in found)
        if any(len(each) > LONGEST_ID for each in texts):
            self.refuse(name, place, f" has a text of more than {LONGEST_ID} characters, not an id")
        return texts

    def is_value(self, path: str, value: str) -> bool:
        return any(each == value or json.dumps(each) == value for each in self.values(path))


def _row(place: int, cells: _Cells, mapping: RowMapping) -> MappedRow:
    milliseconds = cells.number("milliseconds", mapping.milliseconds)
    item = cells.text("item", cells.needed("item", mapping.item), LONGEST_ID)
    if cells.strict and not item:
        cells.refuse("item", mapping.item, " is null or empty")
    answer = cells.text("answer", mapping.answer)
    error = _error(cells, mapping, answer)
    return MappedRow(
        place=place,
        item=item,
        category=cells.text("category", mapping.category),
        scenario=cells.text("scenario", mapping.scenario),
        question=cells.text("question", mapping.question),
        gold=cells.text("gold", mapping.gold),
        trial=int(cells.number("trial", mapping.trial) or 0),
        answer="" if error is not None and cells.strict else answer,
        verdicts={
            name: verdict_of(value)
            for name, each in mapping.verdicts.items()
            if (value := cells.voted(name, each)) is not None
        },
        scores={
            name: value for name, each in mapping.scores.items() if (value := cells.number(name, each)) is not None
        },
        retrieved=_retrieved(cells, mapping),
        evidence=cells.ids("evidence", mapping.evidence),
        prompt_tokens=cells.number("prompt_tokens", mapping.prompt_tokens),
        completion_tokens=cells.number("completion_tokens", mapping.completion_tokens),
        context_tokens=cells.number("context_tokens", mapping.context_tokens),
        seconds=cells.number("seconds", mapping.seconds) if milliseconds is None else milliseconds / 1000,
        cost_usd=cells.number("cost_usd", mapping.cost_usd),
        error=error,
        judge=cells.text("judge", mapping.judge, LONGEST_ID),
        where=cells.where,
    )


def _retrieved(cells: _Cells, mapping: RowMapping) -> tuple[str, ...] | None:
    known = cells.one("retrieved_known", mapping.retrieved_known)
    found = cells.ids("retrieved_turns", mapping.retrieved_turns) or cells.ids("retrieved", mapping.retrieved)
    return None if known is False else found


def _error(cells: _Cells, mapping: RowMapping, answer: str | None) -> str | None:
    value = cells.one("error", mapping.error)
    if value is True:
        return _ERROR_MARK.sub("", answer or "").strip() or "failed without an error message"
    if value not in (None, False):
        text = cells.text("error", mapping.error)
        if text and text.strip():
            return text
    if isinstance(mapping, AnswerMapping) and mapping.answer is not None and answer is None:
        if mapping.blank_answers and not cells.values(mapping.answer):
            return None
        cells.needed("answer", mapping.answer)
        return NO_ANSWER
    return None


def verdict_of(value: Any) -> bool | None:
    word = str(value).strip().lower()
    return True if word in RIGHT else False if word in WRONG else None
