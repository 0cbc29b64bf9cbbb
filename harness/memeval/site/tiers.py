"""Statistical power of a benchmark's tiers: width of the intervals, and smallest significant difference."""

from __future__ import annotations

from dataclasses import dataclass

from memeval.records.benchmark import BenchmarkInfo, TierInfo
from memeval.statistics.paired import smallest_difference
from memeval.statistics.wilson import wilson


@dataclass(frozen=True)
class TierPower:
    """The power of one tier, if its items are independent."""

    tier: TierInfo
    half_width: float
    """Half of the 95 % interval of a score of one half."""
    difference: float | None
    """Smallest significant difference of two systems that disagree on a quarter of the items."""


def tier_powers(info: BenchmarkInfo) -> tuple[TierPower, ...]:
    """Return the power of each tier of a benchmark, in the catalogue's order."""
    return tuple(_power(tier) for tier in info.tiers if tier.items)


def _power(tier: TierInfo) -> TierPower:
    low, high = wilson(tier.items / 2, tier.items)
    return TierPower(tier, (high - low) / 2, smallest_difference(tier.items))
