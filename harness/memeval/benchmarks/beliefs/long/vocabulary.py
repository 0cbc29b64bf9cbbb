"""Words for the talk that long histories are filled with: details of errands, with names made of syllables.

Names are drawn from some hundred thousand, so that new words go on turning up in a history of any length.
"""

from __future__ import annotations

from dataclasses import dataclass

from memeval.words import read_words


@dataclass(frozen=True)
class LongWords:
    """The content of ``vocabulary.toml``."""

    details: tuple[str, ...]
    """What somebody adds to a request."""
    remarks: tuple[str, ...]
    """What the assistant adds to a reply."""
    adjectives: tuple[str, ...]
    nouns: tuple[str, ...]
    spots: tuple[str, ...]
    days: tuple[str, ...]
    numbers: tuple[str, ...]
    first: tuple[str, ...]
    """First syllables of names."""
    middle: tuple[str, ...]
    """Middle syllables of names."""
    last: tuple[str, ...]
    """Last syllables of names of people."""
    places: tuple[str, ...]
    """Last syllables of names of places."""


WORDS = read_words(__package__, "vocabulary.toml", LongWords)
"""All of them."""
