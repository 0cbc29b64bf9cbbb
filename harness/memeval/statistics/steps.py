"""Steps in a series: places where its mean changes for good."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from memeval.statistics.flips import Array

LEAST_POINTS = 8
"""With fewer points, no step reaches 5 %: of seven points in two levels, two orders out of 35 show one step."""

LEVEL = 0.05

PERMUTATIONS = 1999

SEED = 8
"""Seed of the random orders: equal series give equal steps."""

_CHUNK_VALUES = 2_000_000


@dataclass(frozen=True)
class Step:
    index: int
    before: float
    after: float
    p: float
    """P-value of no change, within the part of the series in which the step was found."""


def find_steps(values: Sequence[float]) -> tuple[Step, ...]:
    """Return the steps of a series, oldest first; none in a series of fewer than eight values.

    The method is binary segmentation (Vostrikova 1981, "Detecting disorder in multidimensional random processes",
    Soviet Mathematics Doklady 24). A part of ``n`` values is split where the means before and after differ most::

        T = max over k of sqrt(k (n - k) / n) |mean(x[:k]) - mean(x[k:])|,    1 <= k < n

    The p-value is the share of random orders of the part with at least the same ``T``, the given order included
    (Antoch and Hušková 2001, "Permutation tests in change point analysis", Statistics & Probability Letters 53). It
    needs no model of the noise. If it is below 5 %, both sides are examined in the same way. So 5 of 100 series without
    a change show a step. A slow drift shows as one or more steps.

    ``values``: the series in order of time, in any unit. Raises ValueError: a value is not finite.
    """
    if not all(math.isfinite(value) for value in values):
        raise ValueError("every value of the series must be a finite number")
    series = np.asarray(values, dtype=np.float64)
    found: dict[int, float] = {}
    parts = [(0, len(series))]
    while parts:
        start, end = parts.pop()
        split = _split(series[start:end])
        if split is not None:
            place, p = split
            found[start + place] = p
            parts += [(start, start + place), (start + place, end)]
    ends = [0, *sorted(found), len(series)]
    means = [float(series[a:b].mean()) for a, b in pairwise(ends)] if found else []
    return tuple(
        Step(index, means[number], means[number + 1], found[index]) for number, index in enumerate(sorted(found))
    )


def _split(part: Array) -> tuple[int, float] | None:
    """Return where the mean of a part changes most, and the p-value; ``None`` if it is not below ``LEVEL``."""
    if len(part) < LEAST_POINTS or _is_constant(part):
        return None
    contrasts = _contrasts(part[None, :])[0]
    highest = float(contrasts.max())
    p = (1 + _orders_with(part, highest)) / (1 + PERMUTATIONS)
    return (int(contrasts.argmax()) + 1, p) if p < LEVEL else None


def _is_constant(part: Array) -> bool:
    return float(part.max() - part.min()) <= 1e-12 * max(1.0, float(abs(part).max()))


def _orders_with(part: Array, highest: float) -> int:
    """Return how many random orders of a part have a contrast of at least ``highest``."""
    dice = np.random.default_rng(SEED)
    count, left = 0, PERMUTATIONS
    tolerance = 1e-9 * highest
    while left:
        rows = min(left, max(1, _CHUNK_VALUES // len(part)))
        orders = dice.permuted(np.broadcast_to(part, (rows, len(part))), axis=1)
        count += int((_contrasts(orders).max(axis=1) >= highest - tolerance).sum())
        left -= rows
    return count


def _contrasts(rows: Array) -> Array:
    """Return the contrast of every split of each row, shape ``(rows, n - 1)``; see ``T`` in :func:`find_steps`."""
    n = rows.shape[1]
    k = np.arange(1, n)
    sums = rows.cumsum(axis=1)
    deviations: Array = np.abs(sums[:, :-1] - k / n * sums[:, -1:])
    scaled: Array = deviations * np.sqrt(n / (k * (n - k)))
    return scaled
