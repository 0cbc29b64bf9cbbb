"""The Pareto frontier of cost against score."""

from __future__ import annotations

from collections.abc import Sequence


def frontier(points: Sequence[tuple[float, float]]) -> tuple[int, ...]:
    """Return the points that no other point dominates, the cheapest first.

    A point dominates another if it costs no more, scores no less, and is better in one of the two. Equal points are all
    kept.

    Args:
        points: cost and score of each; a lower cost and a higher score are better.

    Returns:
        The indices of the kept points.
    """
    kept: list[int] = []
    for index in sorted(range(len(points)), key=lambda index: (points[index][0], -points[index][1])):
        cost, score = points[index]
        last = points[kept[-1]] if kept else None
        if last is None or score > last[1] or (cost, score) == last:
            kept.append(index)
    return tuple(kept)
