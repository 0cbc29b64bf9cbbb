"""One index over several benchmarks: its value, its interval, and how stable the ranks by it are.

All draws come from SHAKE-256 (FIPS 202), so that a program in another language gets the same numbers.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from memeval.statistics.flips import TOLERANCE, Array

DRAWS = 2000
"""Number of resamples behind an interval."""

WEIGHTINGS = 10_000

SEED = "memeval overall 1"

LEAST_GAP = 0.05
"""Smallest difference between ceiling and floor. Below it, an index would mostly show noise."""

_BLOCKS = 20
"""A resample without an item of some category is drawn again: at most so many times the number of resamples."""


@dataclass(frozen=True)
class ClusterScores:
    weights: Array
    """Weight of each category in the composite, shape (categories,)."""
    items: Array
    """Number of items, shape (categories, clusters)."""
    points: Array
    """Sum of the item scores, shape (runs, categories, clusters)."""


@dataclass(frozen=True)
class Lead:
    first: float
    """Share of the weightings under which the first system leads."""
    second: float
    tied: float


def gap_share(score: Array, floor: Array | float, ceiling: Array | float) -> Array:
    """Return the share of the gap between floor and ceiling that a score closes: ``(s - f) / (c - f)``.

    It is not clipped: below the floor it is negative, above the ceiling it exceeds 1. It is NaN where the ceiling is
    not above the floor. The human-normalised score of Mnih et al. 2015 (Nature 518, methods) has this form.
    """
    gap = np.asarray(ceiling - floor, dtype=np.float64)
    above = gap > 0
    return np.asarray(np.where(above, (score - floor) / np.where(above, gap, 1.0), np.nan))


def weighted_mean(shares: Array, weights: Array) -> Array:
    """Return ``Σ w_b s_b / Σ w_b`` over the last axis of the shares.

    Args:
        shares: share of the gap, shape (..., benchmarks).
        weights: weights of the benchmarks, shape (benchmarks,) or (weightings, benchmarks); at least 0.

    Returns:
        Shape (...) or (..., weightings).
    """
    scaled = weights / weights.sum(axis=-1, keepdims=True)
    return np.asarray(shares @ scaled.T)


def resampled_composites(scores: ClusterScores, name: str, draws: int = DRAWS) -> Array | None:
    """Return the composites of the runs over resampled clusters, the same clusters for all runs.

    A resample draws ``K - 1`` of the ``K`` clusters with replacement: with ``K`` draws, the variance of a mean would be
    too small by the factor ``(K - 1) / K`` (Rao and Wu 1988, "Resampling inference with complex survey data", Journal
    of the American Statistical Association 83). The composite of the drawn clusters is ``Σ_c w_c (points / items)_c``.

    Draw ``r`` takes the clusters ``⌊u K / 2³²⌋`` for the numbers ``u`` at places ``r (K - 1)`` and after of the
    unsigned little-endian 32-bit numbers of ``SHAKE-256("{SEED}:{name}:{block}")``. Block 0 comes first; a resample
    without an item of some category is skipped.

    ``name``: name of the benchmark, so that the draws of benchmarks are independent. Returns: Shape (draws, runs);
    ``None`` for one cluster, or if hardly any resample has items of every category.
    """
    clusters = scores.items.shape[1]
    if clusters < 2:
        return None
    chosen: list[Array] = []
    for block in range(_BLOCKS):
        counts = _drawn_counts(f"{SEED}:{name}:{block}", draws, clusters)
        chosen.append(counts[((counts @ scores.items.T) > 0).all(axis=1)])
        if sum(map(len, chosen)) >= draws:
            break
    else:
        return None
    counts = np.vstack(chosen)[:draws]
    items = counts @ scores.items.T
    runs, categories, _clusters = scores.points.shape
    points = (counts @ scores.points.reshape(runs * categories, clusters).T).reshape(draws, runs, categories)
    return np.asarray(np.einsum("drc,dc->dr", points, scores.weights / items))


def percentile_interval(values: Array) -> tuple[Array, Array] | None:
    """Return the ends of the 95 % percentile interval (Efron and Tibshirani 1993, An Introduction to the Bootstrap).

    The percentile interval is used, not the basic one: it follows the asymmetry of a ratio, and does not change if
    the ratio is transformed.

    ``values``: resampled values, shape (draws, systems). Returns: Lower and upper ends, shape (systems,); ``None`` if a
    value is not a finite number.
    """
    if not np.isfinite(values).all():
        return None
    low, high = np.quantile(values, (0.025, 0.975), axis=0)
    return low, high


def drawn_weightings(benchmarks: int, draws: int = WEIGHTINGS) -> Array:
    """Return weightings drawn evenly from all that there are: the Dirichlet distribution with all parameters 1.

    A weighting is ``-ln(u)`` for independent ``u`` in (0, 1], divided by its sum (Devroye 1986, Non-Uniform Random
    Variate Generation, chapter XI, theorem 4.1). The ``u`` are ``(x + 1) / 2³²`` for the unsigned little-endian 32-bit
    numbers ``x`` of ``SHAKE-256("{SEED}:weightings:{benchmarks}")``.

    Returns: Shape (draws, benchmarks); the rows sum to 1.
    """
    uniform = (_integers(f"{SEED}:weightings:{benchmarks}", draws * benchmarks) + 1.0) / 2.0**32
    exponential = -np.log(uniform).reshape(draws, benchmarks)
    totals = exponential.sum(axis=1, keepdims=True)
    return np.asarray(np.where(totals > 0, exponential / np.where(totals > 0, totals, 1.0), 1.0 / benchmarks))


def ranks_by(values: Array) -> Array:
    """Return the rank of each system, 1 for the highest value; equal values share the better rank.

    ``values``: shape (..., systems). Returns: Whole numbers, shape (..., systems).
    """
    order = np.argsort(-values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    places = np.broadcast_to(np.arange(1, values.shape[-1] + 1, dtype=np.float64), values.shape).copy()
    places[..., 1:][np.abs(np.diff(ordered, axis=-1)) <= TOLERANCE] = 0  # equal to the one before
    ranks = np.empty_like(places)
    np.put_along_axis(ranks, order, np.maximum.accumulate(places, axis=-1), axis=-1)
    return ranks


def leave_one_out(shares: Array, weights: Array) -> Array:
    """Return the ranks of the systems without each of the benchmarks in turn.

    Args:
        shares: share of the gap, shape (systems, benchmarks), at least two benchmarks.
        weights: weights of the benchmarks, shape (benchmarks,).

    Returns:
        Shape (benchmarks, systems): row ``b`` leaves out benchmark ``b``.
    """
    kept = np.tile(weights, (len(weights), 1)) * (1 - np.eye(len(weights)))
    return ranks_by(weighted_mean(shares, kept).T)


def lead_of(first: Array, second: Array, weightings: Array) -> Lead:
    """Return how often one system leads another."""
    difference = weightings @ (first - second)
    leads, trails = (float(np.mean(sign * difference > TOLERANCE)) for sign in (1, -1))
    return Lead(first=leads, second=trails, tied=float(np.mean(np.abs(difference) <= TOLERANCE)))


def _integers(seed: str, count: int) -> Array:
    drawn = hashlib.shake_256(seed.encode("utf-8", "surrogatepass")).digest(4 * count)
    return np.frombuffer(drawn, "<u4").astype(np.float64)


def _drawn_counts(seed: str, draws: int, clusters: int) -> Array:
    """Return how often each cluster is in each resample, shape (draws, clusters); each row sums to ``clusters - 1``."""
    chosen = (_integers(seed, draws * (clusters - 1)) * clusters // 2**32).astype(np.intp)
    cells = np.repeat(np.arange(draws), clusters - 1) * clusters + chosen
    return np.bincount(cells, minlength=draws * clusters).reshape(draws, clusters).astype(np.float64)
