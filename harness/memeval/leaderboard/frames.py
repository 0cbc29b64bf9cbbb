"""Runs, categories and trends as pandas data frames."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.archive.trust import TrustFacts, derive_trust
from memeval.leaderboard.frame_columns import CATEGORIES, RUNS, TRENDS, Column, Kind, Row
from memeval.leaderboard.frame_rows import USES_MODEL, category_rows, run_row, trend_rows
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEntry, LedgerEvent
from memeval.records.run import Isolation, SystemKind

if TYPE_CHECKING:
    import pandas as pd


class Frames:
    """Data frames of all sealed runs in a results folder. Each is built when first used.

    The scores are those in ``run.json``, which the board shows. The columns and their meanings are in
    :mod:`memeval.leaderboard.frame_columns`. Changing a frame changes no file.

    Args:
        results: the results folder.

    Raises:
        BadInput: there is no such folder. While a frame is built: a run or the ledger cannot be read.
    """

    def __init__(self, results: str | Path = "results") -> None:
        if not isinstance(results, str | Path):
            raise BadInput(
                f"results is {type(results).__name__}, and a folder belongs here.", remedy="Give the results folder."
            )
        self._results = Path(results)
        if not self._results.is_dir():
            raise BadInput("there is no such folder.", where=self._results, remedy="Give the results folder.")

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row a run, oldest first. The columns are ``frame_columns.RUNS``."""
        return _frame(self._run_rows, RUNS)

    @cached_property
    def categories(self) -> pd.DataFrame:
        """One row for each category of each run. The columns are ``frame_columns.CATEGORIES``."""
        by_run = self._category_rows
        return _frame([row for run in self._run_rows for row in by_run[str(run["run_digest"])]], CATEGORIES)

    @cached_property
    def trends(self) -> pd.DataFrame:
        """One row for each measure of each run, in time order within system, track and measure.

        Superseded and invalidated runs are included; the column ``state`` names them. The columns are
        ``frame_columns.TRENDS``.
        """
        return _frame(list(trend_rows(self._run_rows, self._category_rows)), TRENDS)

    @cached_property
    def _folders(self) -> list[RunFolder]:
        return sealed_runs(self._results)

    @cached_property
    def _run_rows(self) -> list[Row]:
        """The rows of ``runs``, oldest first."""
        of_run: dict[str | None, list[LedgerEntry]] = defaultdict(list)
        for entry in Ledger(self._results).entries():
            of_run[entry.run_id].append(entry)
        rows = []
        for folder in self._folders:
            row = run_row(folder)
            path = folder.path.relative_to(self._results).as_posix()
            rows.append({**row, "path": path, **_ledger_cells(row, of_run[str(row["run_id"])])})
        return sorted(rows, key=lambda row: (int(row["started"] or 0), str(row["run_id"]), str(row["path"])))

    @cached_property
    def _category_rows(self) -> dict[str, list[Row]]:
        """The rows of ``categories``, by digest of the run."""
        return {folder.digest: list(category_rows(folder)) for folder in self._folders}


def _ledger_cells(row: Row, entries: Sequence[LedgerEntry]) -> Row:
    """Return the cells of a run that depend on the ledger; see ``frame_columns.LEDGER``.

    Args:
        row: the row of the run.
        entries: ledger entries of the run's id, oldest first.
    """
    digest = str(row["run_digest"])
    facts = TrustFacts(
        run_id=str(row["run_id"]),
        digest=digest,
        kind=SystemKind(str(row["system_kind"])),
        isolation=Isolation(str(row["isolation"])),
        uses_model=bool(row[USES_MODEL]),
    )
    trust = derive_trust(facts, entries)
    deeds = {entry.deed for entry in entries}
    ended = next((deed for deed in (LedgerEvent.INVALIDATED, LedgerEvent.SUPERSEDED) if deed in deeds), None)
    return {
        "state": "current" if ended is None else ended.value,
        "accepted": any(entry.deed is LedgerEvent.ACCEPTED and entry.run_digest == digest for entry in entries),
        "grade_trust": trust.grades.value,
        "answer_trust": trust.answers.value,
    }


def _frame(rows: Sequence[Row], columns: Iterable[Column]) -> pd.DataFrame:
    """Return rows as a data frame with typed columns; other cells of the rows are left out."""
    pandas = import_module("pandas")
    cells = {}
    for column in columns:
        values = [row.get(column.name) for row in rows]
        if column.kind is Kind.TIME:
            cells[column.name] = pandas.to_datetime(pandas.Series(values, dtype="Int64"), unit="us", utc=True).astype(
                column.kind.value
            )
        else:
            cells[column.name] = pandas.Series(values, dtype=column.kind.value)
    made: pd.DataFrame = pandas.DataFrame(cells)
    return made
