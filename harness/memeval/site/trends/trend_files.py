"""Trends as rows of a file: CSV and JSON."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memeval.leaderboard.trend_measures import Unit
from memeval.leaderboard.trends import SeriesTrend
from memeval.site.model import text
from memeval.site.table.downloads import safe_cell

COLUMNS = (
    *("benchmark", "system", "measure", "unit", "at", "version", "value", "low", "high", "note"),
    *("superseded", "break", "step_p", "track_id", "run_id"),
)


def write_value(value: float | None, unit: Unit) -> str:
    """Return a value as people read it; shares in per cent, without the sign."""
    match unit:
        case Unit.SHARE:
            return text.percent(value)
        case Unit.DOLLARS:
            return text.dollars(value)
        case Unit.SECONDS:
            return text.seconds(value)
        case Unit.TOKENS | Unit.PLACE:
            return text.count(value)


def write_range(low: float | None, high: float | None, unit: Unit) -> str:
    """Return an interval or a range of ranks; empty without one."""
    if low is None or high is None:
        return ""
    if unit is Unit.PLACE and low == high:
        return write_value(low, unit)
    return f"{write_value(low, unit)}–{write_value(high, unit)}"


def point_rows(each: SeriesTrend) -> Iterator[dict[str, Any]]:
    """Yield one row a point, with the columns in ``COLUMNS``; an unknown value is ``None``."""
    trend = each.trend
    breaks = {found.index: " ".join(found.changes) for found in trend.breaks}
    steps = {step.index: step.p for step in trend.steps}
    for index, point in enumerate(trend.points):
        yield {
            "benchmark": point.run.track.benchmark,
            "system": trend.system,
            "measure": trend.measure.name,
            "unit": trend.measure.unit.value,
            "at": point.at,
            "version": point.label,
            "value": point.value,
            "low": point.reading.low,
            "high": point.reading.high,
            "note": point.reading.note,
            "superseded": point.is_superseded,
            "break": breaks.get(index),
            "step_p": steps.get(index),
            "track_id": point.run.track_id,
            "run_id": point.run.run_id,
        }


def as_csv(trends: Iterable[SeriesTrend]) -> str:
    """Return trends as CSV, one line a point. Text that a spreadsheet would read as a formula gets an apostrophe."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for each in trends:
        writer.writerows({name: safe_cell(value) for name, value in row.items()} for row in point_rows(each))
    return out.getvalue()


def as_data(trends: Sequence[SeriesTrend]) -> list[dict[str, Any]]:
    return [
        {
            "system": each.series.system,
            "benchmark": each.series.benchmark,
            "measure": each.trend.measure.name,
            "unit": each.trend.measure.unit.value,
            "points": list(point_rows(each)),
            "steps": [
                {"run_id": each.trend.points[step.index].run.run_id, "before": step.before, "after": step.after}
                | {"p": step.p}
                for step in each.trend.steps
            ],
            "tests": [
                {
                    "before": test.before.run_id,
                    "after": test.after.run_id,
                    "reason": test.reason,
                    "difference": None if test.difference is None else test.difference.data(),
                }
                for test in each.tests
            ],
        }
        for each in trends
    ]
