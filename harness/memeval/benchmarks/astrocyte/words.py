"""Vocabulary of the stress suite: pairs of synonyms, and sentence patterns."""

from __future__ import annotations

from dataclasses import dataclass

from memeval.words import read_words


@dataclass(frozen=True)
class Saying:
    """A sentence pattern, with ``{it}`` for the thing and ``{value}`` for the value."""

    text: str
    """Pattern of a text."""
    exact: str
    """Pattern of a search in the words of the text."""
    paraphrase: str
    """Pattern of a search in other words."""
    values: tuple[str, ...]


@dataclass(frozen=True)
class StressWords:
    """The content of ``words.toml``."""

    kinds: tuple[tuple[str, str], ...]
    """Adjectives: in texts and in paraphrases."""
    things: tuple[tuple[str, str], ...]
    """Nouns: in texts and in paraphrases."""
    again: tuple[str, ...]
    """Patterns of near duplicates."""
    sayings: tuple[Saying, ...]


WORDS = read_words(__package__, "words.toml", StressWords)
"""All of them."""
