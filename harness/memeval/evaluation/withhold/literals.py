"""Replacing string literals in a JSON text; spaces, order and escaping stay unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import combinations

_LITERAL = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.S)
_COLON = re.compile(r"[ \t\r\n]*:")

_ESCAPING: dict[str, Callable[[str], str]] = {
    "ascii": lambda literal: json.dumps(json.loads(literal)),
    "html": lambda literal: re.sub("[<>&\u2028\u2029]", lambda sign: f"\\u{ord(sign[0]):04x}", literal),
    "slash": lambda literal: literal.replace("/", "\\/"),
    "upper": lambda literal: re.sub(r"\\u[0-9a-f]{4}", lambda sign: "\\u" + sign[0][2:].upper(), literal),
}
"""Escaping options of JSON writers: ASCII only, no HTML, escaped slashes, upper-case escapes; in this order."""

STYLES = tuple(style for count in range(len(_ESCAPING) + 1) for style in combinations(_ESCAPING, count))
"""All combinations of escaping options, the simplest first; files refer to them by index."""


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
        change: returns the new literal, with quotes. Its arguments are the old literal, its value, and whether it is
            the name of a value.
    """

    def changed(found: re.Match[str]) -> str:
        is_name = _COLON.match(text, found.end()) is not None
        return change(found[0], json.loads(found[0]), is_name)

    return _LITERAL.sub(changed, text)


def style_of(literal: str, value: str) -> int:
    """Return a literal's style as an index in ``STYLES``; 0 if the style is unknown."""
    return next((style for style in range(len(STYLES)) if written(value, style) == literal), 0)


def written(value: str, style: int) -> str:
    """Return a string as a JSON literal.

    Args:
        value: the string.
        style: an index in ``STYLES``; other numbers mean the simplest style.
    """
    literal = json.dumps(value, ensure_ascii=False)
    for option in STYLES[style] if style < len(STYLES) else ():
        literal = _ESCAPING[option](literal)
    return literal
