"""The Pareto frontier of cost against score."""

from __future__ import annotations

from collections.abc import Sequence


def frontier(points: Sequence[tuple[float, float]]) -> tuple[int, ...]:
    """Return which points no other one beats, the cheapest first.

    A point is beaten by one that costs no more and scores no less, and is better in one of the two. Of equal points
    all are kept.

    Args:
        points: cost and score of each; a lower cost and a higher score are better.

    Returns:
        The places of the points that are kept.
    """
    kept: list[int] = []
    for place in sorted(range(len(points)), key=lambda place: (points[place][0], -points[place][1])):
        cost, score = points[place]
        last = points[kept[-1]] if kept else None
        if last is None or score > last[1] or (cost, score) == last:
            kept.append(place)
    return tuple(kept)
