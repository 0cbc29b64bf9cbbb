"""Whether a new value is higher than earlier values of the same process."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from memeval.statistics.student import two_sided_p


def chance_of_more(earlier: Sequence[float], new: float) -> float:
    """Return the one-sided p-value that ``new`` comes from the same normal distribution as ``earlier``.

    ``t = (x - m) / (s sqrt(1 + 1/n))`` with ``n - 1`` degrees of freedom: Student's prediction interval for one future
    observation (Hahn and Meeker 1991, Statistical Intervals, section 4.5).

    Args:
        earlier: at least two values.
        new: the new value.

    Returns:
        A low value if ``new`` is higher than chance explains.
    """
    excess = new - statistics.fmean(earlier)
    error = statistics.stdev(earlier) * math.sqrt(1 + 1 / len(earlier))
    if error < 1e-12:
        return 0.0 if excess > 1e-12 else 1.0
    two_sided = two_sided_p(excess / error, len(earlier) - 1)
    return two_sided / 2 if excess > 0 else 1 - two_sided / 2
