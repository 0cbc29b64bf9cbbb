"""Texts with marks in the place of words: how they are made, of JSON too, and spelled out again."""

from __future__ import annotations

import re
from collections.abc import Callable

from memeval.evaluation.quoting.literals import change_literals, is_json, style_of, written
from memeval.records.errors import BadInput

LONGEST = 256_000_000
"""Characters that no text of a run has; marks that spell out more are not ours."""

MARK = re.compile("⟦([^⟧]*)⟧")
"""A mark. The sign ``⟦`` stands in marks only."""

_TEXT = "⟦text⟧"
_JSON = re.compile(r"⟦json (\d{1,2})⟧")

Change = Callable[[str], str]


def plain(text: str) -> str:
    """Return a text without marks as it stands beside marks."""
    return text.replace("⟦", "⟦⟧")


def as_text(made: str) -> str:
    """Return a text that was quoted as a whole, so marked that it is not taken for JSON whose strings were."""
    return _TEXT + made if is_json(made) else made


def left(made: str) -> int:
    """Return how many signs of a quoted text are no marks."""
    return len(MARK.sub("", made))


def quoted(text: str, quote: Change, spell: Change, keep: frozenset[str] = frozenset(), *, names: bool = False) -> str:
    """Return a text with its parts quoted: its strings where it is JSON, else the whole of it.

    Args:
        text: the text.
        quote: quotes a part; what it gives has the sign ``⟦`` in marks only.
        spell: gives the words of a mark.
        keep: strings that stay in JSON as they are.
        names: whether the names of values in JSON are quoted too.
    """
    if not is_json(text):
        return as_text(quote(text))
    made = _quoted_json(text, quote, spell, keep, names)
    return made if unquoted(made, spell, keep) == text else _TEXT + quote(text)


def unquoted(text: str, spell: Change, keep: frozenset[str] = frozenset()) -> str:
    """Return a text with its marks spelled out.

    Args:
        text: what :func:`quoted` gave.
        spell: gives the words of a mark.
        keep: strings that stay in JSON as they are.

    Raises:
        BadInput: a mark is none, or they spell out more than any text has.
    """
    if text.startswith(_TEXT):
        return _spelled(text.removeprefix(_TEXT), spell)
    return _spelled_json(text, spell, keep) if is_json(text) else _spelled(text, spell)


def _quoted_json(text: str, quote: Change, spell: Change, keep: frozenset[str], names: bool) -> str:
    def change(literal: str, value: str, is_name: bool) -> str:
        if value in keep or (is_name and not names and value.isidentifier()):  # what a reply is read by
            return literal
        made = quoted(value, quote, spell, names=names)
        if made == value:
            return literal
        style = style_of(literal, value)
        return written(f"⟦json {style}⟧{made}" if style else made, style)

    return change_literals(text, change)


def _spelled_json(text: str, spell: Change, keep: frozenset[str]) -> str:
    def change(literal: str, value: str, _is_name: bool) -> str:
        if value in keep or not ("⟦" in value or "\\u27e6" in value.lower()):  # the sign itself, or escaped further in
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
            raise BadInput("the marks spell out more words than any run has.", remedy="Restore the file.")
        return found

    return MARK.sub(words, text)
