"""Reads the rows of a published file by a mapping that is data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from jsonpath_ng.exceptions import JSONPathError
from jsonpath_ng.jsonpath import DatumInContext, Fields, Index
from jsonpath_ng.parser import parse

from memeval.benchmarks.formats.reading import parsed
from memeval.records.errors import BadInput
from memeval.records.source import FieldPlace, RowField, RowMapping
from memeval.systems.output import visible

RIGHT = frozenset({"1", "1.0", "true", "yes", "correct", "right"})
WRONG = frozenset({"0", "0.0", "false", "no", "incorrect", "wrong"})
"""Spellings of verdicts, in lower case."""

LONGEST_ID = 200
"""Longest id of a retrieved session or turn, in characters. Ids are stored, texts are not."""

MOST_BROKEN = 0.01
"""Share of torn lines above which a file is refused."""

_SHOWN = 12
"""Number of field names in an error message."""


@dataclass(frozen=True)
class PublishedRow:
    """One row of a file, as read by the mapping; ``None`` where the file says nothing."""

    place: int
    """Number of the row in the file, from 1."""
    broken: bool = False
    """Whether the row is not a JSON object, such as a torn line."""
    item: str | None = None
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


def read_rows(data: bytes, mapping: RowMapping, where: object) -> list[PublishedRow]:
    """Read the rows of a file.

    Args:
        data: its bytes, uncompressed: one JSON value, or JSON lines.
        where: the file, named in errors.

    Raises:
        BadInput: the file is not JSON, has no such rows, or a field that the mapping needs is missing or of another
            type.
    """
    if data.lstrip()[:1] == b"<":
        raise BadInput(
            "this is HTML, not JSON.", where=where, remedy="The address serves a page. Use the address of the raw file."
        )
    document = _document(data, where)
    rows: list[PublishedRow] = []
    filled: set[str] = set()
    for place, match in enumerate(_matches(mapping.rows, document, where), 1):
        if not isinstance(match.value, dict):
            rows.append(PublishedRow(place, broken=True))
            continue
        cells = _Cells(match.value, _keys_above(match), f"{where}: row {place}", filled)
        if all(cells.is_value(path, value) for path, value in mapping.where.items()):
            rows.append(_row(place, cells, mapping))
    broken = sum(row.broken for row in rows)
    if broken > MOST_BROKEN * len(rows):
        raise BadInput(
            f"{broken} of {len(rows)} rows are not JSON objects.",
            where=where,
            remedy="Fetch the file again, or correct 'rows' in the source's mapping.",
        )
    if not rows:
        raise BadInput(
            f"there are no rows at '{mapping.rows}'.", where=where, remedy="Correct 'rows' in the source's mapping."
        )
    _refuse_absent(mapping, filled, document, where)
    return rows


def _refuse_absent(mapping: RowMapping, filled: set[str], document: Any, where: object) -> None:
    """Refuse a file in which a mapped field does not occur in any row.

    Raises:
        BadInput: there is such a field, which was probably renamed.
    """
    single = (set(RowMapping.model_fields) - {"rows", "where", "verdicts", "scores"}) & {
        name for name, value in mapping if value is not None
    }
    for name in sorted(single | {*mapping.verdicts} | {*mapping.scores}):
        if name not in filled:
            first = next(
                (each.value for each in _matches(mapping.rows, document, where) if isinstance(each.value, dict)), {}
            )
            fields = ", ".join(visible(key) for key in list(first)[:_SHOWN])
            raise BadInput(
                f"no row has the field of '{name}'.",
                where=where,
                remedy=f"Correct the mapping. The first row has these fields: {fields}.",
            )


def _document(data: bytes, where: object) -> Any:
    """Return the JSON value of a file, or the list of the values of its lines, with ``None`` for torn lines."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    if len(lines) < 2 or not all(_is_object(line) for line in lines[:2]):
        return parsed(data, where)
    values = []
    for number, line in enumerate(lines, 1):
        try:
            values.append(parsed(line, f"{where}:{number}"))
        except BadInput:
            values.append(None)
    return values


def _is_object(line: bytes) -> bool:
    return line.lstrip()[:1] == b"{" and line.rstrip()[-1:] == b"}"


def _matches(path: str, value: Any, where: object) -> list[DatumInContext]:
    try:
        return list(_compiled(path).find(value))
    except JSONPathError as error:
        raise BadInput(f"'{path}' is not a JSONPath ({error}).", where=where) from None


@lru_cache(maxsize=256)
def _compiled(path: str) -> Any:
    return parse(path)


def _keys_above(match: DatumInContext) -> tuple[str | int, ...]:
    """Return the keys and indices from the top of the file to a match."""
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
    """The fields of one row."""

    row: Mapping[str, Any]
    parts: tuple[Any, ...]
    """Keys and indices from the top of the file to the row."""
    where: str
    filled: set[str]
    """Names of the fields that occurred in any row so far."""

    def values(self, place: RowField) -> list[Any]:
        """Return the values at a place, each with pattern and form applied where it is text or a number."""
        detail = FieldPlace(path=place) if isinstance(place, str) else place
        if detail.key is not None:
            if detail.key >= len(self.parts):
                raise BadInput(f"the row has no key {detail.key}.", where=self.where)
            found: list[Any] = [self.parts[detail.key]]
        else:
            found = [match.value for match in _matches(detail.path or "", self.row, self.where)]
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

        Raises:
            BadInput: there is more than one.
        """
        found = [] if place is None else self.values(place)
        if len(found) > 1:
            path = place if isinstance(place, str) or place is None else place.path
            raise BadInput(
                f"'{name}' has {len(found)} values at '{path}'.", where=self.where, remedy="Correct the mapping."
            )
        if not found:
            return None
        self.filled.add(name)
        return found[0]

    def text(self, name: str, place: RowField | None) -> str | None:
        """Return a text; numbers are written out."""
        value = self.one(name, place)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool | int | float):
            return str(value)
        raise BadInput(f"'{name}' is not text.", where=self.where, remedy="Correct the mapping.")

    def number(self, name: str, place: RowField | None) -> float | None:
        """Return a number, also if it is written as text; ``None`` for null."""
        value = self.one(name, place)
        if value is None:
            return None
        try:
            if isinstance(value, bool):
                return float(value)
            number = float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if not abs(number) < 1e15:
            raise BadInput(f"'{name}' is not a number.", where=self.where, remedy="Correct the mapping.")
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
            raise BadInput(f"'{name}' is not a list of ids.", where=self.where, remedy="Correct the mapping.")
        texts = tuple(str(each) for each in found)
        if any(len(each) > LONGEST_ID for each in texts):
            raise BadInput(
                f"'{name}' has a text of more than {LONGEST_ID} characters, not an id.",
                where=self.where,
                remedy="Correct the mapping.",
            )
        return texts

    def is_value(self, path: str, value: str) -> bool:
        """Return whether the row has a value at a path."""
        return any(each == value or json.dumps(each) == value for each in self.values(path))


def _row(place: int, cells: _Cells, mapping: RowMapping) -> PublishedRow:
    milliseconds = cells.number("milliseconds", mapping.milliseconds)
    return PublishedRow(
        place=place,
        item=cells.text("item", mapping.item),
        scenario=cells.text("scenario", mapping.scenario),
        question=cells.text("question", mapping.question),
        gold=cells.text("gold", mapping.gold),
        trial=int(cells.number("trial", mapping.trial) or 0),
        answer=cells.text("answer", mapping.answer),
        verdicts={
            name: verdict_of(value)
            for name, each in mapping.verdicts.items()
            if (value := cells.one(name, each)) is not None
        },
        scores={
            name: value for name, each in mapping.scores.items() if (value := cells.number(name, each)) is not None
        },
        retrieved=cells.ids("retrieved", mapping.retrieved),
        evidence=cells.ids("evidence", mapping.evidence),
        prompt_tokens=cells.number("prompt_tokens", mapping.prompt_tokens),
        completion_tokens=cells.number("completion_tokens", mapping.completion_tokens),
        context_tokens=cells.number("context_tokens", mapping.context_tokens),
        seconds=cells.number("seconds", mapping.seconds) if milliseconds is None else milliseconds / 1000,
        cost_usd=cells.number("cost_usd", mapping.cost_usd),
    )


def verdict_of(value: Any) -> bool | None:
    """Return a verdict from any of its usual spellings; ``None`` if it is none."""
    word = str(value).strip().lower()
    return True if word in RIGHT else False if word in WRONG else None
