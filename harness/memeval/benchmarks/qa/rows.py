"""Reads question sets in JSON Lines and reports all errors of a file at once."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from memeval.benchmarks.data import file_bytes
from memeval.benchmarks.formats.reading import decoded, parsed
from memeval.benchmarks.qa.keys import has_characters
from memeval.records.base import EXPECTED
from memeval.records.errors import BadInput, did_you_mean
from memeval.systems.channel import visible

LARGEST_FILE = 64 << 20
"""Largest file, in bytes."""

MOST_ROWS = 10_000
MOST_FAULTS = 50
"""Maximum rows of a file, and rows with errors that a message names."""

REMEDY = "Fix the file and run again."

_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)?")


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


def _printable(text: str) -> str:
    if text != text.strip() or not text.isprintable():
        raise PydanticCustomError("name", "must be printable, without spaces around it")
    return text


def _plain(text: str) -> str:
    if "\0" in text:
        raise PydanticCustomError("nul", "must not contain a NUL character")
    return text


def _stated(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "must not be blank")
    return _plain(text)


def _date(text: str) -> str:
    try:
        datetime.fromisoformat(text if _DATE.fullmatch(text) else "")
    except ValueError:
        problem = "must be an ISO 8601 date that exists, such as 2026-01-31T09:30:00Z"
        raise PydanticCustomError("date", problem) from None
    return text


Needle = Annotated[str, Field(max_length=1_000), AfterValidator(_plain)]
Tag = Annotated[str, Field(max_length=40), AfterValidator(str.strip), AfterValidator(_printable)]
Date = Annotated[str, AfterValidator(_date)]


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", defer_build=True)

    id: Annotated[str, Field(max_length=200), AfterValidator(_stated), AfterValidator(_printable)]
    question: Annotated[str, Field(max_length=20_000), AfterValidator(_stated)]
    expected_substrings: Annotated[list[Needle], Field(max_length=100)] | None = None
    reference_answer: Annotated[str, Field(max_length=100_000), AfterValidator(_plain)] | None = None
    question_date: Date | None = None
    questionDate: Date | None = None
    tags: Annotated[list[Tag], Field(max_length=20)] | None = None
    match: Literal["any", "all"] | None = None
    """An addition of memeval: ``any`` of the expected words, the default, or ``all`` of them."""

    def row(self) -> QuestionRow:
        return QuestionRow(
            id=self.id,
            question=self.question,
            needles=tuple(each for each in self.expected_substrings or () if has_characters(each)),
            all_of=self.match == "all",
            reference=self.reference_answer if self.reference_answer and self.reference_answer.strip() else None,
            asked_at=self.question_date or self.questionDate,
            tags=tuple(dict.fromkeys(filter(None, self.tags or ()))),
        )


FIELDS = tuple(_Line.model_fields)


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
    rows: list[QuestionRow] = []
    faults: list[str] = []
    line_of: dict[str, int] = {}
    for number, line in _lines(data, where):
        try:
            row = _row(line, scorer)
            if row.id in line_of:
                raise _Fault(f"the id '{visible(row.id)}' is already used in line {line_of[row.id]}.")
            line_of[row.id] = number
            rows.append(row)
        except (_Fault, BadInput) as fault:
            problem = fault.problem.replace("the file", "the line") if isinstance(fault, BadInput) else str(fault)
            faults.append(f"line {number}: {problem}")
        if len(rows) > MOST_ROWS:
            raise BadInput(f"the file has more than {MOST_ROWS:,} rows.", where=where, remedy="Split the file.")
    if faults:
        more = [f"… and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
        listed = "\n  ".join([*faults[:MOST_FAULTS], *more])
        count = "1 row is invalid" if len(faults) == 1 else f"{len(faults):,} rows are invalid"
        raise BadInput(f"{count}.\n  {listed}\n ", where=where, remedy=REMEDY)
    if not rows:
        raise BadInput("the file has no rows.", where=where, remedy="Write one JSON object per line.")
    return tuple(rows)


def _lines(data: bytes, where: object) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with rows, each with its number from 1."""
    if not data.strip():
        raise BadInput("the file is empty.", where=where, remedy="Write one JSON object per line.")
    text = decoded(data, where)
    if text.lstrip().startswith("["):
        raise BadInput("the file is a JSON list.", where=where, remedy="Write one element per line (JSON Lines).")
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if line and not line.startswith("#"):
            yield number, line.encode()


def _row(line: bytes, scorer: Scorer) -> QuestionRow:
    """Return the row of a line. Raises ``BadInput`` or ``_Fault``: the row is invalid. Lists all its errors."""
    fields = parsed(line, None)
    if not isinstance(fields, dict):
        raise _Fault("not a JSON object.")
    try:
        read = _Line.model_validate(fields)
    except ValidationError as error:
        raise _Fault(" ".join(map(_sentence, error.errors(include_url=False, include_input=False)))) from None
    row = read.row()
    if read.question_date and read.questionDate and read.question_date != read.questionDate:
        raise _Fault("'question_date' and 'questionDate' differ.")
    if scorer is Scorer.EXACT and not row.needles:
        raise _Fault("'expected_substrings' is missing or blank. The exact scorer needs it.")
    if scorer is Scorer.JUDGE and not row.reference:
        raise _Fault("'reference_answer' is missing or blank. The judge needs it.")
    return row


def _sentence(each: ErrorDetails) -> str:
    name = visible(".".join(map(str, each["loc"])))[:80]
    if each["type"] == "extra_forbidden":
        return f"unknown field '{name}'. {did_you_mean(name, FIELDS)}".rstrip()
    if each["type"] == "missing":
        return f"'{name}' is missing."
    expected = EXPECTED.get(each["type"])
    return f"'{name}': {each['msg'] if expected is None else f'{expected} belongs here'}."
