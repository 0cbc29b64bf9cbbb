"""Finds and reads the released files, plain or gzip: histories, queries and signatures of functions."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memeval.benchmarks.data import data_folder, packed_or_plain, unpacked
from memeval.benchmarks.vehiclemembench.calls import CallsError, parse_calls
from memeval.records.base import Digest, digest_bytes, digest_of, misfit
from memeval.records.errors import BadInput

FOLDER = "vehiclemembench"

LARGEST = 4_000_000
"""Largest accepted file, unpacked, in bytes. The largest released one has 439,056."""

_PLACES = ("", "benchmark/history", "benchmark/qa_data", "evaluation")
"""Where a file is: in the folder itself, or in its folder of the upstream repository."""

_HISTORY = re.compile(r"history_(\d{1,3})\.txt")
_RESTORE = "Restore the released file."
_STAMP = r"\[(\d{4}-\d\d-\d\d \d\d:\d\d)\]"
_LINE = re.compile(rf"{_STAMP} (?:{_STAMP} )?(?P<speaker>[^:\[\]]{{1,80}}): (?P<text>.*\S.*)")
_EVENT = re.compile(r"\[([A-Z][a-z]{2,8} \d{1,2}, \d{4})\] At (\d{1,2}:\d\d [AP]M)")

REASONING = {
    "preference_conflict": "preference-conflict",
    "conditional_constraint": "conditional-constraint",
    "coreference_resolution": "coreference",
    "state_shift": "state-shift",
    "error_correction": "error-correction",
}
"""Categories, by the names of the file."""

M = TypeVar("M", bound=BaseModel)
Text = Annotated[str, Field(pattern=r"\S")]


class Line(NamedTuple):
    minute: str
    """``2025-03-10 08:00``."""
    speaker: str
    """The whole name, as written: one may begin with another."""
    text: str


class Query(NamedTuple):
    text: str
    category: str
    calls: tuple[str, ...]
    """The expected calls, checked, as written."""
    minutes: tuple[str, ...]
    """Minutes of the events that it depends on, each once, as far as they are in the expected form."""
    events: int
    """Number of these events, in whatever form."""

    @property
    def holds_values(self) -> bool:
        """Whether the text holds each value of the expected calls, in any case, so that memory may not be needed."""
        calls = (call for text in self.calls for call in parse_calls(text))
        values = (value.strip('"').lower() for call in calls for _, value in call.arguments)
        return all(value in self.text.lower() for value in values)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class _Row(_Part):
    gold_memory: Text
    reasoning_type: Literal[
        "preference_conflict", "conditional_constraint", "coreference_resolution", "state_shift", "error_correction"
    ]
    query: Text
    new_answer: Annotated[tuple[Text, ...], Field(min_length=1)]


class _Queries(_Part):
    rows: Annotated[tuple[_Row, ...], Field(alias="related_to_vehicle_preference", min_length=1)]


class _Property(_Part):
    type: Text


class _Parameters(_Part):
    properties: dict[str, _Property]


class _Function(_Part):
    name: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")]
    description: Text
    parameters: _Parameters


class _Functions(_Part):
    rows: Annotated[tuple[_Function, ...], Field(min_length=1)]


@cache
def released_files() -> Mapping[str, Digest]:
    """Return the digests of the released files, by name."""
    found: dict[str, Digest] = json.loads((resources.files(__package__) / "files.json").read_bytes())
    return found


@dataclass(frozen=True)
class Release:
    """The released files on this machine."""

    path: Path | None
    """Their folder, one above it, or a copy of the upstream repository; ``None`` for memeval's data folder."""
    remedy: str
    """How to get them, as a sentence."""
    files: Mapping[str, Digest] = field(default_factory=released_files)

    @property
    def digest(self) -> Digest:
        return digest_of(dict(self.files))

    @property
    def histories(self) -> tuple[str, ...]:
        """Return the numbers of the histories, in order."""
        return tuple(found[1] for name in self.files if (found := _HISTORY.fullmatch(name)))

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(name for name in self.files if self._find(name) is None)

    def lines(self, history: str) -> tuple[Line, ...]:
        return read_lines(*self._read(f"history_{history}.txt"))

    def queries(self, history: str) -> tuple[Query, ...]:
        return read_queries(*self._read(f"qa_{history}.json"))

    def functions(self) -> tuple[str, ...]:
        return read_functions(*self._read("functions_schema.json"))

    def _find(self, name: str) -> Path | None:
        roots = [data_folder() / FOLDER] if self.path is None else [self.path, self.path / FOLDER]
        places = (packed_or_plain(root / place / name) for root in roots for place in _PLACES)
        return next((each for each in places if each is not None), None)

    def _read(self, name: str) -> tuple[bytes, Path]:
        """Return the bytes of a file, and its path. Raises ``BadInput``: it is missing, unreadable, or another one."""
        file = self._find(name)
        if file is None:
            raise BadInput(
                f"the file {name} is missing.", where=self.path or data_folder() / FOLDER, remedy=self.remedy
            )
        data = unpacked(file, LARGEST, _RESTORE)
        if digest_bytes(data) != self.files[name]:
            problem = f"this is not the released file: it has {len(data):,} bytes and the digest {digest_bytes(data)}."
            raise BadInput(problem, where=file, remedy=_RESTORE)
        return data, file


def read_lines(data: bytes, where: object) -> tuple[Line, ...]:
    """Read a history. Raises ``BadInput``: a line has no time, name or text, or comes before an earlier one."""
    if not data.strip():
        raise _wrong("the file is empty", where)
    lines: list[Line] = []
    for number, raw in enumerate(_decoded(data, where).removesuffix("\n").split("\n"), 1):
        found = _LINE.fullmatch(raw)
        if found is None or not _is_time(found[1]):
            raise _wrong(f"line {number} is not '[2025-03-10 08:00] Name: text'", where)
        line = Line(found[1], found["speaker"], found["text"])
        if lines and line.minute < lines[-1].minute:
            raise _wrong(f"line {number} is out of order: {line.minute} comes after {lines[-1].minute}", where)
        lines.append(line)
    return tuple(lines)


def _is_time(minute: str) -> bool:
    try:
        datetime.fromisoformat(minute)
    except ValueError:
        return False
    return True


def read_queries(data: bytes, where: object) -> tuple[Query, ...]:
    """Read queries. Raises ``BadInput``: the file is invalid, or an expected call is not plain data."""
    rows = _checked(_Queries, _loaded(data, where), where).rows
    return tuple(_query(row, number, where) for number, row in enumerate(rows, 1))


def _query(row: _Row, number: int, where: object) -> Query:
    for text in row.new_answer:
        try:
            calls = parse_calls(text)
        except CallsError as error:
            raise _wrong(f"query {number}: an expected call cannot be read. {error}".rstrip("."), where) from None
        if len(calls) != 1:
            raise _wrong(f"query {number}: an expected call is not one call", where)
    events = row.gold_memory.strip().splitlines()
    minutes = (_minute(found, number, where) for each in events if (found := _EVENT.match(each)))
    return Query(row.query, REASONING[row.reasoning_type], row.new_answer, tuple(dict.fromkeys(minutes)), len(events))


def _minute(found: re.Match[str], number: int, where: object) -> str:
    try:
        return datetime.strptime(" ".join(found.groups()), "%B %d, %Y %I:%M %p").strftime("%Y-%m-%d %H:%M")
    except ValueError:
        raise _wrong(f"query {number}: an event has no possible time", where) from None


def read_functions(data: bytes, where: object) -> tuple[str, ...]:
    """Return the signatures of the functions, each with its description, in one line. Raises ``BadInput``: invalid."""
    functions = _checked(_Functions, {"rows": _loaded(data, where)}, where).rows
    return tuple(
        f"{each.name}({', '.join(f'{name}: {kind.type}' for name, kind in each.parameters.properties.items())})  "
        f"# {' '.join(each.description.split())}"
        for each in functions
    )


def _checked(model: type[M], data: Any, where: object) -> M:
    try:
        return model.model_validate_json(json.dumps(data))
    except ValidationError as error:
        raise _wrong(misfit(model, error).rstrip("."), where) from None


def _loaded(data: bytes, where: object) -> Any:
    if not data.strip():
        raise _wrong("the file is empty", where)
    try:
        return json.loads(_decoded(data, where))
    except (ValueError, RecursionError) as error:
        raise _wrong(f"not valid JSON ({error})", where) from None


def _decoded(data: bytes, where: object) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _wrong(f"not UTF-8 at byte {error.start:,}", where) from None


def _wrong(problem: str, where: object) -> BadInput:
    return BadInput(f"{problem}.", where=where, remedy=_RESTORE)
