"""Rank ranges: the possible ranks of a row, given the uncertainty of its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memeval.statistics.composite import Layout, Sample
from memeval.statistics.paired import holm, pairwise

ALPHA = 0.05
"""Two rows differ significantly if the corrected p-value is below this."""


@dataclass(frozen=True)
class RankRange:
    """The best and the worst rank of a row."""

    best: int
    """1 + the number of rows that are significantly better."""
    worst: int
    """The number of rows minus the number that are significantly worse."""


def rank_ranges(layout: Layout, samples: Sequence[Sample], alpha: float = ALPHA) -> tuple[RankRange, ...]:
    """Return the rank range of each row of a track, in the given order.

    Every pair is compared (:func:`memeval.statistics.paired.paired_difference`), with Holm's correction for the number
    of pairs. A row ranks below significantly better rows and above significantly worse ones. The range always contains
    the row's rank by composite.

    Args:
        layout: the common items of all rows.
        samples: the rows.
        alpha: the family-wise error rate.
    """
    pairs = pairwise(layout, samples)
    better, worse = [0] * len(samples), [0] * len(samples)
    for ((i, j), pair), p in zip(pairs.items(), holm([each.p for each in pairs.values()]), strict=True):
        if p >= alpha:
            continue
        ahead, behind = (i, j) if pair.difference > 0 else (j, i)
        better[behind] += 1
        worse[ahead] += 1
    return tuple(RankRange(1 + b, len(samples) - w) for b, w in zip(better, worse, strict=True))
