"""The minimum detectable difference: how far apart two systems must be for the paired test to find it.

The test is that of one pair in :mod:`memeval.statistics.flips`: it flips the signs of whole clusters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from memeval.statistics.composite import Layout
from memeval.statistics.flips import ALL_PATTERNS, TOLERANCE, Array, Places, sign_patterns
from memeval.statistics.intervals import critical
from memeval.statistics.ranks import ALPHA

POWER = 0.8

STEP = 0.001

LEAST_CLUSTERS = 6

REPEATS = 500

SEED = 17

_BINS = 2000


@dataclass(frozen=True)
class Disagreement:
    """How the scores of two systems differ. Raises ValueError: a value is negative or not a number."""

    share: float
    """For verdicts, the share of the items that exactly one system gets right. For partial credit, the variance of the
    difference of an item's two scores."""
    spread: float
    """Standard deviation, between clusters, of the true difference of the two systems."""
    is_partial: bool = False

    def __post_init__(self) -> None:
        if not (0 <= self.share < math.inf and 0 <= self.spread < math.inf):
            raise ValueError("the disagreement of two systems must be a number of at least 0")


ASSUMED = Disagreement(share=0.25, spread=0.05)


@dataclass(frozen=True)
class Clustering:
    shares: tuple[float, ...]
    """Sum of the weights of the items of each cluster."""
    squares: tuple[float, ...]
    """Sum of the squared weights of the items of each cluster."""

    @classmethod
    def of(cls, weights: Array, cluster: Places) -> Clustering:
        """Return the clustering of items. Raises ValueError: no item counts.

        Weights and numbers of clusters have the shape (items,). Weights sum to 1; items of weight 0 do not count.
        """
        used = weights > 0
        if not used.any():
            raise ValueError("no item counts in this value")
        _names, number = np.unique(cluster[used], return_inverse=True)
        shares = np.bincount(number, weights[used])
        squares = np.bincount(number, weights[used] ** 2)
        return cls(tuple(shares.tolist()), tuple(squares.tolist()))

    @classmethod
    def of_layout(cls, layout: Layout) -> Clustering:
        number = {name: place for place, name in enumerate(layout.names)}
        sizes = [len(names) for names in layout.clusters]
        weights = np.repeat(np.array(layout.weights) / sizes, sizes)
        return cls.of(weights, np.array([number[name] for names in layout.clusters for name in names]))

    @classmethod
    def even(cls, items: int, clusters: int) -> Clustering:
        if not 1 <= clusters <= items:
            raise ValueError(f"{items} items cannot have {clusters} clusters")
        return cls((1 / clusters,) * clusters, (1 / (items * clusters),) * clusters)

    @property
    def clusters(self) -> int:
        return len(self.shares)


def disagreement(scores: Array, weights: Array, cluster: Places, category: Places) -> Disagreement | None:
    """Return how the scores of two systems differ, as a mean over all pairs of systems.

    The cluster-robust variance of a difference is ``K/(K-1) Σ_k z_k²`` (see
    :func:`memeval.statistics.composite.contributions`). What it exceeds the variance of independent items by is due to
    the spread between clusters: ``spread² Σ_k a_k²``, with the weight ``a_k`` of cluster ``k``. A mean over pairs of
    squared differences is twice a variance over systems, so no pair is looked at. ``scores``: score of each item in [0,
    1], shape (systems, items). ``weights``: weight of each item in the value, shape (items,). ``category``: number of
    the category of each item; a category of the value is a sample of its own.
    Returns: ``None`` with fewer than two
    systems.
    """
    if len(scores) < 2:
        return None
    used = weights > 0
    scores, weights = scores[:, used], weights[used]
    _names, cluster = np.unique(cluster[used], return_inverse=True)
    _names, category = np.unique(category[used], return_inverse=True)
    clusters, items = int(cluster.max()) + 1, len(weights)
    member = np.equal.outer(np.arange(int(category.max()) + 1), category)
    deviations = scores - (scores @ (member / member.sum(axis=1)[:, None]).T)[:, category]
    squares = weights**2 / (weights**2).sum()
    share = float((squares * _pair_squares(scores)).sum())
    is_partial = share > TOLERANCE and bool(((scores > TOLERANCE) & (scores < 1 - TOLERANCE)).any())
    if is_partial:
        share = float((squares * _pair_squares(deviations)).sum())
    if clusters < 2 or clusters == items:
        return Disagreement(share, 0.0, is_partial)
    order = np.argsort(cluster, kind="stable")
    starts = np.searchsorted(cluster[order], np.arange(clusters))
    parts = np.add.reduceat((deviations * weights)[:, order], starts, axis=1)
    robust = clusters / (clusters - 1) * float(_pair_squares(parts).sum())
    independent = items / (items - 1) * float((weights**2 * _pair_squares(deviations)).sum())
    sizes = np.bincount(cluster, weights)
    return Disagreement(share, math.sqrt(max(0.0, robust - independent) / float((sizes**2).sum())), is_partial)


def detectable(clustering: Clustering, differs: Disagreement) -> float | None:
    """Return the smallest true difference that the paired test finds in 80 % of repeats, at 5 %.

    The difference of two systems in an item has the mean ``δ``. For verdicts, its variance is ``max(share, δ) - δ²``: a
    difference of ``δ`` needs at least that share of items on which they differ. For partial credit, it is ``share``.
    The true difference also varies between clusters. With the weights ``w_i`` of items and ``a_k`` of clusters, the
    difference of two composites then has the variance::

        V = Σ_k v_k        v_k = (max(share, δ) - δ²) Σ_{i in k} w_i² + spread² a_k²

    With up to ``ALL_PATTERNS`` effective clusters, ``G = V² / Σ v_k²``, the test itself is simulated, with a fixed seed
    and normal parts of clusters. With more, the test has the power of a t-test with ``G - 1`` degrees of freedom:
    ``δ / √V`` must reach the noncentrality with the wanted power (Lehmann and Romano 2005, Testing Statistical
    Hypotheses, section 15.2; the effective number of clusters is that of Carter, Schnepel and Steigerwald 2017,
    "Asymptotic behavior of a t-test robust to cluster heterogeneity", Review of Economics and Statistics 99).

    Returns: A multiple of ``STEP``, at most 1; ``None`` if no difference can be shown.
    """
    return _detectable(clustering, differs)


@lru_cache(maxsize=4096)
def _detectable(clustering: Clustering, differs: Disagreement) -> float | None:
    if clustering.clusters < LEAST_CLUSTERS:
        return None
    effective = effective_clusters(clustering, differs)

    def is_found(difference: float) -> bool:
        if effective <= ALL_PATTERNS + TOLERANCE:
            return simulated_power(clustering, differs, difference) >= POWER
        degrees = max(1, int(effective + TOLERANCE) - 1)
        return _standard_errors(clustering, differs, difference) >= _needed(degrees)

    low, high = 0, round(1 / STEP)
    if not is_found(1.0):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_found(middle * STEP) else (middle, high)
    return round(high * STEP, 3)


def effective_clusters(clustering: Clustering, differs: Disagreement) -> float:
    """Return the effective number of clusters of two equal systems: fewer than there are, if their sizes differ."""
    parts = _variances(clustering, differs, 0.0)
    if not parts.any():
        return float(clustering.clusters)
    parts /= parts.max()
    return float(parts.sum() ** 2 / (parts**2).sum())


def simulated_power(clustering: Clustering, differs: Disagreement, difference: float) -> float:
    """Return the share of simulated comparisons in which the test finds a true difference at 5 %."""
    random = np.random.default_rng(SEED)
    noise = random.standard_normal((REPEATS, clustering.clusters))
    scale = np.sqrt(_variances(clustering, differs, difference))
    parts = difference * np.array(clustering.shares) + noise * scale
    patterns = sign_patterns(tuple(map(str, range(clustering.clusters)))).astype(np.float64)
    sums = np.abs(parts @ patterns.T)
    return float(((sums >= sums[:, :1] - TOLERANCE).mean(axis=1) < ALPHA).mean())


def t_power(noncentrality: float, degrees: int) -> float:
    """Return the probability that a noncentral t variable is significant at 5 %, two-sided.

    ``∫ [Φ(μ - c s) + Φ(-μ - c s)] f(s) ds`` by the midpoint rule, where ``μ`` is the noncentrality, ``c`` the critical
    value, and ``s √ν`` has the chi distribution with ``ν`` degrees of freedom (Johnson, Kotz and Balakrishnan 1995,
    Continuous Univariate Distributions 2, chapter 31).
    """
    scale, density = _chi(degrees)
    limit = critical(degrees, ALPHA) * scale
    return float(((_normal(noncentrality - limit) + _normal(-noncentrality - limit)) * density).sum())


@lru_cache(maxsize=256)
def _chi(degrees: int) -> tuple[Array, Array]:
    """Return values of ``s`` and their probabilities; ``s √ν`` has the chi distribution with ``ν`` degrees."""
    reach = 10 / math.sqrt(2 * degrees)
    low, high = max(0.0, 1 - reach), 1 + reach
    values = low + (np.arange(_BINS) + 0.5) * (high - low) / _BINS
    logarithm = (degrees - 1) * np.log(values) - degrees * values**2 / 2
    density = np.exp(logarithm - logarithm.max())
    return values, density / density.sum()


def _normal(values: Array) -> Array:
    return np.array([math.erfc(-value / math.sqrt(2)) / 2 for value in values.tolist()])


def _standard_errors(clustering: Clustering, differs: Disagreement, difference: float) -> float:
    variance = float(_variances(clustering, differs, difference).sum())
    return difference / math.sqrt(variance) if variance > 0 else math.inf


@lru_cache(maxsize=1024)
def _needed(degrees: int) -> float:
    low, high = 0.0, 2 * critical(degrees, ALPHA)
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if t_power(middle, degrees) >= POWER else (middle, high)
    return high


def _variances(clustering: Clustering, differs: Disagreement, difference: float) -> Array:
    within = differs.share if differs.is_partial else max(0.0, max(differs.share, difference) - difference**2)
    variances: Array = within * np.array(clustering.squares) + differs.spread**2 * np.array(clustering.shares) ** 2
    return variances


def _pair_squares(values: Array) -> Array:
    squares: Array = 2 * values.var(axis=0, ddof=1)
    return squares
