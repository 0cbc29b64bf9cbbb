"""``memeval --help``: its processor seconds beside the promised 0.3, and beside a bare import of its libraries."""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path

from bench.measure import PYTHON, Cost, Ratio, cost_of, in_turn, ratio

PAIRS = 9
PROMISED = 0.3


def measure(scratch: Path) -> list[Ratio]:
    """Measure. The target counts processor seconds, because other work on the machine hardly changes them."""

    def ours() -> Cost:
        return cost_of([PYTHON, "-m", "memeval", "--help"], scratch)

    def bare() -> Cost:
        return cost_of([PYTHON, "-c", "import typer, rich.console, rich.table"], scratch)

    costs = in_turn(ours, bare, PAIRS)
    reference = f"the promised {PROMISED:g} processor seconds; pairs: beside a Python that imports typer and rich"
    spent = statistics.median(cost.cpu_seconds for cost in costs[0])
    found = ratio("memeval --help, whole process", costs, target=1.0, peak_target_mb=None, reference=reference)
    return [replace(found, ours_seconds=spent, reference_seconds=PROMISED, ratio=spent / PROMISED)]
