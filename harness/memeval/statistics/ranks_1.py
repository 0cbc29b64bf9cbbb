"""The rank ranges of releases made with ``ranks@1``: cluster-robust t-tests of all pairs, with Holm's correction."""

from __future__ import annotations

import math
from collections.abc import Sequence

from memeval.statistics.composite import Layout, Sample, composite, contributions, variance
from memeval.statistics.ranks import ALPHA, RankRange
from memeval.statistics.student import two_sided_p


def rank_ranges_1(layout: Layout, samples: Sequence[Sample], alpha: float = ALPHA) -> tuple[RankRange, ...]:
    """Return the rank range of each row of a track, in the given order.

    The standard error of a pair's difference is that of the linearised difference over clusters (see
    :func:`memeval.statistics.composite.contributions`), with Student's t and ``K - 1`` degrees of freedom for ``K``
    clusters (Cameron and Miller 2015, "A practitioner's guide to cluster-robust inference", section VI). A p-value is
    at least ``2^(1-K)``.

    Args:
        layout: the common items of all rows.
        samples: the rows.
        alpha: the family-wise error rate.

    Raises:
        ValueError: a sample does not match the layout's items.
    """
    values = [composite(layout, sample) for sample in samples]
    parts = [contributions(layout, sample) for sample in samples]
    pairs = [(i, j) for i in range(len(samples)) for j in range(i + 1, len(samples))]
    corrected = holm([_p(values[i] - values[j], parts[i], parts[j]) for i, j in pairs])
    better, worse = [0] * len(samples), [0] * len(samples)
    for (i, j), p in zip(pairs, corrected, strict=True):
        if p >= alpha:
            continue
        ahead, behind = (i, j) if values[i] > values[j] else (j, i)
        better[behind] += 1
        worse[ahead] += 1
    return tuple(RankRange(1 + b, len(samples) - w) for b, w in zip(better, worse, strict=True))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p-values corrected for multiple testing, in the given order.

    The k-th smallest of m is multiplied by ``m - k + 1``, and corrected values never decrease with rank (Holm 1979, "A
    simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6).
    """
    count = len(p_values)
    corrected = [0.0] * count
    highest = 0.0
    for step, index in enumerate(sorted(range(count), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (count - step) * p_values[index]))
        corrected[index] = highest
    return tuple(corrected)


def _p(value: float, first: Sequence[float], second: Sequence[float]) -> float:
    """Return the p-value of the difference of two composites, from the clusters' contributions to each."""
    clusters = len(first)
    if clusters < 2:
        return 1.0
    error = math.sqrt(variance([a - b for a, b in zip(first, second, strict=True)]))
    if abs(value) < 1e-12:
        p = 1.0
    elif error < 1e-12:
        p = 0.0
    else:
        p = two_sided_p(value / error, clusters - 1)
    return min(1.0, max(p, 2.0 ** (1 - clusters)))
