"""Rank ranges: the places a row may stand at, given what its items can tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memeval.statistics.composite import Layout, Sample
from memeval.statistics.paired import holm, pairwise

ALPHA = 0.05
"""Two rows are apart when the corrected p-value of their difference is below this."""


@dataclass(frozen=True)
class RankRange:
    """The best and the worst place of a row."""

    best: int
    """1 + the number of rows that are significantly better."""
    worst: int
    """The number of rows less the number that are significantly worse."""


def rank_ranges(layout: Layout, samples: Sequence[Sample], alpha: float = ALPHA) -> tuple[RankRange, ...]:
    """Return the rank range of each row of a track, in the given order.

    Every pair is compared (:func:`memeval.statistics.paired.paired_difference`), the p-values are corrected for the
    number of pairs by Holm's method, and a row stands behind those that are significantly better and before those
    that are significantly worse. The range always holds the row's rank by composite.

    Args:
        layout: the items that all rows share.
        samples: the rows.
        alpha: the family-wise error rate.
    """
    pairs = pairwise(layout, samples)
    better, worse = [0] * len(samples), [0] * len(samples)
    for ((i, j), found), p in zip(pairs.items(), holm([pair.p for pair in pairs.values()]), strict=True):
        if p >= alpha:
            continue
        ahead, behind = (i, j) if found.difference > 0 else (j, i)
        better[behind] += 1
        worse[ahead] += 1
    return tuple(RankRange(1 + b, len(samples) - w) for b, w in zip(better, worse, strict=True))
