"""The composite of a run with its interval; items of one cluster are not independent."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memeval.statistics.intervals import wilson

Sample = Sequence[Sequence[float]]
"""Credits in [0, 1], by category and item of a layout; 1 for right and 0 for wrong."""


@dataclass(frozen=True)
class Layout:
    """The categories of a track and the cluster of every item in them; equal for all runs of a track.

    Raises ValueError: a category has no items, or weights and clusters differ in length.
    """

    weights: tuple[float, ...]
    clusters: tuple[tuple[str, ...], ...]
    """The cluster of each item, by category. A cluster may have items in several categories."""

    def __post_init__(self) -> None:
        if not self.weights or len(self.weights) != len(self.clusters) or not all(self.clusters):
            raise ValueError("every category needs a weight and at least one item")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for category in self.clusters for name in category))

    @property
    def items(self) -> int:
        return sum(map(len, self.clusters))


@dataclass(frozen=True)
class CompositeEstimate:
    value: float
    low: float | None
    """Lower end; ``None`` if all items belong to one cluster."""
    high: float | None
    design_effect: float | None
    """Variance with clusters over variance without; above 1 it widens the interval."""


def composite(layout: Layout, sample: Sample) -> float:
    """Return ``Σ w_c · mean_c``. Raises ValueError: the sample does not have the layout's items."""
    if [len(values) for values in sample] != [len(names) for names in layout.clusters]:
        raise ValueError("the sample does not have the layout's items")
    return math.fsum(w * math.fsum(values) / len(values) for w, values in zip(layout.weights, sample, strict=True))


def composite_interval(layout: Layout, sample: Sample) -> CompositeEstimate:
    """Return a composite with its 95 % interval.

    The categories' Wilson limits ``l_c, u_c`` are combined by square-and-add (Zou and Donner 2008, "Construction of
    confidence limits about effect measures", Statistics in Medicine 27, the MOVER)::

        L = θ - sqrt(Σ w_c² (p_c - l_c)²),   U = θ + sqrt(Σ w_c² (u_c - p_c)²)

    Both distances are multiplied by the square root of the design effect (see :func:`design_effect`) if it exceeds 1
    (Kish 1965, Survey Sampling, section 8.2). The form is closed, so equal rows give equal intervals.
    """
    value = composite(layout, sample)
    effect = design_effect(layout, sample)
    if effect is None:
        return CompositeEstimate(value, None, None, None)
    below = above = 0.0
    for weight, values in zip(layout.weights, sample, strict=True):
        share = math.fsum(values) / len(values)
        low, high = wilson(math.fsum(values), len(values))
        below += (weight * (share - low)) ** 2
        above += (weight * (high - share)) ** 2
    widening = math.sqrt(max(1.0, effect))
    return CompositeEstimate(
        value, max(0.0, value - widening * math.sqrt(below)), min(1.0, value + widening * math.sqrt(above)), effect
    )


def design_effect(layout: Layout, sample: Sample) -> float | None:
    """Return the factor by which clustering multiplies the composite's variance; ``None`` for one cluster.

    Numerator: the cluster-robust variance of the linearised composite, ``K/(K-1) Σ_k z_k²`` (see
    :func:`contributions`). Denominator: the variance with one cluster per item, ``N/(N-1) Σ_c w_c² p_c(1 -
    p_c)/n_c``. If every share is 0 or 1, the denominator is 0 and the result is 1.
    """
    clusters, items = len(layout.names), layout.items
    if clusters < 2:
        return None
    independent = math.fsum(
        weight**2 * (share := math.fsum(values) / len(values)) * (1 - share) / len(values)
        for weight, values in zip(layout.weights, sample, strict=True)
    )
    if independent == 0:
        return 1.0
    return variance(contributions(layout, sample)) / (independent * items / (items - 1))


def contributions(layout: Layout, sample: Sample) -> tuple[float, ...]:
    """Return each cluster's share in the composite's deviation, in the order of ``layout.names``.

    ``z_k = Σ_c w_c/n_c Σ_{i in c, k} (y_i - p_c)``; they sum to 0. The contributions of a difference are the
    differences of the contributions.
    """
    totals = dict.fromkeys(layout.names, 0.0)
    for weight, clusters, values in zip(layout.weights, layout.clusters, sample, strict=True):
        share, step = math.fsum(values) / len(values), weight / len(values)
        for cluster, value in zip(clusters, values, strict=True):
            totals[cluster] += step * (value - share)
    return tuple(totals.values())


def variance(contributed: Sequence[float]) -> float:
    """Return the cluster-robust variance ``K/(K-1) Σ z_k²`` of at least two clusters' contributions."""
    count = len(contributed)
    return count / (count - 1) * math.fsum(z * z for z in contributed)
