"""``python -m bench --gate BASELINE.json``: whether a measurement is slower than a stored one by more than noise.

Both files hold the ratio of every pair. A ratio divides ours by a reference that ran right after it, so the speed of
the machine cancels out. The two sets of ratios are compared by a permutation test.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

SLACK = 0.05
"""A relative difference up to this is no regression, however certain it is."""

LEVEL = 0.01
"""Largest p-value of a regression. With fewer than five pairs on both sides, none is so small."""

DRAWS = 20_000
"""Permutations that are drawn, if there are more than that."""


@dataclass(frozen=True)
class Compared:
    """A measurement beside the stored one."""

    name: str
    before: float
    """Median ratio of the stored measurement."""
    now: float
    """Median ratio of this one."""
    p: float
    """Probability of such an increase or a larger one, if nothing changed; one-sided."""

    @property
    def change(self) -> float:
        """The relative change of the ratio."""
        return self.now / self.before - 1

    @property
    def is_regression(self) -> bool:
        """Whether it is slower beyond slack and noise."""
        return self.change > SLACK and self.p <= LEVEL

    def line(self) -> str:
        """Return the comparison as a line of text."""
        said = "REGRESSION" if self.is_regression else "ok"
        return f"{said:10}  {self.before:.2f} -> {self.now:.2f} ({self.change:+.1%}, p = {self.p:.3f})  {self.name}"


def compare(
    stored: Sequence[Mapping[str, object]], measured: Sequence[Mapping[str, object]]
) -> tuple[list[Compared], list[str]]:
    """Compare measurements with stored ones.

    Args:
        stored: the content of an earlier ``bench.json``.
        measured: that of this run.

    Returns:
        The measurements that both have, and the names that only one has, or that lack ratios.
    """
    before, now = _ratios(stored), _ratios(measured)
    both = [name for name in now if before.get(name) and now[name]]
    compared = [
        Compared(
            f"{name[0]}, beside {name[1]}",
            statistics.median(before[name]),
            statistics.median(now[name]),
            p_value(before[name], now[name]),
        )
        for name in both
    ]
    return compared, sorted(name[0] for name in (before.keys() | now.keys()) - set(both))


def p_value(before: Sequence[float], now: Sequence[float]) -> float:
    """Return the one-sided p-value of an increase: a rank-sum test (Mann and Whitney) by permutation, ties included.

    Ranks keep one slow outlier from deciding. All splits count if there are at most :data:`DRAWS`; otherwise that many
    are drawn with a fixed seed.
    """
    pooled, size = [*before, *now], len(now)
    ranks = [sum(other < value for other in pooled) + sum(other == value for other in pooled) / 2 for value in pooled]
    observed = sum(ranks[len(before) :])
    if comb(len(pooled), size) <= DRAWS:
        sums = [sum(chosen) for chosen in combinations(ranks, size)]
        return sum(each >= observed for each in sums) / len(sums)
    rng = random.Random(1)
    drawn = sum(sum(rng.sample(ranks, size)) >= observed for _ in range(DRAWS))
    return (drawn + 1) / (DRAWS + 1)


def _ratios(found: Sequence[Mapping[str, object]]) -> dict[tuple[str, str], list[float]]:
    """Return the ratios of each measurement, by name and reference; empty if an old file has none."""
    ratios: dict[tuple[str, str], list[float]] = {}
    for each in found:
        values = each.get("ratios") or []
        assert isinstance(values, list | tuple)
        ratios[str(each["name"]), str(each["reference"])] = [float(value) for value in values]
    return ratios
