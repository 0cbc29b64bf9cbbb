"""Differences between two rows of a track, over their common items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memeval.statistics.composite import Layout, Sample, composite, contributions, variance
from memeval.statistics.student import critical, two_sided_p


@dataclass(frozen=True)
class PairedDifference:
    """The difference of two composites over the same items."""

    difference: float
    """First minus second, in [-1, 1]."""
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end."""
    p: float
    """Two-sided p-value of no difference."""


def paired_difference(layout: Layout, first: Sample, second: Sample) -> PairedDifference:
    """Return the difference of two composites with a cluster-robust interval and test.

    The standard error is that of the linearised difference over clusters (see
    :func:`memeval.statistics.composite.contributions`). Interval and p-value use Student's t with ``K - 1`` degrees of
    freedom for ``K`` clusters (Cameron and Miller 2015, "A practitioner's guide to cluster-robust inference", section
    VI). The p-value is at least ``2^(1-K)``, the smallest value of a sign-flip test over ``K`` clusters.

    Raises:
        ValueError: the samples do not match the layout's items.
    """
    return _difference(
        composite(layout, first) - composite(layout, second),
        contributions(layout, first),
        contributions(layout, second),
    )


def paired_means(
    clusters: Sequence[str], first: Sequence[float], second: Sequence[float], *, root: bool = False
) -> PairedDifference:
    """Return the difference of two means over the same items, with interval and p-value.

    Like :func:`paired_difference`, for values outside [0, 1].

    Args:
        clusters: the cluster of each item.
        first: the first row's values.
        second: the second row's values.
        root: whether to compare the square roots of the means, for example of squared errors. By the delta method,
            the standard error of a root is that of the mean divided by twice the root.

    Raises:
        ValueError: there are no items, or the rows differ in length.
    """
    if not clusters or not len(clusters) == len(first) == len(second):
        raise ValueError("both rows need one value per item")
    layout = Layout((1.0,), (tuple(clusters),))
    one, two = (_mean_with_contributions(layout, values, root) for values in (first, second))
    return _difference(one[0] - two[0], one[1], two[1], bound=math.inf)


def _mean_with_contributions(layout: Layout, values: Sequence[float], root: bool) -> tuple[float, tuple[float, ...]]:
    """Return the mean or its square root, and the clusters' contributions to it."""
    mean, parts = composite(layout, [values]), contributions(layout, [values])
    if not root:
        return mean, parts
    value = math.sqrt(max(0.0, mean))
    return value, tuple(part / (2 * value) if value else 0.0 for part in parts)


def _difference(value: float, first: Sequence[float], second: Sequence[float], bound: float = 1.0) -> PairedDifference:
    """Return the difference of two composites from the clusters' contributions to each.

    Args:
        value: the difference.
        first: the clusters' contributions to the first row's composite.
        second: the clusters' contributions to the second row's composite.
        bound: the largest possible difference.
    """
    clusters = len(first)
    if clusters < 2:
        return PairedDifference(value, -bound, bound, 1.0)
    error = math.sqrt(variance([a - b for a, b in zip(first, second, strict=True)]))
    if abs(value) < 1e-12:
        p = 1.0
    elif error < 1e-12:
        p = 0.0
    else:
        p = two_sided_p(value / error, clusters - 1)
    half = critical(clusters - 1) * error
    return PairedDifference(
        value, max(-bound, value - half), min(bound, value + half), min(1.0, max(p, 2.0 ** (1 - clusters)))
    )


def pairwise(layout: Layout, samples: Sequence[Sample]) -> dict[tuple[int, int], PairedDifference]:
    """Return the difference of every pair of rows ``(i, j)`` with ``i < j``, first minus second."""
    values = [composite(layout, sample) for sample in samples]
    parts = [contributions(layout, sample) for sample in samples]
    return {
        (i, j): _difference(values[i] - values[j], parts[i], parts[j])
        for i in range(len(samples))
        for j in range(i + 1, len(samples))
    }


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Return the exact two-sided p-value of McNemar's test for two rows' numbers of right items.

    ``p = min(1, 2 P(X ≤ min(b, c)))`` with ``X ~ Bin(b + c, 1/2)``, where ``b`` items only the first and ``c`` only
    the second got right (McNemar 1947, Psychometrika 12). The test assumes independent items. For
    clustered items, use :func:`paired_difference`.

    Raises:
        ValueError: the rows differ in length.
    """
    only_first = sum(a and not b for a, b in zip(first, second, strict=True))
    only_second = sum(b and not a for a, b in zip(first, second, strict=True))
    n = only_first + only_second
    tail = sum(math.comb(n, k) for k in range(min(only_first, only_second) + 1))
    return min(1.0, 2 * tail / (1 << n))


def smallest_difference(items: int, disagreeing: float = 0.25) -> float | None:
    """Return the smallest difference of two rows that :func:`mcnemar` calls significant at 5 %.

    It depends on the number of items on which the rows differ; a quarter is usual for systems of similar accuracy. The
    test assumes independent items; clustered items need a larger difference.

    Args:
        items: number of common items.
        disagreeing: share of the items that exactly one row gets right.

    Returns:
        A difference of shares in [0, 1]; ``None`` if no difference is significant.
    """
    apart = round(disagreeing * items)
    tail, ways = 0, 1  # of P(X ≤ k), times 2^apart: the sum of the binomial coefficients, and the last of them
    for k in range(apart // 2 + 1):
        tail += ways
        if 2 * tail / (1 << apart) >= 0.05:
            return (apart - 2 * (k - 1)) / items if k else None
        ways = ways * (apart - k) // (k + 1)
    return None


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
