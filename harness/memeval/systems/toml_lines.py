"""Where in a TOML file a value stands: ``tomllib`` tells what it reads, and not where."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

STATEMENT_LINES = 200
"""Lines that one statement may have; where one has more, what comes after is not located."""

Keys = tuple[str | int, ...]
"""Keys and places of lists, from the top down to a value."""


def lines_of(text: str) -> dict[Keys, int]:
    """Return the line that each value of a TOML file begins on, from 1; of nested ones, that of their statement.

    Statement after statement is read on its own, and what is read says which path it makes.

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
    held: list[str] = []
    start = 1
    for number, line in enumerate(text.split("\n"), 1):
        if not held:
            start = number
        held.append(line)
        if len(held) > STATEMENT_LINES:
            return
        source = "\n".join(held) + "\n"
        try:
            empty = not tomllib.loads(source)
        except tomllib.TOMLDecodeError:
            continue
        held = []
        if not empty:
            yield start, source


def _table(read: dict[str, Any], counts: dict[Keys, int]) -> Keys:
    """Return the path that a header opens; ``counts`` has how many tables each list of tables has so far."""
    path: Keys = ()
    here: Any = read
    while here:
        if isinstance(here, list):
            counts[path] = counts.get(path, 0) + 1
            here = here[0]
        else:
            (key,) = here
            here = here[key]
            path += (key,)
        if isinstance(here, dict) and path in counts:
            path += (counts[path] - 1,)
    return path


def _paths(value: Any, path: Keys = ()) -> Iterator[Keys]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _paths(inner, (*path, place))
