"""Reading files of answers: hostile until the contrary is shown, bounded, and strict about what JSON is."""

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
"""A file of answers is no larger than this many bytes."""

LARGEST_BESIDE = 64_000_000
"""The same for a file that lies beside one."""

_MOST_DIGITS = 40
"""Digits of a whole number: more are no count of anything."""

Id = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""An id of someone else's: no longer than ids are, so that no sentence passes for one."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""A name of someone else's."""

Text = Annotated[str, StringConstraints(max_length=4_000_000)]
"""A text of someone else's."""

Amount = Annotated[float, Field(ge=0)]
"""Something that is counted or measured, from nothing up."""

Count = Annotated[int, Field(ge=0)]
"""Something that is counted, from nothing up."""

R = TypeVar("R", bound=BaseModel)


class ForeignRecord(BaseModel):
    """A part of someone else's file: what is used of it is checked, and what is not used is let be."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, allow_inf_nan=False)


@dataclass(frozen=True)
class AnswerFile:
    """A file of answers."""

    path: Path
    data: bytes
    digest: Digest
    """Digest of its bytes."""
    system: str | None = None
    """Which of several systems' answers in it are wanted; where there is one only, what that system is called."""

    @classmethod
    def open(cls, path: Path, system: str | None = None) -> AnswerFile:
        """Read a file.

        Raises:
            BadInput: it is missing, cannot be read, is too large, or is empty.
        """
        data = _bytes(path, LARGEST)
        return cls(path, data, digest_bytes(data), system)

    def json(self) -> Any:
        """Return what is in the file, one JSON value.

        Raises:
            BadInput: the file is not that.
        """
        return parsed(self.data, self.path)

    def rows(self) -> Iterator[tuple[str, Any]]:
        """Yield the elements of a JSON list, or the JSON values of lines, each with where it stands.

        Raises:
            BadInput: the file is neither.
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
        """Return what is in a JSON file beside this one; ``None`` where there is no such file.

        Raises:
            BadInput: the file is there, and cannot be read.
        """
        path = self.path.with_name(name)
        return parsed(_bytes(path, LARGEST_BESIDE), path) if path.is_file() else None


def parsed(data: bytes, where: object) -> Any:
    """Return a JSON value: UTF-8, finite numbers, and no key twice in one object.

    Raises:
        BadInput: the bytes are not that.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        refuse(f"not UTF-8 at byte {error.start:,}.", where, "Save the file as UTF-8.")
    try:
        return json.loads(
            text, parse_constant=_no_number, parse_float=_finite, parse_int=_whole, object_pairs_hook=once_each
        )
    except RecursionError:
        refuse("nested too deep to be answers.", where, "Name a file of answers.")
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError) and (
            error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        ):
            refuse("the file is cut off: it ends in the middle of a value.", where, "Fetch the file again.")
        refuse(f"not valid JSON ({error}).", where)


def listed(value: Any, where: object) -> list[Any]:
    """Return a value that has to be a list with something in it.

    Raises:
        BadInput: it is none, or there is nothing in it.
    """
    if not isinstance(value, list):
        refuse(f"expected a JSON list, found {_kind(value)}.", where, "Name another --format?")
    if not value:
        refuse("there are no answers in it.", where)
    return value


def placed(values: Iterable[Any], where: object) -> Iterator[tuple[str, Any]]:
    """Yield the elements of a list, each with where it stands."""
    for number, value in enumerate(values, start=1):
        yield f"{where}: element {number}", value


def fitted(model: type[R], value: Any, where: object) -> R:
    """Return a value as what it should be.

    Raises:
        BadInput: it is something else; the first misfit is named.
    """
    if not isinstance(value, dict):
        refuse(f"expected a JSON object, found {_kind(value)}.", where, "Name another --format?")
    return validated(model, value, where)


def once(ids: Iterable[tuple[str, str]]) -> None:
    """Refuse answers of which some are to the same question.

    Args:
        ids: where each answer stands, and its question.

    Raises:
        BadInput: a question is answered twice.
    """
    seen: set[str] = set()
    for where, question_id in ids:
        if question_id in seen:
            refuse(
                f"the question '{visible(question_id)}' is answered a second time.",
                where,
                "Leave one answer a question in the file: which one counts is not for memeval to choose.",
            )
        seen.add(question_id)


def refuse(problem: str, where: object, remedy: str | None = None) -> NoReturn:
    """Refuse a file.

    Raises:
        BadInput: always.
    """
    raise BadInput(problem, where=where, remedy=remedy)


def _bytes(path: Path, largest: int) -> bytes:
    try:
        if path.exists() and not path.is_file():
            refuse("this is no file.", path, "Name a file of answers.")
        with path.open("rb") as stream:
            data = stream.read(largest + 1)
    except FileNotFoundError:
        refuse("there is no such file.", path)
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


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is out of range")
    return number


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"{text[:40]}… is out of range")
    return int(text)
