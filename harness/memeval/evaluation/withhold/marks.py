"""Quoting of texts with marks, also in the string literals of JSON, and restoring of quoted texts."""

import json
import re
from collections.abc import Callable
from itertools import combinations

from memeval.records.errors import BadInput

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
    if text.lstrip(" \t\r\n")[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def change_literals(text: str, change: Callable[[str, str, bool], str]) -> str:
    """Return a JSON text with every string literal replaced.

    ``change``: returns the new literal, with quotes. Its arguments are the old literal, its value, and whether it is
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
    """Return a string as a JSON literal. ``style``: an index in ``STYLES``; other numbers mean the simplest style."""
    literal = json.dumps(value, ensure_ascii=False)
    for option in STYLES[style] if style < len(STYLES) else ():
        literal = _ESCAPING[option](literal)
    return literal


LONGEST = 256_000_000
"""Limit of a restored text, in characters."""

MARK = re.compile("⟦([^⟧]*)⟧")
"""A mark. The character ``⟦`` occurs in marks only."""

_TEXT = "⟦text⟧"
_ESCAPED = "u27e6"
"""What JSON at any depth writes for the first character of a mark, after backslashes, in lower case."""

_JSON = re.compile(r"⟦json (\d{1,2})⟧")

Change = Callable[[str], str]


def plain(text: str) -> str:
    """Escape the character ``⟦`` in a text without marks."""
    return text.replace("⟦", "⟦⟧")


def as_text(made: str) -> str:
    """Prefix a text that was quoted as a whole if it looks like JSON."""
    return _TEXT + made if is_json(made) else made


def left(made: str) -> int:
    return len(MARK.sub("", made))


def quoted(text: str, quote: Change, spell: Change, keep: frozenset[str] = frozenset(), *, names: bool = False) -> str:
    """Quote a text: the strings of JSON, else the whole text.

    ``quote``: quotes a part; its result contains the character ``⟦`` in marks only. ``keep``: JSON strings that stay
    unchanged. ``names``: whether the names of values in JSON are quoted too.
    """
    if not is_json(text):
        return as_text(quote(text))
    made = _quoted_json(text, quote, spell, keep, names)
    return made if unquoted(made, spell, keep) == text else _TEXT + quote(text)


def unquoted(text: str, spell: Change, keep: frozenset[str] = frozenset()) -> str:
    """Restore a quoted text. Raises ``BadInput`` if a mark is invalid, or the restored text exceeds the limit."""
    if "⟦" not in text and not ("27e6" in text or "27E6" in text):  # most texts; see _ESCAPED
        return text
    if "⟦" not in text and _ESCAPED not in text.lower():
        return text
    if text.startswith(_TEXT):
        return _spelled(text.removeprefix(_TEXT), spell)
    return _spelled_json(text, spell, keep) if is_json(text) else _spelled(text, spell)


def _quoted_json(text: str, quote: Change, spell: Change, keep: frozenset[str], names: bool) -> str:
    def change(literal: str, value: str, is_name: bool) -> str:
        if value in keep or (is_name and not names and value.isidentifier()):  # field names of a reply
            return literal
        made = quoted(value, quote, spell, names=names)
        if made == value:
            return literal
        style = style_of(literal, value)
        return written(f"⟦json {style}⟧{made}" if style else made, style)

    return change_literals(text, change)


def _spelled_json(text: str, spell: Change, keep: frozenset[str]) -> str:
    def change(literal: str, value: str, _is_name: bool) -> str:
        has_mark = "⟦" in value or "\\u27e6" in value.lower()  # the second form is escaped in nested JSON
        if value in keep or not has_mark:
            return literal
        named = _JSON.match(value)
        made = unquoted(value[named.end() if named else 0 :], spell)
        return literal if made == value else written(made, int(named[1]) if named else 0)

    return change_literals(text, change)


def _spelled(text: str, spell: Change) -> str:
    length = len(text)

    def words(mark: re.Match[str]) -> str:
        nonlocal length
        found = spell(mark[1]) if mark[1] else "⟦"
        length += len(found)
        if length > LONGEST:
            raise BadInput(f"the restored text exceeds {LONGEST:,} characters.", remedy="Restore the file.")
        return found

    return MARK.sub(words, text)
