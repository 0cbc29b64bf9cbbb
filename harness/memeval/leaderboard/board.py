"""The board: every run in its track, ranked only against runs of the same track."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from memeval.archive.ledger import Ledger, Trust, trust_of
from memeval.archive.runs import RunFolder
from memeval.records.grade import Grade
from memeval.records.ledger import Deed, LedgerEntry
from memeval.records.run import Run, SystemKind
from memeval.records.track import Track
from memeval.statistics.composite import Layout, Sample
from memeval.statistics.ranks import RankRange, rank_ranges

ERROR_GATE = 0.02
"""Above this share of errors a run is shown and not ranked."""


BLIND_CONTROLS = frozenset({"no-memory", "echo-question", "always-hedge", "always-hedge-shrinking", "always-error"})
"""Controls that know nothing of the history: the floor that a memory must rise above."""


class Standing(StrEnum):
    """Why a row has a rank, or has none."""

    RANKED = "ranked"
    CONTROL = "control"
    PARTIAL = "partial"
    OVER_ERROR_GATE = "over the error gate"
    NO_COMPOSITE = "no composite"
    UNLABELLED_JUDGE = "unlabelled judge"
    INVALIDATED = "invalidated"
    SUPERSEDED = "superseded"


@dataclass(frozen=True)
class Row:
    """One run on the board."""

    folder: RunFolder
    run: Run
    trust: Trust
    standing: Standing
    rank: RankRange | None
    gap: float | None
    """Composite minus that of the best control that knows nothing of the history; ``None`` where either is absent."""
    entries: tuple[LedgerEntry, ...]
    """What the ledger says of the run, oldest first."""

    @property
    def error_rate(self) -> float:
        """Share of planned items without a verdict."""
        tally = self.run.scores.overall
        return tally.errors / tally.planned if tally.planned else 0.0


@dataclass(frozen=True)
class Table:
    """A track and its rows, best first; controls stand among them without a rank."""

    track: Track
    rows: tuple[Row, ...]
    """One row a system: its latest run that counts."""


@dataclass(frozen=True)
class Board:
    """All tracks, and every run there ever was."""

    tables: tuple[Table, ...]
    runs: tuple[Row, ...]
    """Every run, superseded and invalidated ones among them, newest first."""
    ledger: tuple[LedgerEntry, ...]

    def of_system(self, slug: str) -> tuple[Row, ...]:
        """Return all runs of a system, newest first."""
        return tuple(row for row in self.runs if row.run.system.slug == slug)

    def systems(self) -> tuple[str, ...]:
        """Return the slugs of all systems on the board, sorted."""
        return tuple(sorted({row.run.system.slug for row in self.runs}))


def build_board(folders: Iterable[RunFolder], ledger: Ledger) -> Board:
    """Place every run in its track and rank what can be ranked.

    Args:
        folders: the sealed runs.
        ledger: what happened to them.

    Raises:
        BadInput: a run or the ledger cannot be read.
    """
    entries = tuple(ledger.entries())
    rows = [_row(folder, entries) for folder in folders]
    rows.sort(key=lambda row: (row.run.timing.started, row.run.run_id), reverse=True)
    tracks: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        tracks[row.run.track_id].append(row)
    tables = [_table(members) for members in tracks.values()]
    tables.sort(key=lambda table: (table.track.benchmark, table.track.reader != "native", table.track.id))
    placed = {row.run.run_id: row for table in tables for row in table.rows}
    return Board(
        tables=tuple(tables),
        runs=tuple(placed.get(row.run.run_id, row) for row in rows),
        ledger=entries,
    )


def _row(folder: RunFolder, entries: Sequence[LedgerEntry]) -> Row:
    mine = tuple(entry for entry in entries if entry.run_id == folder.run.run_id)
    return Row(
        folder=folder,
        run=folder.run,
        trust=trust_of(folder, mine),
        standing=_standing(folder.run, {entry.deed for entry in mine}),
        rank=None,
        gap=None,
        entries=mine,
    )


def _standing(run: Run, deeds: set[Deed]) -> Standing:
    tally = run.scores.overall
    if Deed.INVALIDATED in deeds:
        return Standing.INVALIDATED
    if Deed.SUPERSEDED in deeds:
        return Standing.SUPERSEDED
    if not run.coverage.full:
        return Standing.PARTIAL
    if run.system.kind is SystemKind.CONTROL:
        return Standing.CONTROL
    if tally.errors > ERROR_GATE * tally.planned:
        return Standing.OVER_ERROR_GATE
    if run.scores.composite.value is None:
        return Standing.NO_COMPOSITE
    if run.track.judge_endpoint is not None and run.track.judge_label is None:
        return Standing.UNLABELLED_JUDGE
    return Standing.RANKED


def _table(members: Sequence[Row]) -> Table:
    """Make a track's table from its runs, newest first."""
    shown: dict[str, Row] = {}
    for row in members:
        if row.standing not in (Standing.INVALIDATED, Standing.SUPERSEDED):
            held = shown.get(row.run.system.slug)
            if held is None or (held.standing is Standing.PARTIAL and row.standing is not Standing.PARTIAL):
                shown[row.run.system.slug] = row
    track = members[0].run.track
    ranks = _ranks([row for row in shown.values() if row.standing is Standing.RANKED])
    floor = max(
        (
            row.run.scores.composite.value
            for row in shown.values()
            if row.run.system.slug in BLIND_CONTROLS and row.run.scores.composite.value is not None
        ),
        default=None,
    )
    rows = [
        replace(row, rank=ranks.get(row.run.run_id), gap=_gap(row, floor)) for row in sorted(shown.values(), key=_place)
    ]
    return Table(track=track, rows=tuple(rows))


def _gap(row: Row, floor: float | None) -> float | None:
    value = row.run.scores.composite.value
    return None if value is None or floor is None else value - floor


def _place(row: Row) -> tuple[bool, float, str]:
    value = row.run.scores.composite.value
    return (value is None, -(value or 0.0), row.run.system.slug)


def _sample(row: Row) -> tuple[Layout, Sample]:
    """Return a run's items as plain numbers for the paired statistics, in the order of the track's table."""
    track = row.run.track
    grades: dict[str, list[Grade]] = {category.name: [] for category in track.categories}
    for grade in row.folder.grades():
        grades[grade.category].append(grade)
    layout = Layout(
        weights=tuple(category.weight for category in track.categories),
        clusters=tuple(tuple(grade.cluster for grade in members) for members in grades.values()),
    )
    return layout, [[grade.verdict is True for grade in members] for members in grades.values()]


def _ranks(ranked: Sequence[Row]) -> dict[str, RankRange]:
    """Return the rank ranges of a track's rankable rows, by run id."""
    if not ranked:
        return {}
    layouts, samples = zip(*map(_sample, ranked), strict=True)
    ranges = rank_ranges(layouts[0], samples)
    return {row.run.run_id: rank for row, rank in zip(ranked, ranges, strict=True)}
