"""All scores of a board as one table, with a description of every column."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass

from memeval.leaderboard.board import Board, BoardRow
from memeval.site.croissant import DataField
from memeval.site.downloads import safe_cell


@dataclass(frozen=True)
class ScoreColumn:
    """A column of the table."""

    field: DataField
    read: Callable[[BoardRow], object]


def _column(name: str, kind: str, meaning: str, read: Callable[[BoardRow], object]) -> ScoreColumn:
    return ScoreColumn(DataField(name, kind, meaning), read)


COLUMNS = (
    _column("run_id", "Text", "Id of the run.", lambda row: row.run.run_id),
    _column("run_digest", "Text", "Digest of the file run.json of the run.", lambda row: row.folder.digest),
    _column("benchmark", "Text", "Benchmark and version.", lambda row: row.run.track.benchmark),
    _column("track_id", "Text", "Only runs of one track can be compared.", lambda row: row.run.track_id),
    _column("protocol", "Text", "How the benchmark asks and grades.", lambda row: row.run.track.protocol),
    _column("tier", "Text", "Subset or size of the data.", lambda row: row.run.track.tier),
    _column("reader", "Text", "Who writes the answers.", lambda row: row.run.track.reader),
    _column("judge", "Text", "Who grades the answers.", lambda row: row.run.track.judge),
    _column("system", "Text", "The memory system.", lambda row: row.run.system.slug),
    _column("system_version", "Text", "Version of the system.", lambda row: row.run.system.version),
    _column(
        "system_kind", "Text", "Submission or control (a built-in baseline).", lambda row: row.run.system.kind.value
    ),
    _column("ended", "Text", "UTC time of the end of the run.", lambda row: row.run.timing.ended),
    _column("planned", "Integer", "Number of items of the track.", lambda row: row.run.scores.overall.planned),
    _column(
        "errors", "Integer", "Items without a verdict. They count as wrong.", lambda row: row.run.scores.overall.errors
    ),
    _column(
        "composite",
        "Float",
        "Composite score, mostly in [0, 1]; empty if unknown.",
        lambda row: row.run.scores.composite.value,
    ),
    _column("composite_low", "Float", "Lower end of its 95 % interval.", lambda row: _end(row, low=True)),
    _column("composite_high", "Float", "Upper end of its 95 % interval.", lambda row: _end(row, low=False)),
    _column(
        "best_rank",
        "Float",
        "Best rank that the data allow; empty if the run is not ranked.",
        lambda row: row.rank.best if row.rank else None,
    ),
    _column(
        "worst_rank",
        "Float",
        "Worst rank that the data allow; empty if the run is not ranked.",
        lambda row: row.rank.worst if row.rank else None,
    ),
    _column("standing", "Text", "Why the run has a rank or not.", lambda row: row.standing.value),
    _column("grades", "Text", "How far the grades can be trusted.", lambda row: row.trust.grades.value),
    _column("answers", "Text", "How far the answers can be trusted.", lambda row: row.trust.answers.value),
    _column("accepted", "Boolean", "Whether a maintainer accepted the run.", lambda row: row.accepted),
)


def score_table(board: Board) -> bytes:
    """Return a CSV file with one row per run, by benchmark, track and run id. Ranks are those of the leaderboard."""
    rows = {row.run.run_id: row for row in board.runs}
    rows |= {row.run.run_id: row for table in board.tables for row in table.rows}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.field.name for column in COLUMNS])
    for row in sorted(rows.values(), key=lambda row: (row.run.track.benchmark, row.run.track_id, row.run.run_id)):
        writer.writerow([safe_cell(column.read(row)) for column in COLUMNS])
    return out.getvalue().encode("utf-8", "replace")


def _end(row: BoardRow, *, low: bool) -> float | None:
    interval = row.run.scores.composite.interval
    if interval is None:
        return None
    return interval.low if low else interval.high
