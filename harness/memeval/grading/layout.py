"""Which categories of a track count, what they weigh, and which items go together: one answer for scores and ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memeval.records.track import CategoryPlan
from memeval.statistics import Layout


def counting(plan: Sequence[CategoryPlan]) -> tuple[CategoryPlan, ...]:
    """Return the categories that count in the composite, in plan order: those with a weight above 0."""
    return tuple(category for category in plan if category.weight)


def layout_of(plan: Sequence[CategoryPlan], clusters: Mapping[str, Sequence[str]]) -> Layout:
    """Return weights and clusters of the categories that count, in plan order.

    A category that weighs its share of the items weighs its share of the items given here, which may be fewer than
    planned: two runs are compared over the items that both have.

    Args:
        plan: the categories of a track.
        clusters: by category, the cluster of every item; a category without weight may be left out.
    """
    counted = counting(plan)
    sharing = sum(len(clusters[category.name]) for category in counted if category.shared)
    return Layout(
        weights=tuple(len(clusters[c.name]) / sharing if c.shared else c.weight for c in counted),
        clusters=tuple(tuple(clusters[c.name]) for c in counted),
    )
