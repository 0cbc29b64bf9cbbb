"""Reading of untrusted files of answers: size limits and strict JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from memeval.records.base import Digest, digest_bytes, once_each, validated
from memeval.records.errors import BadInput
from memeval.systems.output import visible

LARGEST = 512_000_000
"""Size limit of a file of answers, in bytes."""

LARGEST_BESIDE = 64_000_000
"""Size limit of a companion file, in bytes."""

_MOST_DIGITS = 40
"""Largest number of digits in a whole number."""

Id = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""An external id; the length limit keeps sentences out."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""An external name."""

Text = Annotated[str, StringConstraints(max_length=4_000_000)]
"""An external text."""

Amount = Annotated[float, Field(ge=0)]
"""A count or measurement, at least 0."""

Count = Annotated[int, Field(ge=0)]
"""A count, at least 0."""

R = TypeVar("R", bound=BaseModel)


class ForeignRecord(BaseModel):
    """A part of an external file: used fields are checked, all other fields are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, allow_inf_nan=False)


@dataclass(frozen=True)
class AnswerFile:
    """A file of answers."""

    path: Path
    data: bytes
    digest: Digest
    """Digest of the bytes."""
    system: str | None = None
    """The system to read, if the file contains several; otherwise a name for the only one."""

    @classmethod
    def open(cls, path: Path, system: str | None = None) -> AnswerFile:
        """Read a file.

        Raises:
            BadInput: the file is missing, unreadable, too large, or empty.
        """
        data = _bytes(path, LARGEST)
        return cls(path, data, digest_bytes(data), system)

    def json(self) -> Any:
        """Return the file's one JSON value.

        Raises:
            BadInput: the file is not valid JSON.
        """
        return parsed(self.data, self.path)

    def rows(self) -> Iterator[tuple[str, Any]]:
        """Yield the elements of a JSON list, or the JSON values of lines, each with its location.

        Raises:
            BadInput: the file is neither a JSON list nor JSON lines.
        """
        if self.data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
            yield from placed(listed(self.json(), self.path), self.path)
            return
        found = False
        for number, line in enumerate(self.data.split(b"\n"), start=1):
            if line.strip():
                found = True
                yield f"{self.path}:{number}", parsed(line, f"{self.path}:{number}")
        if not found:
            refuse("the file is empty.", self.path)

    def beside(self, name: str) -> Any | None:
        """Return the JSON value of a file in the same folder; ``None`` if there is no such file.

        Raises:
            BadInput: the file exists but is invalid.
        """
        path = self.path.with_name(name)
        return parsed(_bytes(path, LARGEST_BESIDE), path) if path.is_file() else None


def parsed(data: bytes, where: object) -> Any:
    """Return a JSON value: UTF-8, finite numbers, no duplicate keys.

    Raises:
        BadInput: the bytes are not such JSON.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        refuse(f"not UTF-8 at byte {error.start:,}.", where, "Save the file as UTF-8.")
    try:
        return json.loads(
            text, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_whole, object_pairs_hook=once_each
        )
    except RecursionError:
        refuse("JSON nested too deeply.", where, "Name a file of answers.")
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError) and (
            error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        ):
            refuse("the file is cut off: it ends in the middle of a value.", where, "Download the file again.")
        refuse(f"not valid JSON ({error}).", where)


def listed(value: Any, where: object) -> list[Any]:
    """Return a value that must be a non-empty list.

    Raises:
        BadInput: the value is no list, or an empty one.
    """
    if not isinstance(value, list):
        refuse(f"expected a JSON list, found {_kind(value)}.", where, "Try another --format.")
    if not value:
        refuse("the file contains no answers.", where)
    return value


def placed(values: Iterable[Any], where: object) -> Iterator[tuple[str, Any]]:
    """Yield the elements of a list, each with its location."""
    for number, value in enumerate(values, start=1):
        yield f"{where}: element {number}", value


def fitted(model: type[R], value: Any, where: object) -> R:
    """Validate a JSON object as a record.

    Raises:
        BadInput: the value does not fit; the message names the first problem.
    """
    if not isinstance(value, dict):
        refuse(f"expected a JSON object, found {_kind(value)}.", where, "Try another --format.")
    return validated(model, value, where)


def once(ids: Iterable[tuple[str, str]]) -> None:
    """Refuse two answers to the same question.

    Args:
        ids: location and question id of each answer.

    Raises:
        BadInput: a question has two answers.
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
    """Refuse a file.

    Raises:
        BadInput: always.
    """
    raise BadInput(problem, where=where, remedy=remedy)


def _bytes(path: Path, largest: int) -> bytes:
    try:
        if path.exists() and not path.is_file():
            refuse("not a file.", path, "Name a file of answers.")
        with path.open("rb") as stream:
            data = stream.read(largest + 1)
    except FileNotFoundError:
        refuse("file not found.", path, "Check the path.")
    except OSError as error:
        refuse(f"the file cannot be read ({error.strerror}).", path)
    if len(data) > largest:
        refuse(f"the file is larger than {largest:,} bytes.", path, "Name a file of answers.")
    if not data.strip():
        refuse("the file is empty.", path)
    return data


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is out of range")
    return number


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"{text[:40]}… is out of range")
    return int(text)
