"""Reading of untrusted files of answers: size limits and strict JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from memeval.benchmarks.data import file_bytes
from memeval.records.base import SLUG_LENGTH, Digest, RepeatedKey, digest_bytes, misfit, once_each
from memeval.records.errors import BadInput
from memeval.records.imported import Imported
from memeval.systems.channel import visible

LARGEST = 512_000_000
"""Size limit of a file of answers, in bytes."""

LARGEST_BESIDE = 64_000_000
"""Size limit of a companion file, in bytes."""

_MOST_DIGITS = 40

_MOST_VALUE = 10.0**_MOST_DIGITS

LONGEST_ID = 200
"""Largest length of an id or a name, in characters; it keeps sentences out."""

Id = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_ID)]

Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_ID)]

LONGEST_TEXT = 4_000_000
"""Largest length of a text, in characters."""


def _number_as_text(value: Any) -> Any:
    """Return a number as text: JSON has one way to write it, so an answer of ``3`` can only mean ``"3"``."""
    return str(value) if type(value) in (int, float) and abs(value) < _MOST_VALUE else value


Text = Annotated[str, BeforeValidator(_number_as_text), StringConstraints(max_length=LONGEST_TEXT)]


def missing(value: Any) -> Any:
    """Return NaN, which some programs write for a missing answer, as null."""
    return None if isinstance(value, float) and math.isnan(value) else _number_as_text(value)


Answer = Annotated[Annotated[str, StringConstraints(max_length=LONGEST_TEXT)] | None, BeforeValidator(missing)]
"""An answer; ``None`` if it is null or NaN, and the question counts as failed."""

NO_ANSWER = "the file has no answer to this question"

Amount = Annotated[float, Field(ge=0)]

Count = Annotated[int, Field(ge=0)]

R = TypeVar("R", bound=BaseModel)


class ForeignRecord(BaseModel):
    """A part of an external file: used fields are checked, all other fields are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, allow_inf_nan=False)


@dataclass(frozen=True)
class AnswerFile:
    path: Path
    data: bytes
    digest: Digest
    system: str | None = None
    """The system to read, if the file contains several; otherwise a name for the only one."""

    @classmethod
    def open(cls, path: Path, system: str | None = None) -> AnswerFile:
        """Read a file. Raises ``BadInput``: the file is missing, unreadable, too large, or empty."""
        data = _bytes(path, LARGEST)
        return cls(path, data, digest_bytes(data), system)

    def json(self) -> Any:
        """Return the file's one JSON value, or the :class:`Lines` of a file of JSON lines.

        Raises ``BadInput``: the file is not valid JSON.
        """
        return self._document

    @cached_property
    def _document(self) -> Any:
        return read_document(self.data, self.path)

    def rows(self) -> Iterator[tuple[str, Any]]:
        """Yield the elements of a JSON list, the JSON values of lines, or a single object, each with its location.

        Raises ``BadInput``: the file is not JSON.
        """
        document = self.json()
        if isinstance(document, Lines):
            yield from ((f"{self.path}:{number}", value) for number, value in document)
        elif isinstance(document, list):
            yield from placed(listed(document, self.path), self.path)
        else:
            yield f"{self.path}:1", document

    def beside(self, name: str) -> Any | None:
        """Return the JSON value of a file in the same folder; ``None`` if there is no such file.

        Raises ``BadInput``: the file exists but is invalid.
        """
        path = self.path.with_name(name)
        return parsed(_bytes(path, LARGEST_BESIDE), path) if path.is_file() else None


_OTHER_FORMATS = (
    (b"\x1f\x8b", "compressed with gzip", "Unpack it with gunzip."),
    (b"PK\x03\x04", "a ZIP archive", "Unpack it."),
    (b"PAR1", "a Parquet table", "Save it as JSON lines or CSV."),
    (b"SQLite format 3", "an SQLite database", "Save the answers as JSON lines or CSV."),
)

_LINE_END = re.compile(r"\r\n|\n|\r")
_AROUND = "\ufeff \t"


class Lines(list[tuple[int, Any]]):
    """The JSON values of a file of JSON lines, each with the number of its line."""


def read_document(data: bytes, where: object, *, torn: bool = False) -> Any:
    """Return the JSON value of a file, or its :class:`Lines`.

    ``torn``: whether a line that is not JSON is ``None``, and not refused. Raises ``BadInput``: the file is neither.
    """
    text = decoded(data, where)
    found = ((number, line.strip(_AROUND)) for number, line in enumerate(_LINE_END.split(text), start=1))
    lines = [(number, line) for number, line in found if line]
    if lines and lines[0][1].startswith("<"):
        refuse("this is HTML, not JSON.", where, "The address serves a page. Use the address of the raw file.")
    if not lines:
        refuse("the file is empty.", where, "Name a file of answers.")
    if len(lines) < 2 or not lines[0][1].startswith(("{", "[")):
        return parsed(data, where)
    if not _is_value(lines[0][1]):
        try:
            return parsed(data, where)
        except BadInput:
            if not lines[0][1].startswith("{") or not _is_value(lines[1][1]):
                raise
    values = Lines()
    for number, line in lines:
        try:
            values.append((number, parsed(line.encode(), f"{where}:{number}")))
        except BadInput:
            if not torn:
                raise
            values.append((number, None))
    return values


def _is_value(line: str) -> bool:
    """Return whether a line is an object, or a list with something in it, and not the first line of a longer value."""
    if line[:1] + line[-1:] not in ("{}", "[]"):
        return False
    try:
        return bool(json.loads(line)) or line[0] == "{"
    except (ValueError, RecursionError):
        return False


def decoded(data: bytes, where: object) -> str:
    """Return the text of a file: UTF-8, with or without a byte order mark.

    Raises ``BadInput``: the file has another encoding.
    """
    for start, what, remedy in _OTHER_FORMATS:
        if data.startswith(start):
            refuse(f"the file is {what}, not text.", where, remedy)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        refuse("not UTF-8 at byte 0: the file is UTF-16.", where, "Save the file as UTF-8.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        refuse(f"not UTF-8 at byte {error.start:,}, in line {line:,}.", where, "Save the file as UTF-8.")


def parsed(data: bytes, where: object) -> Any:
    """Return a JSON value: UTF-8, no duplicate keys.

    NaN, infinities and numbers out of range are read as floats that are not finite; a field with one is refused only
    where it is used. Raises ``BadInput``: the bytes are not such JSON.
    """
    text = decoded(data, where)
    try:
        return json.loads(text, parse_float=_limited(float), parse_int=_limited(int), object_pairs_hook=once_each)
    except RecursionError:
        refuse("JSON nested too deeply.", where, "Name a file of answers.")
    except RepeatedKey as error:
        refuse(f"not valid JSON ({error}).", where, "Keep each key once.")
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
            refuse("the file is cut off: it ends in the middle of a value.", where, "Download the file again.")
        refuse(f"not valid JSON ({error}).", where, "Correct the file, or download it again.")


def listed(value: Any, where: object) -> list[Any]:
    """Return a value that must be a non-empty list. Raises ``BadInput``: the value is no list, or an empty one."""
    if not isinstance(value, list):
        refuse(f"expected a JSON list, found {kind_of(value)}.", where, "Try another --format.")
    if not value:
        refuse("the file contains no answers.", where)
    return value


def placed(values: Iterable[Any], where: object) -> Iterator[tuple[str, Any]]:
    for number, value in enumerate(values, start=1):
        yield f"{where}: element {number}", value


def fitted(model: type[R], value: Any, where: object) -> R:
    """Validate a JSON object as a record.

    Raises ``BadInput``: the value does not fit; the message names the first problem.
    """
    if isinstance(value, Lines):
        refuse(f"expected one JSON object, found {len(value):,} lines of JSON.", where, "Try another --format.")
    if not isinstance(value, dict):
        refuse(f"expected a JSON object, found {kind_of(value)}.", where, "Try another --format.")
    try:
        return model.model_validate_json(json.dumps(value))
    except ValidationError as error:
        refuse(misfit(model, error), where, "Correct or remove this field, or try another --format.")


def once(ids: Iterable[tuple[str, str]]) -> None:
    """Refuse two answers to the same question.

    ``ids``: location and question id of each answer. Raises ``BadInput``: a question has two answers.
    """
    answered: set[str] = set()
    for where, question_id in ids:
        if question_id in answered:
            refuse(
                f"second answer to the question '{visible(question_id)}'.",
                where,
                "Keep one answer per question in the file.",
            )
        answered.add(question_id)


def refuse(problem: str, where: object, remedy: str | None = None) -> NoReturn:
    """Refuse a file. Raises ``BadInput``: always."""
    raise BadInput(problem, where=where, remedy=remedy)


def _bytes(path: Path, largest: int) -> bytes:
    data = file_bytes(path, largest, "Name a file of answers.")
    if not data.strip():
        refuse("the file is empty.", path)
    return data


def kind_of(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _limited(kind: type[int] | type[float]) -> Callable[[str], float]:
    return lambda text: kind(text) if len(text) <= _MOST_DIGITS or kind is float else math.inf


UNKNOWN_VERSION = "not stated"

UNKNOWN_SOURCE = "unknown:"
"""Prefix of a source that the benchmark does not have, so that it never equals one of memeval's ordinals."""


@dataclass(frozen=True)
class ImportedAnswer:
    question_id: str
    text: str
    """The answer; blank if absent."""
    sources: tuple[str, ...] | None = None
    """The source's ids of retrieved sessions or turns, best first; ``None`` if the file lists none."""
    error: str | None = None
    """The error, if the system failed; ``None`` otherwise."""
    seconds: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    reported_tokens: float | None = None
    """Tokens of context, self-reported."""


@dataclass(frozen=True)
class ImportedAnswers:
    system: str
    version: str
    """The system's version, or :data:`UNKNOWN_VERSION`."""
    slug: str
    answers: tuple[ImportedAnswer, ...]
    """At most one per question."""
    imported: Imported
    """Origin of the answers. The import adds missing and unknown questions."""
    column: str | None = None
    """The system's column in a file with several systems; ``None`` if the format has one system per file."""

    @property
    def has_rankings(self) -> bool:
        return any(answer.sources is not None for answer in self.answers)


def slug_of(name: str, format_name: str) -> str:
    """Return a slug for an external name. The format is appended, so that it differs from slugs of submissions."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    longest = SLUG_LENGTH - len(format_name) - 1
    return f"{words[:longest].strip('-') or 'unnamed'}-{format_name}"


def imported_answers(
    file: AnswerFile,
    format_name: str,
    system: str,
    answers: Iterable[ImportedAnswer],
    *,
    version: str | None = None,
    column: str | None = None,
    **origin: Any,
) -> ImportedAnswers:
    """Return the answers of a file. ``origin``: further fields of :class:`Imported`."""
    return ImportedAnswers(
        system=system,
        version=version or UNKNOWN_VERSION,
        slug=slug_of(system, format_name),
        answers=tuple(answers),
        imported=Imported(format=format_name, file=file.path.name, digest=file.digest, **origin),
        column=column,
    )
