"""Who talks, and whom they talk about."""

from dataclasses import dataclass

from memeval.benchmarks.kit.streams import stream
from memeval.toml import read_words


@dataclass(frozen=True, slots=True)
class Person:
    slug: str
    first: str
    surname: str
    she: str
    her: str

    @property
    def name(self) -> str:
        return f"{self.first} {self.surname}"


@dataclass(frozen=True, slots=True)
class Relation:
    kin: str
    first: str
    she: str
    her: str
    him: str

    @property
    def mine(self) -> str:
        return f"my {self.kin} {self.first}"


@dataclass(frozen=True)
class Names:
    she: tuple[str, ...]
    he: tuple[str, ...]
    surnames: tuple[str, ...]
    relations: tuple[Relation, ...]


_NAMES = read_words(__package__, "people.toml", Names)

SHE, HE, SURNAMES = _NAMES.she, _NAMES.he, _NAMES.surnames

RELATIONS = _NAMES.relations


def people(number: int, *purpose: str | int) -> tuple[Person, ...]:
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
