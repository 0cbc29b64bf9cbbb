"""One index over several benchmarks: its value, its interval, and how stable the ranks by it are.

All draws come from SHAKE-256 (FIPS 202), so that a program in another language gets the same numbers.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memeval.statistics.flips import DRAWN_PATTERNS, TOLERANCE, Array, Places, PValues, sign_patterns, step_down
from memeval.statistics.intervals import critical

WEIGHTINGS = 10_000

SEED = "memeval overall 1"

LEAST_GAP = 0.05
"""Smallest difference between ceiling and floor. Below it, an index would mostly show noise."""

LEAST_VARIANCE = 1e-9
"""Least variance of a difference, as a share of its sum of squares: equal parts of all clusters have none."""


@dataclass(frozen=True)
class ClusterScores:
    items: Array
    """Share of a category's items that each cluster has, shape (categories, clusters)."""
    parts: Array
    """Part in the composite, shape (runs, categories, clusters): ``w_c / n_c`` times the sum of the item scores."""

    @property
    def can_vary(self) -> bool:
        """Whether every category has items in at least two clusters: else nothing shows how much a score varies."""
        return bool(((self.items > 0).sum(axis=1) > 1).all())

    def deviations(self) -> Array:
        """Return ``z_k = Σ_c (part_ck - item_ck · part_c)``, shape (runs, clusters).

        See :func:`memeval.statistics.composite.contributions`.
        """
        found: Array = self.parts.sum(axis=1) - np.einsum("ck,rc->rk", self.items, self.parts.sum(axis=2))
        return found


@dataclass(frozen=True)
class Lead:
    first: float
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
    """Return ``Σ w_b s_b / Σ w_b`` over the last axis of the shares, shape (..., benchmarks).

    Weights are at least 0, shape (benchmarks,) or (weightings, benchmarks). Returns shape (...) or (..., weightings).
    """
    scaled = weights / weights.sum(axis=-1, keepdims=True)
    return np.asarray(shares @ scaled.T)


def half_widths(deviations: Sequence[Array]) -> Array:
    """Return half of the width of the 95 % interval of each run's index, shape (runs,): ``t √(Σ_b V_b)``.

    An index is a sum over benchmarks, which are independent. ``V_b = K/(K-1) Σ_k z_k²`` is the cluster-robust variance
    on one of them, with ``K`` clusters. ``t`` has ``(Σ V_b)² / Σ V_b² / (K_b - 1)`` degrees of freedom (Satterthwaite
    1946, "An approximate distribution of estimates of variance components", Biometrics Bulletin 2).

    ``deviations``: of each benchmark, times its weight, shape (runs, clusters), at least two clusters.
    """
    counts = np.array([each.shape[1] for each in deviations])[:, None]
    variances = counts / (counts - 1) * np.array([(each**2).sum(axis=1) for each in deviations])
    total, parts = variances.sum(axis=0), (variances**2 / (counts - 1)).sum(axis=0)
    pairs = zip(total.tolist(), parts.tolist(), strict=True)
    return np.array([math.sqrt(v) * critical(v * v / part) if part > 0 else 0.0 for v, part in pairs])


def index_tests(
    scores: Sequence[ClusterScores],
    clusters: tuple[str, ...],
    first: Places,
    second: Places,
    patterns: int = DRAWN_PATTERNS,
) -> PValues:
    """Return the p-values of the differences between pairs of indexes, as one family.

    The statistic is ``T = |Σ_b Σ_k D_k| / √(Σ_b V_b)``, with the variance of :func:`half_widths`: one estimate for ties
    and intervals. The signs of whole clusters are flipped; sum and variance follow from the flipped parts. Patterns
    and correction are those of :func:`memeval.statistics.flips.family_tests`.

    A sum of squares without the deviation from the mean would not do here. It bounds ``T`` by the square root of the
    number of clusters that differ. Ten conversations of one benchmark could then never be significant beside the
    hundreds of clusters of another one. The variance also keeps the test valid if two equal indexes are made of unequal
    scores (Janssen 1997, "Studentized permutation tests for non-i.i.d. hypotheses and the generalized Behrens-Fisher
    problem", Statistics & Probability Letters 36). ``scores``: the runs on each benchmark, times its factor in the
    index. ``clusters``: the names of the clusters of all benchmarks, in order. ``first``: index of the first run of
    each pair, shape (pairs,). ``second``: index of the second run of each pair. ``patterns``: use at most the first
    patterns, as in :func:`memeval.statistics.flips.pair_tests`.
    """
    gaps = [(each.parts[first] - each.parts[second]).sum(axis=1) for each in scores]
    squares = [(gap**2).sum(axis=1) for gap in gaps]
    ends = np.cumsum([each.items.shape[1] for each in scores])[:-1]
    least = LEAST_VARIANCE * np.sum(squares, axis=0) + TOLERANCE**2

    def statistic(signs: Array, places: Places) -> Array:
        total, variance = np.zeros((2, len(signs), len(places)))
        one, two = first[places], second[places]
        for each, square, columns in zip(scores, squares, np.split(signs, ends, axis=1), strict=True):
            sums, cross = (found[:, one] - found[:, two] for found in _flipped(each, columns))
            total += sums.sum(axis=-1)
            variance += _variance(each.items, sums, cross, square[places])
        found: Array = total / np.sqrt(np.maximum(variance, least[places]))
        return found

    return step_down(sign_patterns(clusters)[:patterns], len(first), statistic)


def _flipped(scores: ClusterScores, signs: Array) -> tuple[Array, Array]:
    """Return ``Σ_k ±part_ck`` and ``Σ_k item_ck Σ_c' ±part_c'k``, both of shape (patterns, runs, categories)."""
    runs, categories, clusters = scores.parts.shape
    whole = scores.parts.sum(axis=1, keepdims=True)
    one, two = (signs @ each.reshape(-1, clusters).T for each in (scores.parts, whole * scores.items))
    return one.reshape(-1, runs, categories), two.reshape(-1, runs, categories)


def _variance(items: Array, sums: Array, cross: Array, squares: Array) -> Array:
    """Return ``K/(K-1) Σ_k z_k²`` of flipped differences, shape (patterns, pairs); of one cluster, its square."""
    clusters = items.shape[1]
    if clusters == 1:
        return np.broadcast_to(squares, sums.shape[:2])
    inside = squares - 2 * (sums * cross).sum(axis=-1) + (sums @ (items @ items.T) * sums).sum(axis=-1)
    return np.asarray(clusters / (clusters - 1) * inside)


def drawn_weightings(benchmarks: int, draws: int = WEIGHTINGS) -> Array:
    """Return weightings drawn evenly from all that there are: the Dirichlet distribution with all parameters 1.

    A weighting is ``-ln(u)`` for independent ``u`` in (0, 1], divided by its sum (Devroye 1986, Non-Uniform Random
    Variate Generation, chapter XI, theorem 4.1). The ``u`` are ``(x + 1) / 2³²`` for the unsigned little-endian 32-bit
    numbers ``x`` of ``SHAKE-256("{SEED}:weightings:{benchmarks}")``.

    Returns: Shape (draws, benchmarks); the rows sum to 1.
    """
    drawn = hashlib.shake_256(f"{SEED}:weightings:{benchmarks}".encode()).digest(4 * draws * benchmarks)
    uniform = (np.frombuffer(drawn, "<u4") + 1.0) / 2.0**32
    exponential = -np.log(uniform).reshape(draws, benchmarks)
    totals = exponential.sum(axis=1, keepdims=True)
    return np.asarray(np.where(totals > 0, exponential / np.where(totals > 0, totals, 1.0), 1.0 / benchmarks))


def ranks_by(values: Array) -> Array:
    """Return the rank of each system, 1 for the highest value; equal values share the better rank.

    ``values``: shape (..., systems).
    Returns: Whole numbers, shape (..., systems).
    """
    order = np.argsort(-values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    places = np.broadcast_to(np.arange(1, values.shape[-1] + 1, dtype=np.float64), values.shape).copy()
    places[..., 1:][np.abs(np.diff(ordered, axis=-1)) <= TOLERANCE] = 0  # equal to the one before
    ranks = np.empty_like(places)
    np.put_along_axis(ranks, order, np.maximum.accumulate(places, axis=-1), axis=-1)
    return ranks


def leave_one_out(shares: Array, weights: Array) -> Array:
    """Return the ranks of the systems without each of the benchmarks in turn, shape (benchmarks, systems).

    Shares have the shape (systems, benchmarks), with at least two benchmarks; weights (benchmarks,).
    """
    kept = np.tile(weights, (len(weights), 1)) * (1 - np.eye(len(weights)))
    return ranks_by(weighted_mean(shares, kept).T)


def lead_of(first: Array, second: Array, weightings: Array) -> Lead:
    difference = weightings @ (first - second)
    leads, trails = (float(np.mean(sign * difference > TOLERANCE)) for sign in (1, -1))
    return Lead(first=leads, second=trails, tied=float(np.mean(np.abs(difference) <= TOLERANCE)))
