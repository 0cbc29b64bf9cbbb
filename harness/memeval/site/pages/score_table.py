"""All scores of a board as one table, with a description of every column."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memeval.archive.rows import csv_text
from memeval.exchange.parquet import Kind, arrow_table, pyarrow_modules
from memeval.leaderboard.board import Board, BoardRow
from memeval.site.pages.croissant import DataField
from memeval.site.table.columns import Column
from memeval.site.table.spending import SPENDING, total_cost


@dataclass(frozen=True)
class ScoreColumn:
    field: DataField
    read: Callable[[BoardRow], Any]


def _column(name: str, kind: str, meaning: str, read: Callable[[BoardRow], Any]) -> ScoreColumn:
    return ScoreColumn(DataField(name, kind, meaning), read)


_MEASURED = {
    "tokens_per_question": "Mean context tokens per question; empty if unknown.",
    "cost_per_question_usd": "US dollars of the model calls for search and answers, per question; empty if unknown.",
    "cost_usd": "US dollars of the whole run; empty if unknown. `cost_note` says why it is 0 or unknown.",
    "ask_p50_seconds": "Median answer latency in seconds; with a fixed reader, that of the search.",
    "ask_p95_seconds": "95th percentile of the answer latency in seconds; with a fixed reader, that of the search.",
    "take_in_total_seconds": "Sum of the time to ingest all sessions, over all workers, in seconds.",
}
"""Columns of the tables that this table has too, with their meanings."""


def _measured(column: Column) -> ScoreColumn:
    return _column(column.name, "Float", _MEASURED[column.name], lambda row: column.read(row).value)


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
    _column("crashes", "Integer", "How often the process of the system crashed.", lambda row: row.run.crashes),
    _column(
        "composite",
        "Float",
        "Composite score, mostly in [0, 1]; empty if unknown.",
        lambda row: row.score,
    ),
    _column("composite_low", "Float", "Lower end of its 95 % interval.", lambda row: row.run.scores.composite.ends[0]),
    _column("composite_high", "Float", "Upper end of its 95 % interval.", lambda row: row.run.scores.composite.ends[1]),
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
    _column(
        "against_baseline",
        "Text",
        "Whether the score is significantly better or worse than that of the best simple baseline of its table.",
        lambda row: row.against_baseline.word if row.against_baseline else None,
    ),
    *(_measured(column) for column in SPENDING if column.name in _MEASURED),
    _column(
        "cost_note", "Text", "Why the cost is 0 or unknown; empty if it is measured.", lambda row: total_cost(row).note
    ),
    _column(
        "configuration",
        "Text",
        "What of a product ran: product, version, mode, embedder and model; empty if not stated.",
        lambda row: row.run.system.configured,
    ),
    _column(
        "product_licence",
        "Text",
        "Licence of the product, by its package’s metadata; empty if not stated. The adapter may have another one.",
        lambda row: row.run.system.product.licence if row.run.system.product else None,
    ),
    _column(
        "mock",
        "Boolean",
        "Whether a stand-in replaces a part that the product needs. A mock is never ranked.",
        lambda row: row.run.system.mock,
    ),
    _column("grades", "Text", "How far the grades can be trusted.", lambda row: row.trust.grades.value),
    _column("answers", "Text", "How far the answers can be trusted.", lambda row: row.trust.answers.value),
    _column("accepted", "Boolean", "Whether a maintainer accepted the run.", lambda row: row.accepted),
)


_TYPES = {"Text": Kind.TEXT, "Float": Kind.NUMBER, "Integer": Kind.WHOLE, "Boolean": Kind.FLAG}


def score_rows(board: Board) -> list[dict[str, Any]]:
    """Return one row per run, by benchmark, track and run id. Ranks are those of the leaderboard."""
    rows = {row.run.run_id: row for row in board.runs}
    rows |= {row.run.run_id: row for table in board.tables for row in table.rows}
    order = sorted(rows.values(), key=lambda row: (row.run.track.benchmark, row.run.track_id, row.run.run_id))
    return [{column.field.name: column.read(row) for column in COLUMNS} for row in order]


def score_csv(rows: list[dict[str, Any]]) -> bytes:
    """Return the rows as CSV: unknown values are empty."""
    return csv_text((column.field.name for column in COLUMNS), rows).encode("utf-8", "replace")


def score_parquet(rows: list[dict[str, Any]]) -> bytes:
    """Return the rows as Parquet: unknown values are null. Raises ImportError: pyarrow is not installed."""
    pyarrow, parquet = pyarrow_modules()
    stream = pyarrow.BufferOutputStream()
    parquet.write_table(arrow_table({each.field.name: _TYPES[each.field.type] for each in COLUMNS}, rows), stream)
    content: bytes = stream.getvalue().to_pybytes()
    return content
