"""Runs, categories, items and trends as pandas data frames."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.archive.histories import stored_histories
from memeval.archive.ledger import Ledger
from memeval.archive.remote.automatic import fetch_missing
from memeval.archive.runs import RunFolder, history_runs, sealed_runs
from memeval.archive.trust import TrustFacts, derive_trust
from memeval.exchange.parquet import Kind, Row, all_names, cells_of
from memeval.leaderboard.frame_columns import (
    CATEGORIES,
    ITEMS,
    LEDGER,
    PANDAS,
    RUNS,
    TRENDS,
    kind_of_item_column,
    kinds,
    names,
)
from memeval.leaderboard.frame_index import RUN, IndexedRows, RunIndex, warn
from memeval.leaderboard.frame_rows import USES_MODEL, category_rows, item_rows, run_row
from memeval.leaderboard.measured import ROWS, check_digest
from memeval.leaderboard.series import history_of
from memeval.leaderboard.trend_rows import point_rows
from memeval.leaderboard.trends import run_measures, trend_of
from memeval.records.base import Digest, canonical_json
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEntry, LedgerEvent
from memeval.records.run import Isolation, SystemKind

if TYPE_CHECKING:
    import pandas as pd

_CATEGORIES = "categories"
"""Column of the index: the categories of a run, as JSON."""

_PATH = "path"
"""The column of ``runs`` that is not in the index, since a run can be moved."""

_HEADS = {
    **{name: kind for name, kind in kinds(RUNS).items() if name not in {*names(LEDGER), _PATH}},
    USES_MODEL: Kind.FLAG,
    _CATEGORIES: Kind.TEXT,
}


class Frames:
    """Data frames of all sealed runs in a results folder. Each is built when first used.

    The scores are those in ``run.json``, which the board shows. The columns and their meanings are in
    :mod:`memeval.leaderboard.frame_columns`. Changing a frame changes no file. A run that is stored twice is there
    once.

    With pyarrow, an index in the cache folder saves reading a run twice; see :mod:`memeval.leaderboard.frame_index`.
    Frames warn of what they leave out, with its ``FramesWarning``. ``rebuild``: whether to read all runs again, instead
    of using the index. Raises BadInput: there is no such folder. While a frame is built: a run or the ledger cannot be
    read.
    """

    def __init__(self, results: str | Path = "results", *, rebuild: bool = False) -> None:
        if not isinstance(results, str | Path):
            raise BadInput(
                f"results is {type(results).__name__}, and a folder belongs here.", remedy="Give the results folder."
            )
        self._results = Path(results)
        self._rebuild = rebuild
        if not self._results.is_dir():
            raise BadInput("there is no such folder.", where=self._results, remedy="Give the results folder.")

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row a run, oldest first. The columns are ``frame_columns.RUNS``."""
        return _frame(self._run_rows, kinds(RUNS))

    @cached_property
    def categories(self) -> pd.DataFrame:
        """One row for each category of each run. The columns are ``frame_columns.CATEGORIES``."""
        by_run = {str(head[RUN]): json.loads(str(head[_CATEGORIES])) for head in self._heads}
        return _frame([row for run in self._run_rows for row in by_run[str(run[RUN])]], kinds(CATEGORIES))

    @cached_property
    def items(self) -> pd.DataFrame:
        """One row for each graded item of each run, in plan order.

        The columns are ``frame_columns.ITEMS``, then those that start with a word of ``frame_columns.MORE_ITEMS``. This
        reads the rows of all runs; rows that are not here are fetched from the archive. A run whose rows are missing
        is left out, with a warning.
        """
        index = RunIndex(self._results, "items", kinds(ITEMS), kind_of_item_column)
        found = index.update(self._folders, _read_items, rebuild=self._rebuild)
        return _item_frame(found, [str(row[RUN]) for row in self._run_rows])

    @cached_property
    def trends(self) -> pd.DataFrame:
        """One row for each measure of each version, oldest version first for each system and track.

        Invalidated and partial runs are left out. A version that did not run has rows without a value. The columns are
        ``frame_columns.TRENDS``.
        """
        runs = [folder.run for folder in (*self._folders.values(), *history_runs(self._results))]
        history = history_of(runs, Ledger(self._results).entries(), stored_histories(self._results))
        rows = [
            {**row, "system_kind": series.latest.system.kind.value, "point": point}
            for series in history.series
            for measure in run_measures(series.runs)
            for point, row in enumerate(point_rows(trend_of(series, measure), None), start=1)
        ]
        return _frame(rows, kinds(TRENDS))

    @cached_property
    def _folders(self) -> dict[Digest, RunFolder]:
        found: dict[Digest, RunFolder] = {}
        for folder in sealed_runs(self._results):
            found.setdefault(RunFolder(folder.path).digest, folder)
        return found

    @cached_property
    def _heads(self) -> list[Row]:
        index = RunIndex(self._results, "runs", _HEADS, kind_of_item_column)
        return index.update(self._folders, _read_heads, rebuild=self._rebuild).rows()

    @cached_property
    def _run_rows(self) -> list[Row]:
        of_run: dict[str | None, list[LedgerEntry]] = defaultdict(list)
        for entry in Ledger(self._results).entries():
            of_run[entry.run_id].append(entry)
        rows = []
        for head in self._heads:
            path = self._folders[str(head[RUN])].path.relative_to(self._results).as_posix()
            rows.append({**head, _PATH: path, **_ledger_cells(head, of_run[str(head["run_id"])])})
        return sorted(rows, key=_place)


def _place(row: Row) -> tuple[Any, str, str]:
    return row["started"], str(row["run_id"]), str(row[_PATH])


def _read_heads(folders: Sequence[RunFolder]) -> Iterator[tuple[Digest, list[Row]]]:
    for each in folders:
        folder = RunFolder(each.path)  # what it reads goes with it
        yield folder.digest, [{**run_row(folder), _CATEGORIES: canonical_json(list(category_rows(folder)))}]


def _read_items(folders: Sequence[RunFolder]) -> Iterator[tuple[Digest, Iterator[Row]]]:
    """Yield the items of runs; a run without its rows is left out, with a warning.

    Raises BadInput: rows are damaged, or do not match the digests in ``run.json``.
    """
    for warning in fetch_missing(RunFolder(each.path) for each in folders):
        warn(warning)
    for each in folders:
        folder = RunFolder(each.path)
        if any(name in folder.run.files and not folder.file(name).exists() for name in ROWS):
            warn(f"{folder.path}: its rows are not here, so its items are left out.")
            continue
        for name in ROWS:
            check_digest(folder, name)
        yield folder.digest, item_rows(folder)


def _ledger_cells(row: Row, entries: Sequence[LedgerEntry]) -> Row:
    """Return the cells of a run that depend on the ledger; see ``frame_columns.LEDGER``.

    ``entries``: ledger entries of the run's id, oldest first.
    """
    digest = str(row[RUN])
    facts = TrustFacts(
        run_id=str(row["run_id"]),
        digest=digest,
        kind=SystemKind(str(row["system_kind"])),
        isolation=Isolation(str(row["isolation"])),
        uses_model=bool(row[USES_MODEL]),
    )
    trust = derive_trust(facts, entries)
    events = {entry.event for entry in entries}
    ended = next((event for event in (LedgerEvent.INVALIDATED, LedgerEvent.SUPERSEDED) if event in events), None)
    return {
        "state": "current" if ended is None else ended.value,
        "accepted": any(entry.event is LedgerEvent.ACCEPTED and entry.run_digest == digest for entry in entries),
        "grade_trust": trust.grades.value,
        "answer_trust": trust.answers.value,
    }


def _item_frame(found: IndexedRows, order: Sequence[Digest]) -> pd.DataFrame:
    if found.table is None:
        place = {digest: number for number, digest in enumerate(order)}
        rows = sorted(found.plain, key=lambda row: place[str(row[RUN])])
        return _frame(rows, _with_more(sorted(all_names(rows))))
    numpy, pyarrow, compute = map(import_module, ("numpy", "pyarrow", "pyarrow.compute"))
    table = found.table
    digests = table[RUN].cast(pyarrow.string())
    places = compute.index_in(digests, value_set=pyarrow.array(order, type=pyarrow.string())).to_numpy()
    table = table.take(numpy.argsort(places, kind="stable"))
    held = [name for name in sorted(table.column_names) if table[name].null_count < len(table)]
    pandas = import_module("pandas")
    types = {pyarrow.int64(): pandas.Int64Dtype(), pyarrow.bool_(): pandas.BooleanDtype()}
    columns = _with_more(held)
    frame: pd.DataFrame = table.select(list(columns)).to_pandas(types_mapper=types.get)
    for name, kind in columns.items():
        if kind is Kind.REPEATED:
            frame[name] = frame[name].cat.remove_unused_categories()
    return frame


def _with_more(found: Iterable[str]) -> dict[str, Kind]:
    fixed = kinds(ITEMS)
    return {**fixed, **{name: kind_of_item_column(name) for name in found if name not in fixed and name != RUN}}


def _frame(rows: Sequence[Row], columns: Mapping[str, Kind]) -> pd.DataFrame:
    pandas = import_module("pandas")
    cells = {name: pandas.Series(cells_of(rows, name, kind), dtype=PANDAS[kind]) for name, kind in columns.items()}
    made: pd.DataFrame = pandas.DataFrame(cells)
    return made
