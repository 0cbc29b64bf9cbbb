"""Changing the strings in a JSON text, and nothing else of it: its spaces, its order and how it escapes signs stay."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import combinations

_LITERAL = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.S)
_COLON = re.compile(r"[ \t\r\n]*:")

_HABITS: dict[str, Callable[[str], str]] = {
    "ascii": lambda literal: json.dumps(json.loads(literal)),
    "html": lambda literal: re.sub("[<>&\u2028\u2029]", lambda sign: f"\\u{ord(sign[0]):04x}", literal),
    "slash": lambda literal: literal.replace("/", "\\/"),
    "upper": lambda literal: re.sub(r"\\u[0-9a-f]{4}", lambda sign: "\\u" + sign[0][2:].upper(), literal),
}
"""Habits of programs that write JSON: only ASCII, no HTML, no bare slash, escapes in upper case; in this order."""

STYLES = tuple(style for count in range(len(_HABITS) + 1) for style in combinations(_HABITS, count))
"""Every combination of habits, the plainest first; files name them by their places."""


def is_json(text: str) -> bool:
    """Return whether a text is a JSON object or array."""
    if text.lstrip(" \t\r\n")[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def change_literals(text: str, change: Callable[[str, str, bool], str]) -> str:
    """Return a JSON text with every string literal replaced.

    Args:
        text: the text; see :func:`is_json`.
        change: gives the new literal, quotes included, from the old one, what it stands for, and whether it is the
            name of a value.
    """

    def changed(found: re.Match[str]) -> str:
        is_name = _COLON.match(text, found.end()) is not None
        return change(found[0], json.loads(found[0]), is_name)

    return _LITERAL.sub(changed, text)


def style_of(literal: str, value: str) -> int:
    """Return how a literal is written, as a place in ``STYLES``; the plainest where it is in no known way."""
    return next((place for place in range(len(STYLES)) if written(value, place) == literal), 0)


def written(value: str, style: int) -> str:
    """Return a string as a JSON literal.

    Args:
        value: the string.
        style: a place in ``STYLES``; one that is not there is the plainest.
    """
    literal = json.dumps(value, ensure_ascii=False)
    for habit in STYLES[style] if style < len(STYLES) else ():
        literal = _HABITS[habit](literal)
    return literal
