"""All statistics of a large board, beside t-tests of all pairs in plain Python, for ``make bench``."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from bench.measure import PYTHON, Cost, Ratio, cost_of, in_turn, ratio

PAIRS = 3
ROOT = Path(__file__).parents[1]


def measure(scratch: Path) -> list[Ratio]:
    """Measure in processes of their own."""
    return [
        ratio(
            "ranks, detectable differences, items, index of 200 systems x 1,986 items",
            in_turn(partial(_board, scratch, "all"), partial(_board, scratch, "t-tests"), PAIRS),
            target=5,
            peak_target_mb=600,
            reference="t-tests of all pairs alone",
        )
    ]


def _board(scratch: Path, what: str) -> Cost:
    return cost_of([PYTHON, "-m", "bench.rank_board", what], scratch, {"PYTHONPATH": str(ROOT)})
