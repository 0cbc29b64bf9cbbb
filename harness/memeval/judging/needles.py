"""Looking for needles in an answer: memeval's rule, and the one that other programs publish by.

The rules are those of question sets in JSON Lines (jeffs-brain/memory, ``eval/``), whose own finds a needle anywhere:
``W`` in any answer with a w in it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

SHORT = 2
"""Needles of so many characters or fewer are names such as ``Au`` or ``W``: they are looked for as they are written."""


def holds(answer: str, needles: Sequence[str], all_of: bool = False) -> bool:
    """Return whether an answer holds one of the needles, or all of them, as whole words.

    A needle's end is bounded where it is a letter or a digit: the sign next to it in the answer may then be neither.
    Letters count in any case, but for needles of ``SHORT`` characters. Blank needles are passed over, and an answer
    passes by none where there is no other.

    Args:
        answer: the answer.
        needles: what is looked for.
        all_of: whether all of them are needed.
    """
    told = _composed(answer)
    folded = _folded(told)
    found = [
        _stands_in(told if len(needle) <= SHORT else folded, needle if len(needle) <= SHORT else _folded(needle))
        for needle in (_composed(each) for each in needles if each.strip())
    ]
    return bool(found) and (all if all_of else any)(found)


def holds_anywhere(answer: str, needles: Sequence[str]) -> bool:
    """Return whether an answer holds one of the needles anywhere, in any case: the rule that is published elsewhere."""
    lowered = answer.lower()
    return any(needle.lower() in lowered for needle in needles if needle)


def _composed(text: str) -> str:
    """Return a text in which a letter with its accent is one character, however it was written."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text.casefold())


def _stands_in(text: str, needle: str) -> bool:
    before, after = _is_of_a_word(needle[0]), _is_of_a_word(needle[-1])
    start = text.find(needle)
    while start >= 0:
        end = start + len(needle)
        free = not (before and start and _is_of_a_word(text[start - 1]))
        if free and not (after and end < len(text) and _is_of_a_word(text[end])):
            return True
        start = text.find(needle, start + 1)
    return False


def _is_of_a_word(sign: str) -> bool:
    """Return whether a sign is a letter or a digit, or a mark on one."""
    return sign.isalnum() or unicodedata.category(sign).startswith("M")
