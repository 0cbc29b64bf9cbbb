"""The overall index as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from memeval.records.overall import Overall
from memeval.site.table.downloads import safe_cell

COLUMNS = (
    "suite",
    "system",
    "name",
    "baseline",
    "versions",
    "index",
    "low",
    "high",
    "rank",
    "rank_best",
    "rank_worst",
    "against_baseline",
    "complete",
    "benchmarks",
    "weighting_best",
    "weighting_worst",
    "first_share",
    "reason",
)
"""Columns of every suite; a column for each benchmark follows, with the share of the gap."""


def as_csv(tables: Sequence[Overall]) -> str:
    """Return suites as CSV, one line a system. Unknown values are empty."""
    benchmarks = dict.fromkeys(track.chosen.benchmark for table in tables for track in table.tracks)
    out = io.StringIO()
    writer = csv.DictWriter(out, (*COLUMNS, *benchmarks), lineterminator="\n")
    writer.writeheader()
    for table in tables:
        writer.writerows({name: safe_cell(value) for name, value in row.items()} for row in _rows(table))
    return out.getvalue()


def _rows(table: Overall) -> Iterator[dict[str, Any]]:
    """Yield one row a system: ``COLUMNS``, then the share of the gap on each benchmark."""
    for row in table.rows:
        stable = row.stability
        yield {
            "suite": table.suite.id,
            "system": row.system,
            "name": row.name,
            "baseline": row.is_control,
            "versions": " ".join(row.versions),
            "index": row.index,
            "low": row.low,
            "high": row.high,
            "rank": row.rank,
            "rank_best": row.ranks[0] if row.ranks else None,
            "rank_worst": row.ranks[1] if row.ranks else None,
            "against_baseline": row.against_baseline,
            "complete": row.complete,
            "benchmarks": len(table.tracks),
            "weighting_best": stable.best if stable else None,
            "weighting_worst": stable.worst if stable else None,
            "first_share": stable.first if stable else None,
            "reason": row.reason,
            **{each.chosen.benchmark: share for each, share in zip(table.tracks, row.shares, strict=True)},
        }
