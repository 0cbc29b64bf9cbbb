"""The key of a question set: needles, a reference answer, or both; and the rules for finding needles in an answer.

The rules are for question sets in JSON Lines (jeffs-brain/memory, ``eval/``). Their own rule finds a needle anywhere:
``W`` in every answer with a w.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Literal

from memeval.gateway.reply_words import without_thinking
from memeval.judging.text import is_unspaced, plain_characters, with_clock
from memeval.keys import ReferenceKey


class QaKey(ReferenceKey):
    """The expected content of an answer."""

    prompts = __package__
    doubt_abstains = True

    kind: Literal["qa"] = "qa"
    needles: tuple[str, ...] = ()
    """Texts that a right answer contains: one of them, or all with ``all_of``."""
    all_of: bool = False
    """Whether a right answer must contain all needles."""
    reference: str | None = None
    """A right answer, for a judge; ``None`` if the row has none."""
    echoed: bool = False
    """Whether the question contains a needle, so that repeating the question passes."""

    @property
    def prompt(self) -> str:
        return "qa-answer"

    @property
    def shown(self) -> Mapping[str, str]:
        return {"reference": self.expected}

    @property
    def expected(self) -> str:
        return self.reference or ""

    @property
    def references(self) -> tuple[str, ...]:
        return self.needles if self.reference is None else (self.reference,)


SHORT = 2
"""Needles up to this many characters are names such as ``Au`` or ``W``; their case must match."""


def holds(answer: str, needles: Sequence[str], all_of: bool = False) -> bool:
    """Return whether an answer contains one of the needles, or all of them, as whole words.

    Next to a needle that ends in a letter or digit, the answer must not have another letter or digit, unless the script
    has no spaces between words. Case is ignored, except for needles up to ``SHORT`` characters. Quotes, hyphens, spaces
    and times of day are compared in one form, without the thinking of a model. Blank needles are ignored; with blank
    needles only, the result is false.
    """
    exact = _composed(without_thinking(answer))
    folded = _folded(exact)
    found = [
        _contains_word(exact if len(needle) <= SHORT else folded, needle if len(needle) <= SHORT else _folded(needle))
        for needle in (_composed(each) for each in needles if has_characters(each))
    ]
    return bool(found) and (all if all_of else any)(found)


def has_characters(needle: str) -> bool:
    """Return whether a needle is more than spaces and invisible characters, which an answer is compared without."""
    return bool(_composed(needle))


def holds_anywhere(answer: str, needles: Sequence[str]) -> bool:
    """Return whether an answer contains one of the needles anywhere, in any case: the rule of published numbers."""
    lowered = answer.lower()
    return any(needle.lower() in lowered for needle in needles if needle)


def _composed(text: str) -> str:
    """Return a text with plain characters, each accented letter as one, and with single spaces."""
    return " ".join(plain_characters(text).split())


def _folded(text: str) -> str:
    return with_clock(text.lower() if text.isascii() else unicodedata.normalize("NFC", text.casefold()))


def _contains_word(text: str, needle: str) -> bool:
    before = _is_word_character(needle[0]) and not is_unspaced(needle[0])
    after = _is_word_character(needle[-1]) and not is_unspaced(needle[-1])
    start = text.find(needle)
    while start >= 0:
        end = start + len(needle)
        free = not (before and start and _is_word_character(text[start - 1]))
        if free and not (after and end < len(text) and _is_word_character(text[end])):
            return True
        start = text.find(needle, start + 1)
    return False


def _is_word_character(character: str) -> bool:
    """Return whether a character is a letter, a digit, or a combining mark."""
    return character.isalnum() or unicodedata.category(character).startswith("M")
