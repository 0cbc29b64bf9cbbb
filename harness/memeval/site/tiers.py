"""What the tiers of a benchmark can show: how wide their intervals are, and how far apart two systems must be."""

from __future__ import annotations

from dataclasses import dataclass

from memeval.records.benchmark import BenchmarkInfo, TierInfo
from memeval.statistics import smallest_difference, wilson


@dataclass(frozen=True)
class TierPower:
    """What one tier can show, were its items independent."""

    tier: TierInfo
    half_width: float
    """Half of the 95 % interval of a score of one half."""
    difference: float | None
    """Smallest significant difference of two systems that disagree on a quarter of the items."""


def tier_powers(info: BenchmarkInfo) -> tuple[TierPower, ...]:
    """Return what each tier of a benchmark can show, in the catalogue's order."""
    return tuple(_power(tier) for tier in info.tiers if tier.items)


def _power(tier: TierInfo) -> TierPower:
    low, high = wilson(tier.items / 2, tier.items)
    return TierPower(tier, (high - low) / 2, smallest_difference(tier.items))
