"""Differences between two rows of a track, over their common items."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memeval.statistics.composite import Layout, Sample, composite, contributions, variance
from memeval.statistics.intervals import critical


@dataclass(frozen=True)
class PairedDifference:
    difference: float
    low: float
    high: float
    parts: Mapping[str, float]
    """The part of each cluster, by name; their sum is the difference. Tests are made from them: see
    :func:`memeval.statistics.flips.family_tests`."""


def paired_difference(layout: Layout, first: Sample, second: Sample) -> PairedDifference:
    """Return the difference of two composites with a cluster-robust interval.

    The standard error is that of the linearised difference over clusters (see
    :func:`memeval.statistics.composite.contributions`). The interval uses Student's t with ``K - 1`` degrees of freedom
    for ``K`` clusters (Cameron and Miller 2015, "A practitioner's guide to cluster-robust inference", section VI).

    Raises ValueError: the samples do not match the layout's items.
    """
    return _difference(
        composite(layout, first) - composite(layout, second),
        contributions(layout, first),
        contributions(layout, second),
        _parts(layout, first, second),
    )


def paired_means(
    clusters: Sequence[str], first: Sequence[float], second: Sequence[float], *, root: bool = False
) -> PairedDifference:
    """Return the difference of two means over the same items, with an interval.

    Like :func:`paired_difference`, for values outside [0, 1]. ``first``: the first row's values. ``second``: the second
    row's values. ``root``: whether to compare the square roots of the means, for example of squared errors. By the
    delta method, the standard error of a root is that of the mean divided by twice the root. A difference of roots is
    the difference of the means divided by the sum of the roots. Raises ``ValueError``: there are no items, or the rows
    differ in length.
    """
    if not clusters or not len(clusters) == len(first) == len(second):
        raise ValueError("both rows need one value per item")
    layout = Layout((1.0,), (tuple(clusters),))
    one, two = (_mean_with_contributions(layout, values, root) for values in (first, second))
    parts = _parts(layout, [first], [second])
    if root and one[0] + two[0] > 0:
        parts = {name: part / (one[0] + two[0]) for name, part in parts.items()}
    return _difference(one[0] - two[0], one[1], two[1], parts, bound=math.inf)


def _mean_with_contributions(layout: Layout, values: Sequence[float], root: bool) -> tuple[float, tuple[float, ...]]:
    mean, parts = composite(layout, [values]), contributions(layout, [values])
    if not root:
        return mean, parts
    value = math.sqrt(max(0.0, mean))
    return value, tuple(part / (2 * value) if value else 0.0 for part in parts)


def _parts(layout: Layout, first: Sample, second: Sample) -> dict[str, float]:
    """Return the part of each cluster in a difference of composites: ``Σ_c w_c/n_c Σ_{i in c, k} (a_i - b_i)``."""
    parts = dict.fromkeys(layout.names, 0.0)
    for weight, clusters, ours, theirs in zip(layout.weights, layout.clusters, first, second, strict=True):
        step = weight / len(clusters)
        for cluster, a, b in zip(clusters, ours, theirs, strict=True):
            parts[cluster] += step * (a - b)
    return parts


def _difference(
    value: float, first: Sequence[float], second: Sequence[float], parts: Mapping[str, float], bound: float = 1.0
) -> PairedDifference:
    clusters = len(first)
    if clusters < 2:
        return PairedDifference(value, -bound, bound, parts)
    error = math.sqrt(variance([a - b for a, b in zip(first, second, strict=True)]))
    half = critical(clusters - 1) * error
    return PairedDifference(value, max(-bound, value - half), min(bound, value + half), parts)


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Return the exact two-sided p-value of McNemar's test for two rows' numbers of right items.

    ``p = min(1, 2 P(X ≤ min(b, c)))`` with ``X ~ Bin(b + c, 1/2)``, where ``b`` items only the first and ``c`` only the
    second got right (McNemar 1947, Psychometrika 12). It assumes independent items. Raises ValueError: the rows differ
    in length.
    """
    only_first = sum(a and not b for a, b in zip(first, second, strict=True))
    only_second = sum(b and not a for a, b in zip(first, second, strict=True))
    n = only_first + only_second
    tail = sum(math.comb(n, k) for k in range(min(only_first, only_second) + 1))
    return min(1.0, 2 * tail / (1 << n))
