"""Talk in which no fact of the benchmark is stated: errands, questions of general knowledge, bits of writing."""

from __future__ import annotations

from dataclasses import dataclass

from memeval.words import read_words


@dataclass(frozen=True, slots=True)
class Theme:
    """A short exchange with slots ``{a}`` and ``{b}``; ``{the_a}``, ``{the_b}``: the same, mentioned before."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    ask: tuple[str, ...]
    """What the user asks for."""
    reply: tuple[str, ...]
    """What the assistant answers."""
    more: tuple[str, ...]
    """What the user adds."""
    end: tuple[str, ...]
    """What the assistant says to that, one for each of ``more``."""


@dataclass(frozen=True)
class SmallTalk:
    """The content of ``smalltalk.toml``."""

    themes: tuple[Theme, ...]


THEMES = read_words(__package__, "smalltalk.toml", SmallTalk).themes
"""Errands and curiosities."""
