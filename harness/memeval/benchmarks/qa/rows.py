"""Reading question sets: JSON Lines, checked whole, with every fault of the file named at once."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from memeval.records.base import RepeatedKey, once_each
from memeval.records.errors import BadInput

LARGEST_FILE = 64 << 20
LARGEST_LINE = 1 << 20
"""The largest file and the longest line, in bytes."""

MOST_ROWS = 10_000
MOST_NEEDLES = 100
MOST_TAGS = 20
MOST_FAULTS = 50
"""How many rows a file, and needles and tags a row may have; how many faults of a file are named."""

LONGEST = {"id": 200, "question": 20_000, "expected_substrings": 1_000, "reference_answer": 100_000, "tags": 40}
"""The longest texts, in characters, by field; of lists, each text in them."""

FIELDS = ("id", "question", "expected_substrings", "reference_answer", "question_date", "questionDate", "tags", "match")
"""The fields of a row. ``match`` is memeval's own: ``any`` of the needles (the usual), or ``all`` of them."""

REMEDY = "Mend the file, and run it again."

T = TypeVar("T")


class Scorer(StrEnum):
    """Who decides whether an answer is right, and so what a row must have."""

    EXACT = "exact"
    """A rule that looks for needles: ``expected_substrings``."""
    JUDGE = "judge"
    """A judge that compares with ``reference_answer``."""


@dataclass(frozen=True)
class QuestionRow:
    """One row of a question set."""

    id: str
    """Unique in the file."""
    question: str
    """What is asked."""
    needles: tuple[str, ...] = ()
    """Texts of which a right answer holds one, or all; blank ones are left out."""
    all_of: bool = False
    """Whether all of them are needed."""
    reference: str | None = None
    """A right answer."""
    asked_at: str | None = None
    """The time the question is asked as of, ISO 8601."""
    tags: tuple[str, ...] = ()
    """What the row is reported under."""

    @property
    def body(self) -> str:
        """What a store that is prepared with the answers holds of it: the reference, else the needles."""
        return self.reference or ", ".join(self.needles)


class _Fault(Exception):
    """Something is wrong with a row; the text is a sentence."""


def read_rows(path: Path, scorer: Scorer) -> tuple[bytes, tuple[QuestionRow, ...]]:
    """Read a question set, and return its bytes and its rows.

    Args:
        path: the file.
        scorer: who decides; every row must have what it needs.

    Raises:
        BadInput: the file is missing, or not a question set that the scorer can use; every fault is named.
    """
    try:
        if path.is_dir():
            raise BadInput("this is a folder.", where=path, remedy="Name the JSON Lines file itself.")
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise BadInput("there is no such file.", where=path, remedy="Name a file of JSON Lines.") from None
    except OSError as error:
        raise BadInput(f"the file cannot be read ({error.strerror}).", where=path) from None
    return data, rows_of(data, scorer, path)


def rows_of(data: bytes, scorer: Scorer, where: object) -> tuple[QuestionRow, ...]:
    """Return the rows of a question set.

    Blank lines and lines that begin with ``#`` are passed over.

    Args:
        data: the file's bytes: UTF-8, with or without a byte order mark.
        scorer: who decides; every row must have what it needs.
        where: the file, named in refusals.

    Raises:
        BadInput: it is no question set that the scorer can use; every fault is named with its line, up to 50.
    """
    _check_bytes(data, where)
    rows: list[QuestionRow] = []
    faults: list[str] = []
    wrong = 0
    seen: dict[str, int] = {}
    for number, line in _lines(data):
        try:
            row = _row(line, scorer)
            if row.id in seen:
                raise _Fault(f"the id {_quoted(row.id)} stands in line {seen[row.id]} already.")
            seen[row.id] = number
            rows.append(row)
        except _Fault as fault:
            wrong += 1
            faults += [f"line {number}: {fault}"] if wrong <= MOST_FAULTS else []
        if len(rows) > MOST_ROWS:
            raise BadInput(f"there are more than {MOST_ROWS:,} rows.", where=where, remedy="Split the file.")
    if faults:
        faults += [f"… and {wrong - MOST_FAULTS} more"] if wrong > MOST_FAULTS else []
        told = "\n  ".join(faults)
        count = "one row" if wrong == 1 else f"{wrong:,} rows"
        raise BadInput(f"{count} cannot be used.\n  {told}\n ", where=where, remedy=REMEDY)
    if not rows:
        raise BadInput("there are no rows in it.", where=where, remedy="Write one JSON object a line.")
    return tuple(rows)


def _check_bytes(data: bytes, where: object) -> None:
    """Refuse what is no text, by what it is."""
    if not data.strip():
        raise BadInput("the file is empty.", where=where, remedy="Write one JSON object a line.")
    if len(data) > LARGEST_FILE:
        raise BadInput(f"the file is larger than {LARGEST_FILE:,} bytes.", where=where, remedy="Split the file.")
    if data.startswith(b"\x1f\x8b"):
        raise BadInput("the file is compressed with gzip.", where=where, remedy="Unpack it first, with gunzip.")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadInput("the file is UTF-16.", where=where, remedy="Save it as UTF-8.")
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        raise BadInput("the file is a JSON list.", where=where, remedy="Write its elements one a line, as JSON Lines.")


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are rows, each with its number from 1 on."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        line = line.strip()
        if line and not line.startswith(b"#"):
            yield number, line


def _row(line: bytes, scorer: Scorer) -> QuestionRow:
    """Return what a line says.

    Raises:
        _Fault: it is no row; all that is wrong with it is said.
    """
    told = _object(line)
    faults: list[str] = []

    def read(reading: Callable[[Mapping[str, Any]], T], otherwise: T) -> T:
        try:
            return reading(told)
        except _Fault as fault:
            faults.append(str(fault))
            return otherwise

    faults += [_unknown(name) for name in told if name not in FIELDS]
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
    for name, there in (("id", row.id), ("question", row.question)):
        if not there and name not in named:
            faults.append(f"'{name}' is missing.")
    if scorer is Scorer.EXACT and not row.needles and "expected_substrings" not in named:
        empty = "are empty" if told.get("expected_substrings") else "are missing"
        faults.append(f"'expected_substrings' {empty}, and the exact scorer looks for nothing else.")
    if scorer is Scorer.JUDGE and not row.reference and "reference_answer" not in named:
        faults.append("'reference_answer' is missing, and the judge compares with nothing else.")
    if faults:
        raise _Fault(" ".join(faults))
    return row


def _object(line: bytes) -> dict[str, Any]:
    if len(line) > LARGEST_LINE:
        raise _Fault(f"it has {len(line):,} bytes, and a line may have {LARGEST_LINE:,}.")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Fault(f"it is not UTF-8, at byte {error.start + 1}.") from None
    try:
        told = json.loads(text, object_pairs_hook=once_each, parse_constant=_no_number, parse_int=_whole)
    except RecursionError:
        raise _Fault("it is nested too deep.") from None
    except RepeatedKey as error:
        raise _Fault(f"the field {error.name!r} stands there twice.") from None
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        raise _Fault(f"it is {'cut off' if cut else 'not valid JSON'} ({error.msg}, column {error.colno}).") from None
    if not isinstance(told, dict):
        raise _Fault("it is no JSON object.")
    return told


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, FIELDS, n=1)
    return f"there is no field {_quoted(name)}." + (f" Did you mean '{near[0]}'?" if near else "")


def _id(row: Mapping[str, Any]) -> str:
    name = _text(row, "id") or ""
    if not name.isprintable() or name != name.strip():
        raise _Fault("'id' has spaces around it, or signs that do not print.")
    return name


def _text(row: Mapping[str, Any], field: str) -> str | None:
    """Return a text; ``None`` where the field is absent, null or blank."""
    value = row.get(field)
    if value is None:
        return None
    if not isinstance(value, str):
        raise _Fault(f"'{field}' is {_kind(value)}, and text belongs there.")
    if not value.strip() and field in ("id", "question"):
        raise _Fault(f"'{field}' is blank.")
    return _fitting(value, field) if value.strip() else None


def _texts(row: Mapping[str, Any], field: str, most: int) -> tuple[str, ...]:
    """Return the texts of a list that are not blank."""
    value = row.get(field)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _Fault(f"'{field}' is {_kind(value)}, and a list of texts belongs there.")
    if wrong := [each for each in value if not isinstance(each, str)]:
        raise _Fault(f"'{field}' has {_kind(wrong[0])} in it, and texts belong there.")
    if len(value) > most:
        raise _Fault(f"'{field}' has {len(value)} texts, and there may be {most}.")
    return tuple(_fitting(each, field) for each in value if each.strip())


def _fitting(value: str, field: str) -> str:
    """Return a text that is no longer than its field may be, and that can be written anywhere."""
    if len(value) > LONGEST[field]:
        raise _Fault(f"'{field}' has a text of {len(value):,} characters, and {LONGEST[field]:,} may be.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _Fault(f"'{field}' has half a character in it (a lone surrogate).") from None
    if "\0" in value:
        raise _Fault(f"'{field}' has a NUL in it.")
    return value


def _all_of(row: Mapping[str, Any]) -> bool:
    match row.get("match"):
        case None | "any":
            return False
        case "all":
            return True
        case _:
            raise _Fault('\'match\' may be "any" or "all".')


def _asked_at(row: Mapping[str, Any]) -> str | None:
    told = [value for field in ("question_date", "questionDate") if (value := row.get(field)) is not None]
    if len(set(map(repr, told))) > 1:
        raise _Fault("'question_date' and 'questionDate' say different things.")
    if not told:
        return None
    if not isinstance(told[0], str) or not _DATE.fullmatch(told[0]):
        raise _Fault("'question_date' is no ISO 8601 date, such as 2026-01-31 or 2026-01-31T09:30:00Z.")
    try:
        datetime.fromisoformat(told[0])
    except ValueError:
        raise _Fault("'question_date' is a date that there is not.") from None
    return told[0]


def _tags(row: Mapping[str, Any]) -> tuple[str, ...]:
    tags = _texts(row, "tags", MOST_TAGS)
    if not all(tag.isprintable() for tag in tags):
        raise _Fault("'tags' has signs in it that do not print.")
    return tuple(dict.fromkeys(tag.strip() for tag in tags))


def _no_number(name: str) -> NoReturn:
    raise _Fault(f"{name} is no number.")


def _whole(text: str) -> int:
    return int(text[:20])  # no field is a number, and Python reads none of more than 4,300 digits


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def _quoted(name: str) -> str:
    """Return a name from outside as it can be shown."""
    return repr(name if len(name) <= 80 else f"{name[:80]}…")


_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)?")
