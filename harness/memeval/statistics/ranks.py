"""Rank ranges: the possible ranks of a row, given the uncertainty of its score."""

from dataclasses import dataclass

import numpy as np

from memeval.statistics.flips import Array, Places

ALPHA = 0.05
"""Two rows differ significantly if the corrected p-value is below this."""


@dataclass(frozen=True)
class RankRange:
    best: int
    """1 + the number of rows that are significantly better."""
    worst: int
    """The number of rows minus the number that are significantly worse."""


def rank_ranges(
    values: Array, first: Places, second: Places, corrected: Array, alpha: float = ALPHA
) -> tuple[RankRange, ...]:
    """Return the rank range of each row.

    A row ranks below significantly better rows and above significantly worse ones. The range contains the row's rank by
    value. All ranges contain the true ranks with a probability of at least ``1 - alpha`` (Mogstad, Romano, Shaikh and
    Wilhelm 2024, "Inference for Ranks with Applications to Mobility across Neighbourhoods and Academic Achievement
    across Countries", Review of Economic Studies 91). The pairs have the indexes ``first`` and ``second``; a higher
    value is better.
    """
    apart = (corrected < alpha) & (values[first] != values[second])
    leads = values[first] > values[second]
    rows = len(values)
    ahead, behind = np.where(leads, first, second)[apart], np.where(leads, second, first)[apart]
    better, worse = np.bincount(behind, minlength=rows), np.bincount(ahead, minlength=rows)
    return tuple(RankRange(1 + int(b), rows - int(w)) for b, w in zip(better, worse, strict=True))
