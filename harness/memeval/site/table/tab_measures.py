"""The second table of a benchmark's tab: systems by means of what one run measured, with intervals over its items."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memeval.leaderboard.board import BoardRow
from memeval.records.benchmark import MetricInfo, TabMeasures
from memeval.records.scores import Tally
from memeval.site.model.content import BenchmarkView
from memeval.statistics.intervals import mean_interval


@dataclass(frozen=True)
class Measure:
    """A mean over items, with the ends of its 95 % interval, within the bounds of the metric; ``None`` for one item."""

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class MeasuredRun:
    row: BoardRow
    """The run that is the proof."""
    tally: Tally
    """How many items it passed."""
    measures: tuple[Measure | None, ...]
    """One for each column; ``None`` where nothing was measured."""

    @property
    def tier(self) -> str:
        return self.row.run.track.tier


def measured_run(benchmark: BenchmarkView, table: TabMeasures, rows: Iterable[BoardRow]) -> MeasuredRun | None:
    """Return what the run with the most items measured; of equal ones, the newest.

    ``rows``: the runs of a system. ``None`` without one whose rows are on this machine.
    """
    found = [
        (tally.planned, row.run.timing.started, row, tally)
        for row in rows
        if row.run.track.protocol == table.protocol and row.folder.has_rows
        for tally in (each.tally for each in row.run.scores.categories if each.name == table.category)
        if tally.planned
    ]
    if not found:
        return None
    _, _, row, tally = max(found, key=lambda each: each[:2])
    grades = [grade.metrics for grade in row.folder.grades() if grade.category == table.category]
    return MeasuredRun(
        row,
        tally,
        tuple(
            _measure(benchmark.metric(column.metric), [each.get(column.metric) for each in grades])
            for column in table.columns
        ),
    )


def _measure(metric: MetricInfo | None, given: Sequence[float | None]) -> Measure | None:
    values = [each for each in given if each is not None]
    if not values:
        return None
    mean, low, high = mean_interval(values)
    if math.isinf(high):
        return Measure(mean, None, None)
    least, most = (metric.low, metric.high) if metric else (None, None)
    return Measure(mean, low if least is None else max(low, least), high if most is None else min(high, most))
