"""Columns of a table: one entry says how its value is read from a run, written, shaded and explained."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from memeval.archive.run_cache import kept
from memeval.archive.runs import RunFolder
from memeval.leaderboard.board import BoardRow
from memeval.records.benchmark import MetricInfo
from memeval.records.scores import Interval
from memeval.site.model.text import ABSENT


class BetterEnd(StrEnum):
    HIGHER = "higher"
    LOWER = "lower"
    NONE = "none"


class ColumnGroup(StrEnum):
    """Groups of columns, with the heading each has in the table."""

    PLACE = "Rank"
    SCORE = "Score"
    CATEGORIES = "By category"
    WHOLE = "Coverage and errors"
    TRUST = "Trust"
    SPENT = "Tokens and cost"
    TIME = "Latency"
    ORIGIN = "Source"


Value = float | str | None


@dataclass(frozen=True)
class ColumnReader:
    """The value of a column for one run."""

    value: Value
    """The exact value, for sorting and downloads; ``None`` if absent."""
    note: str | None = None
    interval: Interval | None = None
    badges: tuple[tuple[str, str], ...] = ()
    """Badges beside the value: kind (a class of the style sheet) and text."""
    url: str | None = None
    text: str | None = None
    span: tuple[int, int] | None = None
    """Lowest and highest value, if the value is a range; downloads hold both ends."""


@dataclass(frozen=True)
class Column:
    name: str
    title: str
    group: ColumnGroup
    help: str
    read: Callable[[BoardRow], ColumnReader]
    write: Callable[[Any], str] = str
    """Formats a value that is not ``None``."""
    direction: BetterEnd = BetterEnd.NONE
    """Which values are better; sorting starts with them."""
    range: tuple[float, float] | None = None
    """Lowest and highest possible value; shading needs it."""
    unit: str | None = None
    shaded: bool = False
    code: bool = False
    first: bool = False

    def cell(self, row: BoardRow) -> "TableCell":
        reading = self.read(row)
        heat = None
        if self.shaded and self.range is not None and isinstance(reading.value, int | float):
            low, high = self.range
            heat = round(10 * (reading.value - low) / (high - low))
        text = ABSENT if reading.value is None else self.write(reading.value)
        return TableCell(column=self, reading=reading, text=reading.text or text, heat=heat)


@dataclass(frozen=True)
class TableCell:
    column: Column
    reading: ColumnReader
    text: str
    heat: int | None
    """Shade from 0 to 10."""

    @property
    def order(self) -> str:
        """The value as an HTML attribute for sorting; empty if absent."""
        return "" if self.reading.value is None else str(self.reading.value)


def overall(row: BoardRow, metric: MetricInfo) -> float | None:
    """Return a metric over all items of a run that have it; ``None`` if no item has it, or the rows are missing.

    ``metric``: the description of the metric; with ``root``, the value is the square root of the mean.
    """
    mean = _means(row.folder.path).get(metric.name) if row.folder.has_rows else None
    return None if mean is None else shown(mean, metric)


def shown(mean: float, metric: MetricInfo | None) -> float:
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
