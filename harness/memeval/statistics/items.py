"""Item statistics: how hard the items of a track are, and how well each one tells systems apart."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memeval.statistics.flips import TOLERANCE, Array, Places
from memeval.statistics.overall import ranks_by

LEAST_SYSTEMS = 3


@dataclass(frozen=True)
class Weighting:
    category: Places
    """Number of the category of each item, shape (items,)."""
    weights: Array
    """Weight of each category in the composite, shape (categories,); 0 for a category that does not count."""
    shared: bool = False
    """Whether every item counts the same: without an item, the weights of the categories change with their sizes."""


@dataclass(frozen=True)
class ItemStatistics:
    difficulty: Array
    """Mean score over the systems, in [0, 1]: the share that is right. High values are easy items."""
    discrimination: Array
    """Correlation of the item with the composite without it; NaN if it is undefined."""
    everyone: NDArray[np.bool_]
    nobody: NDArray[np.bool_]
    moved: Places
    """Number of systems with another place by score if the item is removed."""


def item_statistics(scores: Array, weighting: Weighting) -> ItemStatistics:
    """Return the statistics of all items.

    Difficulty and discrimination are those of classical test theory. Discrimination is the corrected item-total
    correlation: the composite does not contain the item, which would otherwise correlate with itself (Henrysson 1963,
    "Correction of item-total correlations in item analysis", Psychometrika 28). It is undefined with fewer than
    ``LEAST_SYSTEMS`` systems, and if all systems have the same score in the item or in the composite without it.

    ``scores``: score of each item in [0, 1], shape (systems, items). Raises ValueError: there are no systems or no
    items, a score is not in [0, 1] (NaN included), or the weighting does not fit.
    """
    _check(scores, weighting)
    rest = composites_without(scores, weighting)
    return ItemStatistics(
        difficulty=scores.mean(axis=0),
        discrimination=_correlations(scores, rest),
        everyone=np.all(scores >= 1 - TOLERANCE, axis=0),
        nobody=np.all(scores <= TOLERANCE, axis=0),
        moved=_moved(scores, rest, weighting),
    )


def composites(scores: Array, weighting: Weighting) -> Array:
    """Return the composite of each system, shape (systems,): ``Σ_c w_c · mean_c``."""
    counts = np.bincount(weighting.category, minlength=len(weighting.weights))
    composite: Array = scores @ (weighting.weights[weighting.category] / counts[weighting.category])
    return composite


def composites_without(scores: Array, weighting: Weighting) -> Array:
    """Return the composite of each system without each item, shape (systems, items), up to a positive factor.

    The factor is the same for all systems, so correlations and places do not depend on it. Without item ``i`` of
    category ``c``, which has ``n`` items with the mean ``m``::

        θ - w_c m + w_c (n m - x_i) / (n - 1)        weights of categories are fixed
        θ - w_c x_i / n                              every item counts the same
        θ - w_c x_i                                  ``i`` is the only item of its category
    """
    counts = np.bincount(weighting.category, minlength=len(weighting.weights))
    sizes, weights = counts[weighting.category], weighting.weights[weighting.category]
    whole = composites(scores, weighting)[:, None]
    if weighting.shared:
        rest: Array = whole - scores * (weights / sizes)
        return rest
    means = _category_means(scores, weighting, counts)[:, weighting.category]
    others = (sizes * means - scores) / np.maximum(1, sizes - 1)
    rest = whole - weights * (means - np.where(sizes > 1, others, 0.0))
    return rest


def _check(scores: Array, weighting: Weighting) -> None:
    if scores.ndim != 2 or not scores.size:
        raise ValueError("item statistics need at least one system and one item")
    if not ((scores >= 0) & (scores <= 1)).all():
        raise ValueError("every score must be a number from 0 to 1")
    if (
        weighting.category.shape != scores.shape[1:]
        or not np.isin(weighting.category, np.arange(len(weighting.weights))).all()
    ):
        raise ValueError("every item needs a category with a weight")


def _category_means(scores: Array, weighting: Weighting, counts: Places) -> Array:
    """Return the mean of each category, shape (systems, categories); 0 for a category without items."""
    member = weighting.category == np.arange(len(weighting.weights))[:, None]
    means: Array = scores @ (member / np.maximum(1, counts)[:, None]).T
    return means


def _correlations(scores: Array, rest: Array) -> Array:
    """Return Pearson's correlation of the columns of two arrays; NaN where a column is constant or has few rows."""
    ours, theirs = scores - scores.mean(axis=0), rest - rest.mean(axis=0)
    spread = np.sqrt((ours**2).sum(axis=0) * (theirs**2).sum(axis=0))
    varies = ((np.abs(ours) > TOLERANCE).any(axis=0)) & ((np.abs(theirs) > TOLERANCE).any(axis=0))
    found = np.full(scores.shape[1], np.nan)
    if len(scores) >= LEAST_SYSTEMS:
        np.divide((ours * theirs).sum(axis=0), spread, out=found, where=varies)
    clipped: Array = np.clip(found, -1.0, 1.0)
    return clipped


def _moved(scores: Array, rest: Array, weighting: Weighting) -> Places:
    before = ranks_by(composites(scores, weighting))
    moved: Places = (ranks_by(rest.T) != before).sum(axis=1)
    return np.where(weighting.weights[weighting.category] > 0, moved, 0)
