"""The categories, weights and clusters of a track, shared by scores and ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memeval.records.track import CategoryPlan
from memeval.statistics.composite import Layout


def counting(plan: Sequence[CategoryPlan]) -> tuple[CategoryPlan, ...]:
    """Return the categories that count in the composite, in plan order: those with a weight above 0."""
    return tuple(category for category in plan if category.weight)


def layout_of(plan: Sequence[CategoryPlan], clusters: Mapping[str, Sequence[str]]) -> Layout:
    """Return weights and clusters of the categories that count, in plan order.

    A category with a shared weight is weighted by its share of the given items. These can be fewer than planned: two
    runs are compared over their common items.

    Args:
        clusters: the cluster of every item, by category; categories without weight may be missing.
    """
    counted = counting(plan)
    shared_items = sum(len(clusters[category.name]) for category in counted if category.shared)
    return Layout(
        weights=tuple(len(clusters[c.name]) / shared_items if c.shared else c.weight for c in counted),
        clusters=tuple(tuple(clusters[c.name]) for c in counted),
    )
