"""Metrics over all items of a run; scores hold them only by category."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from memeval.archive.run_cache import kept
from memeval.archive.runs import RunFolder
from memeval.leaderboard.board import BoardRow
from memeval.records.benchmark import MetricInfo


def overall(row: BoardRow, metric: MetricInfo) -> float | None:
    """Return a metric over all items of a run that have it; ``None`` if no item has it, or the rows are missing.

    Args:
        row: the run.
        metric: the description of the metric; with ``root``, the value is the square root of the mean.
    """
    mean = _means(row.folder.path).get(metric.name) if row.folder.has_rows else None
    return None if mean is None else shown(mean, metric)


def shown(mean: float, metric: MetricInfo | None) -> float:
    """Return the reported value of a mean of rows."""
    return math.sqrt(mean) if metric is not None and metric.root and mean >= 0 else mean


@lru_cache(maxsize=4096)
def _means(path: Path) -> Mapping[str, float]:
    """Return the mean of each metric over the items that have it; cached, since a sealed run never changes."""
    folder = RunFolder(path)
    means: dict[str, float] = json.loads(kept(folder, "means", "", lambda: json.dumps(_of_rows(folder)).encode()))
    return means


def _of_rows(folder: RunFolder) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for grade in folder.grades():
        for name, value in grade.metrics.items():
            if value is not None:
                values.setdefault(name, []).append(value)
    return {name: math.fsum(found) / len(found) for name, found in values.items()}
