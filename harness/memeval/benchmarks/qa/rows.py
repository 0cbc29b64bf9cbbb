"""Reads question sets in JSON Lines and reports all errors of a file at once."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from memeval.benchmarks.data import file_bytes
from memeval.records.base import RepeatedKey, once_each
from memeval.records.errors import BadInput, did_you_mean

LARGEST_FILE = 64 << 20
LARGEST_LINE = 1 << 20
"""Largest file and longest line, in bytes."""

MOST_ROWS = 10_000
MOST_NEEDLES = 100
MOST_TAGS = 20
MOST_FAULTS = 50
"""Maximum rows per file, needles and tags per row, and errors per message."""

LONGEST = {"id": 200, "question": 20_000, "expected_substrings": 1_000, "reference_answer": 100_000, "tags": 40}
"""Maximum length of a text in characters, by field; in lists, of each text."""

FIELDS = ("id", "question", "expected_substrings", "reference_answer", "question_date", "questionDate", "tags", "match")
"""Fields of a row. ``match`` is an addition of memeval: ``any`` of the needles (default) or ``all`` of them."""

REMEDY = "Fix the file and run again."

T = TypeVar("T")


class Scorer(StrEnum):
    """Decides whether an answer is correct, and which fields a row must have."""

    EXACT = "exact"
    """A rule that looks for needles. Needs ``expected_substrings``."""
    JUDGE = "judge"
    """A judge that compares with the reference. Needs ``reference_answer``."""


@dataclass(frozen=True)
class QuestionRow:
    id: str
    """Unique in the file."""
    question: str
    needles: tuple[str, ...] = ()
    """A correct answer contains one of these texts, or all. Without blank ones."""
    all_of: bool = False
    reference: str | None = None
    asked_at: str | None = None
    """Time of the question, ISO 8601."""
    tags: tuple[str, ...] = ()
    """Tags of the row; each is a slice."""

    @property
    def body(self) -> str:
        """Answer in the prepared store: the reference, else the needles."""
        return self.reference or ", ".join(self.needles)


class _Fault(Exception):
    """An error in a row; the text is a sentence."""


def read_rows(path: Path, scorer: Scorer) -> tuple[bytes, tuple[QuestionRow, ...]]:
    """Read a question set, and return its bytes and its rows.

    ``scorer``: every row must have the fields that it needs. Raises ``BadInput``: the file is missing or invalid, or
    lacks fields for the scorer. Lists all errors.
    """
    data = file_bytes(path, LARGEST_FILE, "Name a JSON Lines file.")
    return data, rows_of(data, scorer, path)


def rows_of(data: bytes, scorer: Scorer, where: object) -> tuple[QuestionRow, ...]:
    """Return the rows of a question set.

    Skips blank lines and lines that start with ``#``. Raises ``BadInput``: the file is invalid or lacks fields for the
    scorer. Lists up to 50 errors with their lines.
    """
    _check_bytes(data, where)
    rows: list[QuestionRow] = []
    faults: list[str] = []
    wrong = 0
    line_of: dict[str, int] = {}
    for number, line in _lines(data):
        try:
            row = _row(line, scorer)
            if row.id in line_of:
                raise _Fault(f"the id {_quoted(row.id)} is already used in line {line_of[row.id]}.")
            line_of[row.id] = number
            rows.append(row)
        except _Fault as fault:
            wrong += 1
            faults += [f"line {number}: {fault}"] if wrong <= MOST_FAULTS else []
        if len(rows) > MOST_ROWS:
            raise BadInput(f"the file has more than {MOST_ROWS:,} rows.", where=where, remedy="Split the file.")
    if faults:
        faults += [f"… and {wrong - MOST_FAULTS} more"] if wrong > MOST_FAULTS else []
        listed = "\n  ".join(faults)
        count = "1 row is invalid" if wrong == 1 else f"{wrong:,} rows are invalid"
        raise BadInput(f"{count}.\n  {listed}\n ", where=where, remedy=REMEDY)
    if not rows:
        raise BadInput("the file has no rows.", where=where, remedy="Write one JSON object per line.")
    return tuple(rows)


def _check_bytes(data: bytes, where: object) -> None:
    if not data.strip():
        raise BadInput("the file is empty.", where=where, remedy="Write one JSON object per line.")
    if len(data) > LARGEST_FILE:
        raise BadInput(f"the file is larger than {LARGEST_FILE:,} bytes.", where=where, remedy="Split the file.")
    if data.startswith(b"\x1f\x8b"):
        raise BadInput("the file is compressed with gzip.", where=where, remedy="Unpack it with gunzip.")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadInput("the file is UTF-16.", where=where, remedy="Save it as UTF-8.")
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        raise BadInput("the file is a JSON list.", where=where, remedy="Write one element per line (JSON Lines).")


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with rows, each with its number from 1."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        line = line.strip()
        if line and not line.startswith(b"#"):
            yield number, line


def _row(line: bytes, scorer: Scorer) -> QuestionRow:
    """Return the row of a line. Raises ``_Fault``: the row is invalid. Lists all its errors."""
    fields = _object(line)
    faults: list[str] = []

    def read(reading: Callable[[Mapping[str, Any]], T], otherwise: T) -> T:
        try:
            return reading(fields)
        except _Fault as fault:
            faults.append(str(fault))
            return otherwise

    faults += [_unknown(name) for name in fields if name not in FIELDS]
    row = QuestionRow(
        id=read(_id, ""),
        question=read(lambda row: _text(row, "question"), None) or "",
        needles=read(lambda row: _texts(row, "expected_substrings", MOST_NEEDLES), ()),
        all_of=read(_all_of, False),
        reference=read(lambda row: _text(row, "reference_answer"), None),
        asked_at=read(_asked_at, None),
        tags=read(_tags, ()),
    )
    named = {fault.partition("'")[2].partition("'")[0] for fault in faults}
    for name, value in (("id", row.id), ("question", row.question)):
        if not value and name not in named:
            faults.append(f"'{name}' is missing.")
    if scorer is Scorer.EXACT and not row.needles and "expected_substrings" not in named:
        problem = "is empty" if fields.get("expected_substrings") else "is missing"
        faults.append(f"'expected_substrings' {problem}. The exact scorer needs it.")
    if scorer is Scorer.JUDGE and not row.reference and "reference_answer" not in named:
        faults.append("'reference_answer' is missing. The judge needs it.")
    if faults:
        raise _Fault(" ".join(faults))
    return row


def _object(line: bytes) -> dict[str, Any]:
    if len(line) > LARGEST_LINE:
        raise _Fault(f"the line has {len(line):,} bytes; the limit is {LARGEST_LINE:,}.")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Fault(f"not UTF-8, at byte {error.start + 1}.") from None
    try:
        fields = json.loads(text, object_pairs_hook=once_each, parse_constant=_no_number, parse_int=_whole)
    except RecursionError:
        raise _Fault("the JSON is nested too deeply.") from None
    except RepeatedKey as error:
        raise _Fault(f"the field {error.name!r} occurs twice.") from None
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        raise _Fault(f"{'truncated' if cut else 'not valid'} JSON ({error.msg}, column {error.colno}).") from None
    if not isinstance(fields, dict):
        raise _Fault("not a JSON object.")
    return fields


def _unknown(name: str) -> str:
    return f"unknown field {_quoted(name)}. {did_you_mean(name, FIELDS)}".rstrip()


def _id(row: Mapping[str, Any]) -> str:
    name = _text(row, "id") or ""
    if not name.isprintable() or name != name.strip():
        raise _Fault("'id' has spaces around it, or unprintable characters.")
    return name


def _text(row: Mapping[str, Any], field: str) -> str | None:
    """Return a text; ``None`` if the field is missing, null or blank."""
    value = row.get(field)
    if value is None:
        return None
    if not isinstance(value, str):
        raise _Fault(f"'{field}' must be text, not {_kind(value)}.")
    if not value.strip() and field in ("id", "question"):
        raise _Fault(f"'{field}' is blank.")
    return _checked_text(value, field) if value.strip() else None


def _texts(row: Mapping[str, Any], field: str, most: int) -> tuple[str, ...]:
    value = row.get(field)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _Fault(f"'{field}' must be a list of texts, not {_kind(value)}.")
    if wrong := [each for each in value if not isinstance(each, str)]:
        raise _Fault(f"'{field}' must contain only texts, not {_kind(wrong[0])}.")
    if len(value) > most:
        raise _Fault(f"'{field}' has {len(value)} texts; the limit is {most}.")
    return tuple(_checked_text(each, field) for each in value if each.strip())


def _checked_text(value: str, field: str) -> str:
    """Return a text if it is not too long and has no invalid characters."""
    if len(value) > LONGEST[field]:
        raise _Fault(f"'{field}' has a text of {len(value):,} characters; the limit is {LONGEST[field]:,}.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _Fault(f"'{field}' contains half a character (a lone surrogate).") from None
    if "\0" in value:
        raise _Fault(f"'{field}' contains a NUL character.")
    return value


def _all_of(row: Mapping[str, Any]) -> bool:
    match row.get("match"):
        case None | "any":
            return False
        case "all":
            return True
        case _:
            raise _Fault('\'match\' must be "any" or "all".')


def _asked_at(row: Mapping[str, Any]) -> str | None:
    dates = [value for field in ("question_date", "questionDate") if (value := row.get(field)) is not None]
    if len(set(map(repr, dates))) > 1:
        raise _Fault("'question_date' and 'questionDate' differ.")
    if not dates:
        return None
    if not isinstance(dates[0], str) or not _DATE.fullmatch(dates[0]):
        raise _Fault("'question_date' must be an ISO 8601 date, such as 2026-01-31 or 2026-01-31T09:30:00Z.")
    try:
        datetime.fromisoformat(dates[0])
    except ValueError:
        raise _Fault("'question_date' is a date that does not exist.") from None
    return dates[0]


def _tags(row: Mapping[str, Any]) -> tuple[str, ...]:
    tags = _texts(row, "tags", MOST_TAGS)
    if not all(tag.isprintable() for tag in tags):
        raise _Fault("'tags' contains unprintable characters.")
    return tuple(dict.fromkeys(tag.strip() for tag in tags))


def _no_number(name: str) -> NoReturn:
    raise _Fault(f"{name} is not a valid number.")


def _whole(text: str) -> int:
    return int(text[:20])  # no field is a number, and Python refuses numbers of more than 4,300 digits


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def _quoted(name: str) -> str:
    """Return an untrusted name, shortened and safe to show."""
    return repr(name if len(name) <= 80 else f"{name[:80]}…")


_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)?")
