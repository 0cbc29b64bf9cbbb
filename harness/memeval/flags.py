"""How the field of an option record is written on the command line, where it differs from the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class OptionForm:
    """An option of the command line."""

    name: str | None = None
    """Its name, such as ``--ask-seconds``; ``None`` for that of the field."""
    metavar: str | None = None
    """The placeholder of its value; ``None`` for that of its type."""
    environment: str | None = None
    """The environment variable that gives its default."""
    kind: str | None = None
    """The type of its value, as an annotation; ``None`` for that of the field."""
    read: Callable[[Any], Any] | None = None
    """Turns its value into that of the field."""


KEY = "flag"
"""The key of a :class:`OptionForm` in the metadata of a field."""

PYTHON_ONLY: Mapping[str, None] = {KEY: None}
"""The metadata of a field that is no option of the command line."""


def flag(
    name: str | None = None,
    *,
    metavar: str | None = None,
    environment: str | None = None,
    kind: str | None = None,
    read: Callable[[Any], Any] | None = None,
) -> Mapping[str, OptionForm]:
    """Return the metadata of a field; see :class:`OptionForm`."""
    return {KEY: OptionForm(name, metavar, environment, kind, read)}
