"""Trends as rows of files and frames: every file, page and frame has its numbers from here."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from memeval.archive.rows import csv_text
from memeval.leaderboard.trends import COMPOSITE, NeighbourTest, ScoreChanges, StepFound, Trend

COLUMNS = (
    *("benchmark", "system", "package", "measure", "unit", "version", "released", "value", "low", "high", "note"),
    *("runs", "break", "step_p", "track_id", "run_id"),
)


def point_rows(trend: Trend, changes: ScoreChanges | None) -> Iterator[dict[str, Any]]:
    """Yield one row a version, with the columns in ``COLUMNS``; an unknown value is ``None``.

    ``changes``: those of the series; ``None`` if its steps are not wanted.
    """
    breaks = {found.index: " ".join(found.changes) for found in trend.breaks}
    is_tested = trend.measure.name == COMPOSITE and changes is not None
    steps = {each.after.run_id: each.step.p for each in changes.steps} if is_tested and changes else {}
    series = trend.series
    for index, point in enumerate(trend.points):
        run = point.at.run
        yield {
            "benchmark": series.track.benchmark,
            "system": series.system,
            "package": series.package,
            "measure": trend.measure.name,
            "unit": trend.measure.unit.value,
            "version": point.at.version,
            "released": point.at.released,
            "value": point.value,
            "low": point.reading.low,
            "high": point.reading.high,
            "note": point.reading.note,
            "runs": len(point.at.runs),
            "break": breaks.get(index),
            "step_p": steps.get(run.run_id) if run else None,
            "track_id": series.track.id,
            "run_id": run.run_id if run else None,
        }


def trends_csv(trends: Iterable[tuple[Trend, ScoreChanges | None]]) -> str:
    """Return trends as CSV, one line a version."""
    return csv_text(COLUMNS, (row for trend, changes in trends for row in point_rows(trend, changes)))


def trend_data(trend: Trend, changes: ScoreChanges, versions: Mapping[str, str]) -> dict[str, Any]:
    """Return a trend with its changes, as plain data. ``versions``: the version of each run, by run id."""
    is_score = trend.measure.name == COMPOSITE
    return {
        "system": trend.series.system,
        "benchmark": trend.series.track.benchmark,
        "track_id": trend.series.track.id,
        "measure": trend.measure.name,
        "unit": trend.measure.unit.value,
        "points": list(point_rows(trend, changes)),
        "change": changes.whole.data() if is_score and changes.whole else None,
        "steps": [_step(each, versions) for each in changes.steps] if is_score else [],
        "tests": [_test(each) for each in changes.tests] if is_score else [],
    }


def versions_by_run(changes: Sequence[ScoreChanges]) -> dict[str, str]:
    return {run.run_id: point.version for each in changes for point in each.series.points for run in point.runs}


def _step(found: StepFound, versions: Mapping[str, str]) -> dict[str, Any]:
    return {
        "version": versions[found.after.run_id],
        "version_before": versions[found.before.run_id],
        "run_id": found.after.run_id,
        "run_id_before": found.before.run_id,
        "before": found.step.before,
        "after": found.step.after,
        "p": found.step.p,
    }


def _test(test: NeighbourTest) -> dict[str, Any]:
    difference = test.difference.data() if test.difference else None
    return {"before": test.before.run_id, "after": test.after.run_id, "reason": test.reason, "difference": difference}
