"""Trends as CSV."""

import csv
import io
from collections.abc import Iterable

from memeval.leaderboard.trend_rows import COLUMNS, point_rows
from memeval.leaderboard.trends import ScoreChanges, Trend
from memeval.site.table.downloads import safe_cell


def as_csv(trends: Iterable[tuple[Trend, ScoreChanges | None]]) -> str:
    """Return trends as CSV, one line a version. Text that a spreadsheet would read as a formula gets an apostrophe."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for trend, changes in trends:
        writer.writerows({name: safe_cell(value) for name, value in row.items()} for row in point_rows(trend, changes))
    return out.getvalue()
