"""Quoting of texts with marks, also inside JSON, and restoring of quoted texts."""

from __future__ import annotations

import re
from collections.abc import Callable

from memeval.evaluation.withhold.literals import change_literals, is_json, style_of, written
from memeval.records.errors import BadInput

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
    """Return the number of characters outside the marks of a quoted text."""
    return len(MARK.sub("", made))


def quoted(text: str, quote: Change, spell: Change, keep: frozenset[str] = frozenset(), *, names: bool = False) -> str:
    """Quote a text: the strings of JSON, else the whole text.

    Args:
        quote: quotes a part; its result contains the character ``⟦`` in marks only.
        spell: returns the text of a mark.
        keep: JSON strings that stay unchanged.
        names: whether the names of values in JSON are quoted too.
    """
    if not is_json(text):
        return as_text(quote(text))
    made = _quoted_json(text, quote, spell, keep, names)
    return made if unquoted(made, spell, keep) == text else _TEXT + quote(text)


def unquoted(text: str, spell: Change, keep: frozenset[str] = frozenset()) -> str:
    """Restore a quoted text.

    Args:
        text: the result of :func:`quoted`.
        spell: returns the text of a mark.
        keep: JSON strings that stay unchanged.

    Raises:
        BadInput: a mark is invalid, or the restored text exceeds the limit.
    """
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
