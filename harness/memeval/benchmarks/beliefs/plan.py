"""Plans the items: numbers per category, people and traits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memeval.benchmarks.beliefs.streams import deck, shares, stream
from memeval.benchmarks.beliefs.vocabulary.people import HE, SHE, SURNAMES, Person

WEIGHTS = {
    "belief-update": (100, 0.25),
    "cascade-propagation": (80, 0.15),
    "noise-resistance": (80, 0.20),
    "temporal-belief": (80, 0.15),
    "delta-efficiency": (80, 0.10),
    "uncertainty-abstention": (80, 0.15),
}
"""Items at size 500 and weight of each category."""

ITEMS_PER_PERSON = 9
"""Approximate number of items per person."""

_Traits = Mapping[str, Mapping[str, float] | Mapping[int, float]]

_BELIEF: _Traits = {
    "announced": {"direct": 5, "indirect": 5, "retracted": 5, "hypothetical": 5},
    "depth": {2: 8, 3: 6, 4: 4, 5: 2},
}
_UNREVISITED: _Traits = {
    "twin": {"changed": 4, "reconfirmed": 2, "unchanged": 2},
    "depth": {1: 8, 2: 7, 3: 5},
    "announced": {"direct": 1, "indirect": 1},
    "decoy": {"plain": 2, "trap": 1},
}
TRAITS: Mapping[str, _Traits] = {
    "belief-update": _BELIEF,
    "cascade-propagation": _UNREVISITED,
    "noise-resistance": {
        "cell": {"light/early": 1, "heavy/late": 1, "light/late": 1, "heavy/early": 1},
        "announced": {"direct": 1, "indirect": 1},
    },
    "temporal-belief": {
        "asked": {"explicit-date": 6, "before": 4, "after": 3, "when": 4, "current": 3},
        "depth": {2: 4, 3: 8, 4: 5, 5: 3},
        "announced": {"direct": 4, "indirect": 4, "retracted": 4, "hypothetical": 3},
    },
    "delta-efficiency": {"news": {4: 1, 5: 2, 6: 1}},
    "uncertainty-abstention": _UNREVISITED,
}
"""Traits of each category, with the share of each value."""


@dataclass(frozen=True, slots=True)
class Need:
    """A planned item."""

    category: str
    number: int
    """Ordinal within the category, from 1."""
    traits: Mapping[str, str | int]
    """Traits of the item."""

    @property
    def scenario_id(self) -> str:
        """Id of its scenario; systems never see it."""
        return f"beliefs-1-{self.category}-{self.number:04d}"


@dataclass(frozen=True, slots=True)
class Cast:
    """A person with their planned items."""

    person: Person
    needs: tuple[Need, ...]


def counts(size: int) -> dict[str, int]:
    """Return the number of items in each category for a total of ``size``."""
    return dict(zip(WEIGHTS, shares(size, [items for items, _ in WEIGHTS.values()]), strict=True))


def people(seed: int | str, number: int) -> tuple[Person, ...]:
    """Return ``number`` people with distinct full names."""
    rng = stream(seed, "people")
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


def plan(seed: int, size: int) -> tuple[Cast, ...]:
    """Return the people, each with their planned items."""
    cast = people(seed, max(1, round(size / ITEMS_PER_PERSON)))
    needs: list[list[Need]] = [[] for _ in cast]
    for category, count in counts(size).items():
        rng = stream(seed, "plan", category)
        drawn = {trait: deck(rng, count, cards) for trait, cards in TRAITS[category].items()}
        order = list(range(len(cast)))
        rng.shuffle(order)
        for i in range(count):
            traits = {trait: cards[i] for trait, cards in drawn.items()}
            needs[order[i % len(order)]].append(Need(category, i + 1, traits))
    return tuple(Cast(person, tuple(mine)) for person, mine in zip(cast, needs, strict=True))
