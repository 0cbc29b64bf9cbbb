"""Generators of the histories of each protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memeval.benchmarks.beliefs.generate import generate
from memeval.benchmarks.beliefs.shared import shared
from memeval.benchmarks.beliefs.stored import stored
from memeval.benchmarks.kept import Generation


def separate(seed: int, size: int) -> Generation:
    """Return a scenario and a key for each item, by category and number."""
    items = generate(seed, size)
    return tuple(item.scenario for item in items), tuple(item.key for item in items)


HISTORIES: Mapping[str, Callable[[int, int], Generation]] = {"judge": separate, "shared": shared, "stored": stored}
"""Generator of the histories of each protocol."""
