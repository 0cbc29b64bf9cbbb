"""Who talks, and whom they talk about."""

from __future__ import annotations

from dataclasses import dataclass

from memeval.benchmarks.kit.streams import stream
from memeval.toml import read_words


@dataclass(frozen=True, slots=True)
class Person:
    """Someone whose life the benchmark follows."""

    slug: str
    """Unique within a generation."""
    first: str
    """First name."""
    surname: str
    """Surname."""
    she: str
    """Subject pronoun."""
    her: str
    """Possessive."""

    @property
    def name(self) -> str:
        """First name and surname."""
        return f"{self.first} {self.surname}"


@dataclass(frozen=True, slots=True)
class Relation:
    """Someone else in that life, who has facts of their own."""

    kin: str
    """What they are to the person: ``sister``."""
    first: str
    """First name."""
    she: str
    """Subject pronoun."""
    her: str
    """Possessive."""
    him: str
    """Object pronoun."""

    @property
    def mine(self) -> str:
        """How the person calls them."""
        return f"my {self.kin} {self.first}"


@dataclass(frozen=True)
class Names:
    """The content of ``people.toml``."""

    she: tuple[str, ...]
    he: tuple[str, ...]
    surnames: tuple[str, ...]
    relations: tuple[Relation, ...]


_NAMES = read_words(__package__, "people.toml", Names)

SHE, HE, SURNAMES = _NAMES.she, _NAMES.he, _NAMES.surnames
"""First names of women and of men, and surnames."""

RELATIONS = _NAMES.relations
"""Whose habits get mixed up with the person's own."""


def people(number: int, *purpose: str | int) -> tuple[Person, ...]:
    """Return ``number`` people with distinct full names.

    Args:
        number: how many.
        purpose: first parts of the name of their random stream.
    """
    rng = stream(*purpose, "people")
    firsts = [(name, "she", "her") for name in SHE] + [(name, "he", "his") for name in HE]
    rng.shuffle(firsts)
    surnames = list(SURNAMES)
    rng.shuffle(surnames)
    cast = []
    for i in range(number):
        first, she, her = firsts[i % len(firsts)]
        surname = surnames[(i + i // len(firsts)) % len(surnames)]
        cast.append(Person(f"{first}-{surname}".lower(), first, surname, she, her))
    return tuple(cast)
