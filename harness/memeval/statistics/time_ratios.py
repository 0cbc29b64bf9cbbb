"""Ratios of times that were measured in pairs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memeval.statistics.intervals import mean_interval

LEAST_SECONDS = 1e-6
"""The resolution of stored times. A shorter one counts as this."""


@dataclass(frozen=True)
class TimeRatio:
    value: float
    low: float
    """Lower end of the 95 % interval; 0 for a single pair."""
    high: float
    """Upper end of the 95 % interval; infinite for a single pair."""


def time_ratio(pairs: Sequence[tuple[float, float]]) -> TimeRatio:
    """Return the geometric mean of the ratios of paired times, with its interval.

    The logarithms ``d_i = log(a_i / b_i)`` of ``n`` pairs have the mean ``d`` and the standard deviation ``s``. The
    ratio is ``exp(d)``, and its interval ``exp(d ± t s / sqrt(n))`` with Student's t of ``n - 1`` degrees of freedom
    (Bland and Altman 1996, "The use of transformation when comparing two means", BMJ 312). Load that slows both times
    of a pair by one factor leaves the ratio as it is.

    ``pairs``: seconds, numerator first. Raises ValueError: there is no pair, or a time is negative or not finite.
    """
    if not pairs or not all(0 <= each < math.inf for pair in pairs for each in pair):
        raise ValueError("a ratio needs at least one pair of times")
    logs = [math.log(max(a, LEAST_SECONDS) / max(b, LEAST_SECONDS)) for a, b in pairs]
    return TimeRatio(*(math.exp(each) for each in mean_interval(logs)))
