"""A run as a flat table with one row per item: ids, numbers and states, no text of the benchmark or the system."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from memeval.archive.rows import csv_text
from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.writing import RunItem, RunItems, ordinals
from memeval.benchmarks.session import BenchmarkSession
from memeval.exchange.parquet import Kind, Row, arrow_table, has_pyarrow, pyarrow_modules, total
from memeval.grading.scoring import SKIPPED, headline
from memeval.keys import ItemKey
from memeval.records.errors import BadInput

_SECONDS = ("take_in_seconds", "settle_seconds", "search_seconds", "ask_seconds", "read_seconds")

FIXED: dict[str, Kind] = {
    "item_id": Kind.TEXT,
    "scenario_id": Kind.TEXT,
    "question_ids": Kind.TEXT,
    "category": Kind.TEXT,
    "cluster": Kind.TEXT,
    "grader": Kind.TEXT,
    "state": Kind.TEXT,
    "outcome": Kind.TEXT,
    "worth": Kind.NUMBER,
    "verdict": Kind.FLAG,
    "credit": Kind.NUMBER,
    "value": Kind.NUMBER,
    "flags": Kind.TEXT,
    "judgment_key": Kind.TEXT,
    "attempts": Kind.WHOLE,
    "retrieved": Kind.TEXT,
    "context_tokens": Kind.WHOLE,
    "reported_tokens": Kind.NUMBER,
    "prompt_tokens": Kind.WHOLE,
    "completion_tokens": Kind.WHOLE,
    **dict.fromkeys(_SECONDS, Kind.NUMBER),
}
"""Columns of every table, in order, with their types."""

_RUN_COLUMNS = {"slice": Kind.TEXT, "metric": Kind.NUMBER, "rule": Kind.NUMBER}
"""Types of the columns that depend on the run, by name prefix; these columns come last."""


def write_csv(run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
    """Write a run as CSV: UTF-8, comma-separated, unknown values blank.

    ``benchmark_session``: the benchmark, opened on its data; if ``None``, skipped items are not listed. Raises
    ``BadInput`` if the run cannot be read.
    """
    rows = list(_rows(run, benchmark_session))
    flags = {True: "true", False: "false"}
    cells = ({name: flags[cell] if isinstance(cell, bool) else cell for name, cell in row.items()} for row in rows)
    to.write_text(csv_text(_columns(rows), cells), encoding="utf-8", newline="")
    return [to]


def write_parquet(run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
    """Write a run as Parquet, with the columns of :func:`write_csv`.

    Raises ``BadInput`` if ``pyarrow`` is not installed, or the run cannot be read.
    """
    if not has_pyarrow():
        raise BadInput(
            "Parquet needs the package pyarrow, which is not installed.",
            remedy="Install it: pip install pyarrow (about 170 MB). The format 'csv' writes the same table.",
        )
    rows = list(_rows(run, benchmark_session))
    _pyarrow, parquet = pyarrow_modules()
    parquet.write_table(arrow_table({name: _kind(name) for name in _columns(rows)}, rows), to)
    return [to]


def _rows(run: RunFolder, benchmark_session: BenchmarkSession | None) -> Iterator[Row]:
    graded = set()
    for item in RunItems(run, benchmark_session):
        graded.add(item.grade.item_id)
        yield _row(item)
    for key in () if benchmark_session is None else benchmark_session.keys:
        if key.item_id not in graded:
            yield _skipped(key)


def _row(run_item: RunItem) -> Row:
    grade = run_item.grade
    rows = [answer.response for answer in run_item.answers]
    tokens = [answer.tokens for answer in run_item.answers if answer.tokens is not None]
    return {
        "item_id": grade.item_id,
        "scenario_id": " ".join(dict.fromkeys(row.scenario_id for row in rows)),
        "question_ids": " ".join(row.question_id for row in rows),
        "category": grade.category,
        "cluster": grade.cluster,
        "grader": grade.grader,
        "state": grade.state.value,
        "outcome": None if run_item.outcome is None else run_item.outcome.value,
        "worth": headline(grade) or 0.0,
        "verdict": grade.verdict,
        "credit": grade.credit,
        "value": grade.value,
        "flags": " ".join(flag.value for flag in grade.flags),
        "judgment_key": grade.judgment_key,
        "attempts": max((answer.attempts for answer in run_item.answers), default=0),
        "retrieved": " ".join(
            dict.fromkeys(ordinal for row in rows for item in row.items or () for ordinal in ordinals(item))
        ),
        "context_tokens": total(row.context_tokens for row in rows),
        "reported_tokens": total(row.reported_tokens for row in rows),
        "prompt_tokens": total(sent for sent, _received in tokens),
        "completion_tokens": total(received for _sent, received in tokens),
        **{name: total(getattr(row.timings, name) for row in rows) for name in _SECONDS},
        **{f"slice.{name}": value for name, value in grade.slices.items()},
        **{f"metric.{name}": value for name, value in grade.metrics.items()},
        **{f"rule.{name}": value for name, value in grade.alternates.items()},
    }


def _skipped(key: ItemKey) -> Row:
    """Return the row of a planned item without a response; it counts as wrong."""
    return {
        "item_id": key.item_id,
        "scenario_id": key.scenario_id,
        "question_ids": " ".join(key.question_ids),
        "category": key.category,
        "cluster": key.cluster,
        "state": SKIPPED,
        "worth": 0.0,
        **{f"slice.{name}": value for name, value in key.slices.items()},
    }


def _columns(rows: Sequence[Row]) -> list[str]:
    """Return the columns: first the fixed ones, then those of the run, sorted."""
    own, kinds = {name for row in rows for name in row}.difference(FIXED), list(_RUN_COLUMNS)
    return [*FIXED, *sorted(own, key=lambda name: (kinds.index(name.partition(".")[0]), name))]


def _kind(column: str) -> Kind:
    return FIXED.get(column) or _RUN_COLUMNS[column.partition(".")[0]]
