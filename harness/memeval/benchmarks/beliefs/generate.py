"""Generates scenarios and answer keys from seed and size."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from memeval.benchmarks.beliefs import checks
from memeval.benchmarks.beliefs.history import Made, Writer
from memeval.benchmarks.beliefs.items import belief, delta, noise, revisit, temporal
from memeval.benchmarks.beliefs.plan import WEIGHTS, plan
from memeval.benchmarks.beliefs.world import live

_MAKERS: dict[str, Callable[[Writer], Made]] = {
    "belief-update": belief.make,
    "cascade-propagation": revisit.make,
    "noise-resistance": noise.make,
    "temporal-belief": temporal.make,
    "delta-efficiency": delta.make,
    "uncertainty-abstention": revisit.make,
}


@lru_cache(maxsize=4)
def generate(seed: int, size: int) -> tuple[Made, ...]:
    """Return ``size`` items, by category and number. Equal arguments give equal bytes.

    Raises:
        ValueError: the data breaks a rule (see :mod:`memeval.benchmarks.beliefs.checks`).
    """
    made: dict[tuple[int, int], Made] = {}
    order = list(WEIGHTS)
    for cast in plan(seed, size):
        life = live(seed, cast)
        for need in life.needs:
            made[order.index(need.category), need.number] = _MAKERS[need.category](Writer(seed, life, need))
    items = tuple(made[place] for place in sorted(made))
    checks.check(items, size)
    return items
