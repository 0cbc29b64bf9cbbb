"""Matrices of a results folder, and the Pareto front of their configurations by cost and score."""

from collections.abc import Iterable, Sequence

from memeval.analysis.matrix_table import value_of
from memeval.records.matrix import MatrixCell

COST = "usd_per_item"


def best_for_their_cost(cells: Iterable[MatrixCell]) -> list[MatrixCell]:
    """Return the cells on the Pareto front: every cheaper cell scores less, and every better cell costs more.

    ``cells``: cells of one track. Cells without a score or a known cost are ignored.
    Returns: The cells, the cheapest
    first.
    """
    placed = [
        (cost, score, cell)
        for cell in cells
        if (cost := value_of(cell, COST)) is not None and (score := value_of(cell, "composite")) is not None
    ]
    kept = frontier([(cost, score) for cost, score, _cell in placed])
    return [placed[place][2] for place in kept]


def frontier(points: Sequence[tuple[float, float]]) -> tuple[int, ...]:
    """Return the places of the points that no other point dominates, the cheapest first.

    Points are pairs of cost and score. A point dominates another if it costs no more, scores no less, and is better in
    one of the two. Equal points are all kept.
    """
    kept: list[int] = []
    for index in sorted(range(len(points)), key=lambda index: (points[index][0], -points[index][1])):
        cost, score = points[index]
        last = points[kept[-1]] if kept else None
        if last is None or score > last[1] or (cost, score) == last:
            kept.append(index)
    return tuple(kept)
