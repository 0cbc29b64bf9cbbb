"""Steps in the history of a product: versions whose score differs from the versions before."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from memeval.statistics.flips import TOLERANCE, Array, sign_patterns

LEVEL = 0.05


@dataclass(frozen=True)
class VersionStep:
    index: int
    """Number of the first version with the new score; the first version of a history has number 0."""
    before: float
    """Mean score of the versions since the step before."""
    after: float
    """Mean score of the versions up to the next step."""
    p: float
    """P-value of no change, corrected for the number of places at which a step was searched for."""


def find_steps(parts: Array, clusters: tuple[str, ...]) -> tuple[VersionStep, ...]:
    """Return the steps of a history, oldest first.

    The method is binary segmentation (Vostrikova 1981, "Detecting disorder in multidimensional random processes",
    Soviet Mathematics Doklady 24) with the paired test of :mod:`memeval.statistics.flips`. Let ``x_vg`` be the part of
    cluster ``g`` in the score of version ``v``. A range of ``n`` versions is split where its score changes most::

        D_kg = sqrt(k (n - k) / n) (mean(x_vg for v >= k) - mean(x_vg for v < k)),    1 <= k < n
        T = max over k of |sum over g of D_kg|

    The p-value is the share of the patterns of signs that give at least the same ``T``. A pattern changes the sign of a
    cluster at all places together, so the p-value is that of a step anywhere. If it is below 5 %, both sides are
    examined in the same way. With two versions, the p-value is that of ``memeval compare``.

    Args:
        parts: parts of the clusters in the score of each version, oldest first, shape (versions, clusters). The score
            of a version is the sum of its parts.
        clusters: names of the clusters.

    Raises ValueError: a part is not finite.
    """
    if not np.isfinite(parts).all():
        raise ValueError("every part must be a finite number")
    signs = sign_patterns(clusters).astype(np.float64)
    found: dict[int, float] = {}
    ranges = [(0, len(parts))]
    while ranges:
        start, end = ranges.pop()
        place, p = _split(parts[start:end], signs)
        if p < LEVEL:
            found[start + place] = p
            ranges += [(start, start + place), (start + place, end)]
    ends = [0, *sorted(found), len(parts)]
    means = [math.fsum(parts[a:b].ravel()) / (b - a) for a, b in pairwise(ends)] if found else []
    return tuple(
        VersionStep(index, means[number], means[number + 1], found[index]) for number, index in enumerate(sorted(found))
    )


def _split(parts: Array, signs: Array) -> tuple[int, float]:
    """Return where the score of some versions changes most, and the p-value; 1 if it does not change."""
    n = len(parts)
    if n < 2:
        return 0, 1.0
    k = np.arange(1, n)[:, None]
    sums = parts.cumsum(axis=0)
    contrasts = (k * sums[-1:] - n * sums[:-1]) / np.sqrt(n * k * (n - k))
    changes = np.abs(contrasts.sum(axis=1))
    highest = float(changes.max())
    if highest <= TOLERANCE:
        return 0, 1.0
    p = np.count_nonzero(np.abs(signs @ contrasts.T).max(axis=1) >= highest - TOLERANCE) / len(signs)
    return int(changes.argmax()) + 1, p
