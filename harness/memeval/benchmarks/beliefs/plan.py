"""Plans the items: which a person gets, and their traits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memeval.benchmarks.kit.people import Person, people
from memeval.benchmarks.kit.streams import deck, stream
from memeval.benchmarks.kit.timeline import DependentStatus, Manner

STREAMS = "beliefs@1/beliefs@2"
"""First part of the name of every random stream. A shorter name would draw other data than the runs so far have."""

BELIEF, TEMPORAL, NOISE = "belief-update", "temporal-belief", "noise-resistance"
CASCADE, UNCERTAINTY, CONTEXT = "cascade-propagation", "uncertainty-abstention", "context-efficiency"

EACH: Mapping[str, tuple[int, int]] = {
    BELIEF: (3, 3),
    CASCADE: (2, 1),
    NOISE: (2, 2),
    TEMPORAL: (3, 3),
    CONTEXT: (1, 0),
    UNCERTAINTY: (1, 2),
}
"""Items of a category for every person with an even number, and with an odd number."""

MONTH, BEFORE, AFTER, BEGAN = "month", "before", "after", "began"

RETRACTED, HYPOTHETICAL, LONG_AGO, NONE = "retracted", "hypothetical", "former", "none"
"""What else is said about a topic, and misleads."""

_Cards = Mapping[str, Mapping[Any, float]]

_DEPENDENT: _Cards = {
    "twin": {DependentStatus.UNREVISITED: 4, DependentStatus.RECONFIRMED: 2, DependentStatus.UNCHANGED: 2},
    "depth": {1: 5, 2: 6, 3: 4},
    "manner": {Manner.DIRECT: 2, Manner.INDIRECT: 2, Manner.ELLIPTIC: 1},
    "reminder": {"no": 2, "yes": 1},
}
TRAITS: Mapping[str, _Cards] = {
    BELIEF: {
        "manner": {
            Manner.DIRECT: 4,
            Manner.INDIRECT: 5,
            Manner.CORRECTED: 2,
            Manner.ELLIPTIC: 3,
            Manner.THIRD_PERSON: 2,
        },
        "detour": {NONE: 4, RETRACTED: 4, HYPOTHETICAL: 3, LONG_AGO: 2},
        "depth": {2: 5, 3: 6, 4: 4, 5: 1},
    },
    TEMPORAL: {"asked": {MONTH: 5, BEFORE: 4, AFTER: 3, BEGAN: 3}},
    NOISE: {
        "manner": {Manner.DIRECT: 2, Manner.INDIRECT: 3, Manner.ELLIPTIC: 2, Manner.THIRD_PERSON: 2},
        "others": {2: 1, 3: 2, 4: 1},
    },
    CASCADE: _DEPENDENT,
    UNCERTAINTY: _DEPENDENT,
    CONTEXT: {"manner": {Manner.DIRECT: 2, Manner.CORRECTED: 1, Manner.THIRD_PERSON: 1}, "depth": {1: 1, 2: 1}},
}


@dataclass(frozen=True, slots=True)
class Need:
    category: str
    number: int
    """Ordinal within the category, from 1."""
    traits: Mapping[str, str | int]

    @property
    def depth(self) -> int:
        """The trait ``depth``: number of values, or of links."""
        return int(self.traits["depth"])

    @property
    def manner(self) -> Manner:
        return Manner(str(self.traits["manner"]))

    @property
    def item_id(self) -> str:
        """Id of the item; systems never see it."""
        return f"beliefs-2-{self.category}-{self.number:04d}"


@dataclass(frozen=True, slots=True)
class Cast:
    person: Person
    needs: tuple[Need, ...]

    def of(self, *categories: str) -> list[Need]:
        return [need for need in self.needs if need.category in categories]


def counts(size: int) -> dict[str, int]:
    """Return the number of items in each category for a number of people."""
    return {name: even * ((size + 1) // 2) + odd * (size // 2) for name, (even, odd) in EACH.items()}


def plan(seed: int, size: int) -> tuple[Cast, ...]:
    needs: list[list[Need]] = [[] for _ in range(size)]
    for category, count in counts(size).items():
        rng = stream(STREAMS, seed, "plan", category)
        drawn = {trait: deck(rng, count, cards) for trait, cards in TRAITS[category].items()}
        number = 0
        for i, mine in enumerate(needs):
            for _ in range(EACH[category][i % 2]):
                traits = {trait: cards[number] for trait, cards in drawn.items()}
                number += 1
                mine.append(Need(category, number, traits))
    cast = people(size, STREAMS, seed)
    return tuple(Cast(person, tuple(mine)) for person, mine in zip(cast, needs, strict=True))
