"""Matrices of a results folder, and the Pareto front of their configurations by cost and score."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from memeval.analysis.matrix_gates import value_of
from memeval.archive.matrices import stored_matrices
from memeval.records.matrix import Matrix, MatrixCell
from memeval.statistics.pareto import frontier

COST = "usd_per_item"
"""Names of cost metrics."""


def matrices(results: Path) -> list[Matrix]:
    """Return every matrix under a results folder, by its id.

    Raises:
        BadInput: a matrix cannot be read.
    """
    return [folder.matrix for folder in stored_matrices(results)]


def best_for_their_cost(cells: Iterable[MatrixCell]) -> list[MatrixCell]:
    """Return the cells on the Pareto front: every cheaper cell scores less, and every better cell costs more.

    Args:
        cells: cells of one track. Cells without a score or a known cost are ignored.

    Returns:
        The cells, the cheapest first.
    """
    placed = [
        (cost, score, cell)
        for cell in cells
        if (cost := value_of(cell, COST)) is not None and (score := value_of(cell, "composite")) is not None
    ]
    kept = frontier([(cost, score) for cost, score, _cell in placed])
    return [placed[place][2] for place in kept]
