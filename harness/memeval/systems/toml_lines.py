"""Finds the lines of values in a TOML file: ``tomllib`` does not report them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

STATEMENT_LINES = 200
"""The most lines of one statement. After a longer one, no more values are located."""

Keys = tuple[str | int, ...]
"""The path of a value: keys and list indices, from the top."""


def lines_of(text: str) -> dict[Keys, int]:
    """Return the line of each value of a TOML file, from 1; for nested values, the line of their statement.

    Each statement is parsed alone; the result shows which paths it defines.

    Args:
        text: valid TOML.
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
            for path in _paths(read):
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


def _paths(value: Any, path: Keys = ()) -> Iterator[Keys]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _paths(inner, (*path, index))
