"""Reads TOML files, and names the line of every value that is not valid.

``tomllib`` does not report the lines of values, so :func:`lines_of` finds them.
"""

import datetime
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from memeval.records.base import first_misfit, misfit
from memeval.records.errors import BadInput, NewerSchema

LARGEST = 64_000
"""The maximum size of a file that people write, in bytes."""

STATEMENT_LINES = 200
"""The most lines of one statement. After a longer one, no more values are located."""

Keys = tuple[str | int, ...]
"""The path of a value: keys and list indices, from the top."""

R = TypeVar("R", bound=BaseModel)

_PLAIN = {"Cannot overwrite a value": "a key occurs twice", "Invalid value": "invalid value. Texts need quotes"}
"""Plain words for messages of ``tomllib``."""


@dataclass(frozen=True)
class Toml:
    """The content of a TOML file."""

    where: object
    """The file, named in errors."""
    text: str
    data: dict[str, Any]
    above: Keys = ()
    """The path of the data, if it is only a part of the file."""

    @cached_property
    def _lines(self) -> dict[Keys, int]:
        return lines_of(self.text)

    def place(self, *keys: str | int) -> str:
        """Return ``file:line`` of a value; for a missing value, of the table around it."""
        keys = (*self.above, *keys)
        while keys and keys not in self._lines:
            keys = keys[:-1]
        return f"{self.where}:{self._lines[keys]}" if keys else str(self.where)

    def has(self, keys: Keys) -> bool:
        value: Any = self.data
        for key in keys:
            inside = key in value if isinstance(value, dict) else isinstance(value, list) and key in range(len(value))
            if not inside:
                return False
            value = value[key]
        return True

    def unsuitable(self) -> list[BadInput]:
        """Return an error for each TOML value that no record can hold, such as a date."""
        return [
            BadInput(f"'{_named(keys)}' is {what}.", where=self.place(*keys), remedy=remedy)
            for keys, what, remedy in _unsuitable(self.data)
        ]

    def record(self, model: type[R], remedies: Mapping[str, str] | None = None) -> R:
        """Return the data as a record.

        ``remedies``: the remedy for an invalid value, by a key of its path; the last key of the path comes first.
        Raises ``NewerSchema`` if a later memeval wrote the file. Raises ``BadInput`` if a value is not valid; the
        message names its line.
        """
        version = self.data.get("schema_version", 1)
        if isinstance(version, int) and version > 1:
            problem = f"has schema version {version}, and this memeval reads version 1."
            raise NewerSchema(problem, where=self.place("schema_version"), remedy="Update memeval.")
        try:
            if faults := self.unsuitable():
                raise faults[0]
            return model.model_validate_json(json.dumps(self.data))
        except RecursionError:
            raise BadInput("is nested too deeply.", where=self.where) from None
        except ValidationError as error:
            keys: Keys = first_misfit(error)["loc"]
            while keys and not self.has(keys):  # what a union adds to the path
                keys = keys[:-1]
            remedy = next((remedies[str(key)] for key in reversed(keys) if remedies and str(key) in remedies), None)
            raise BadInput(misfit(model, error), where=self.place(*keys), remedy=remedy) from None


def read_toml(path: Path, largest: int = LARGEST) -> Toml:
    """Read a TOML file. Raises ``BadInput`` if it cannot be read, is too large, or is not UTF-8 text or valid TOML."""
    return parse_toml(toml_content(path, largest), path)


def toml_content(path: Path, largest: int = LARGEST) -> bytes:
    """Return the content of a TOML file. Raises ``BadInput`` if it cannot be read, or is too large."""
    try:
        size = path.stat().st_size
        if size > largest:
            raise BadInput(f"has {size} bytes; the limit is {largest}.", where=path)
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}).", where=path) from None


def parse_toml(content: bytes, where: object) -> Toml:
    """Parse the content of a TOML file. Raises ``BadInput`` if it is not UTF-8 text or valid TOML."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        bad = content.count(b"\n", 0, error.start) + 1
        raise BadInput("is not UTF-8 text.", where=f"{where}:{bad}", remedy="Save the file as UTF-8.") from None
    try:
        return Toml(where, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        found = re.fullmatch(r"(?P<problem>.*) \(at (?:line (?P<line>\d+), column \d+|end of document)\)", str(error))
        problem = found["problem"] if found else str(error)
        line = (found and found["line"]) or text.count("\n") + 1
        problem = f"not valid TOML: {_PLAIN.get(problem, problem)}."
        raise BadInput(problem, where=f"{where}:{line}", remedy="Correct the line.") from None
    except ValueError:  # Python refuses numbers of more than 4,300 digits
        raise BadInput("not valid TOML: a number is too long.", where=where) from None
    except RecursionError:
        raise BadInput("is nested too deeply.", where=where) from None


def _inside(value: Any, keys: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Yield each value inside tables and lists, with its path."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*keys, key), inner
            yield from _inside(inner, (*keys, key))


def _unsuitable(data: dict[str, Any]) -> Iterator[tuple[Keys, str, str]]:
    """Yield each TOML value that a record cannot hold: its path, its kind, and the remedy."""
    for keys, value in _inside(data):
        if isinstance(value, datetime.date | datetime.time):
            yield keys, "a date", "Put it in quotes."
        elif isinstance(value, float) and not math.isfinite(value):
            yield keys, "not a finite number", "Give a number."
        elif isinstance(value, int) and abs(value) >= 2**63:
            yield keys, "too large a number", "Put it in quotes, or use a smaller one."


def lines_of(text: str) -> dict[Keys, int]:
    """Return the line of each value of a TOML file, from 1; for nested values, the line of their statement.

    Each statement is parsed alone; the result shows which paths it defines. ``text``: valid TOML.
    """
    found: dict[Keys, int] = {}
    counts: dict[Keys, int] = {}
    table: Keys = ()
    for number, source in _statements(text):
        read = tomllib.loads(source)
        if source.lstrip().startswith("["):
            table = _table(read, counts)
            for end in range(1, len(table) + 1):
                found.setdefault(table[:end], number)
        else:
            for path, _value in _inside(read):
                found.setdefault(table + path, number)
    return found


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each statement of a TOML file with its first line."""
    pending: list[str] = []
    start = 1
    for number, line in enumerate(text.split("\n"), 1):
        if not pending:
            start = number
        pending.append(line)
        if len(pending) > STATEMENT_LINES:
            return
        source = "\n".join(pending) + "\n"
        try:
            empty = not tomllib.loads(source)
        except tomllib.TOMLDecodeError:
            continue
        pending = []
        if not empty:
            yield start, source


def _table(read: dict[str, Any], counts: dict[Keys, int]) -> Keys:
    """Return the path of a table header; ``counts`` has the number of tables in each list of tables so far."""
    path: Keys = ()
    value: Any = read
    while value:
        if isinstance(value, list):
            counts[path] = counts.get(path, 0) + 1
            value = value[0]
        else:
            (key,) = value
            value = value[key]
            path += (key,)
        if isinstance(value, dict) and path in counts:
            path += (counts[path] - 1,)
    return path


def _named(keys: Keys) -> str:
    """Return the name of a place for people, with characters that are not printable as escapes."""
    text = ".".join(map(str, keys))
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


T = TypeVar("T")


def read_words(package: str, name: str, kind: type[T]) -> T:
    text = (resources.files(package) / name).read_text("utf-8")
    return TypeAdapter(kind).validate_python(tomllib.loads(text))
