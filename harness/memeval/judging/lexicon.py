"""The ways of hedging in English that the rule set knows, from ``lexicon.toml``."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from memeval.toml import read_words

Lines = tuple[tuple[str, ...], ...]
"""Regular expressions, each in one or more parts."""


@dataclass(frozen=True)
class _Lexicon:
    hedges: Lines
    certain: Lines
    offers: Lines
    missing: Lines
    words: Mapping[str, str]
    patterns: Mapping[str, tuple[str, ...]]


@cache
def lexicon() -> _Lexicon:
    return read_words("memeval.judging", "lexicon.toml", _Lexicon)


def compiled(lines: Lines) -> re.Pattern[str]:
    """Return one pattern that finds any of the lexicon's lines as whole words."""
    return re.compile(r"(?<![^\W_])(?:" + "|".join(_expanded("".join(line)) for line in lines) + r")(?![^\W_])")


def _expanded(line: str) -> str:
    return re.sub(r"<(\w+)([?*]?)>", lambda found: _slot(_sets()[found.group(1)], found.group(2)), line)


@cache
def _sets() -> dict[str, str]:
    known = lexicon()
    words = {name: "|".join(text.split()).replace("_", r"\ ") for name, text in known.words.items()}
    return {name: f"(?:{each})" for name, each in words.items()} | {
        name: "".join(parts) for name, parts in known.patterns.items()
    }


def _slot(words: str, count: str) -> str:
    return rf"(?:{words}\ ){count}" if count else words
