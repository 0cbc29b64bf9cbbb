"""The board: every run in its track, ranked only among runs of the same track."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from functools import cached_property
from itertools import chain

import numpy as np

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.archive.trust import Trust, last_samples, trust_of
from memeval.execution.readers import NATIVE
from memeval.gateway.endpoints import is_makers
from memeval.leaderboard.marks import (
    NOT_ABOVE_NO_MEMORY,
    AcrossRuns,
    Mark,
    MarkName,
    is_general_control,
    is_reviewed,
    marks_across,
    marks_of_samples,
    marks_within,
)
from memeval.leaderboard.ranking import PairTest, TrackTests, tied_apart, track_tests
from memeval.leaderboard.samples import GRADES
from memeval.leaderboard.standing import catalogue_of, has_answers_run, has_source, is_rebuilt
from memeval.leaderboard.traces import Traces
from memeval.local import is_local
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEntry, LedgerEvent, Sample
from memeval.records.overall import TiedPair
from memeval.records.run import BLIND_CONTROLS, ContextSource, Run, SystemKind
from memeval.records.scores import ERROR_GATE
from memeval.records.track import Track
from memeval.statistics.flips import PValues
from memeval.statistics.ranks import RankRange

NO_MEMORY = "no-memory"
"""The control that stores nothing. A system that scores no higher is probably broken."""

RECENCY = "recency-window"
"""The control that keeps the last turns alone."""

ALWAYS_UNSURE = "always-hedge"
"""The control whose every answer is unsure."""

FILE_GREP = "file-grep"
"""The control that searches text files for words, as an agent does without a memory product."""

WORD_SEARCH = frozenset({"bm25", "bm25-texts", FILE_GREP})
"""The controls that readers know as plain keyword search."""

NOTICE = timedelta(days=14)

PLUMBING = "plumbing"
"""The label of a judge that only tests the software: its runs are never ranked and never published. A track whose data
only tests the software has it as its parameter ``label``; such a track has no ranks."""


class RankStatus(StrEnum):
    RANKED = "ranked"
    CONTROL = "control"
    PARTIAL = "partial"
    OVER_ERROR_GATE = "over the error gate"
    NO_COMPOSITE = "no composite"
    NOTHING_FOUND = "nothing found"
    """It ingested histories, and no question brought anything up: the product stored nothing, or cannot find it."""
    UNLABELLED_JUDGE = "unlabelled judge"
    """The endpoint of the judge is not its maker's, and no label names its provider."""
    PLUMBING = "plumbing"
    MOCK = "mock"
    """A stand-in replaces a part that the product needs, so its scores say nothing about the product."""
    NOT_THE_VENDOR = "never run against the vendor"
    """It is a hosted product, but another service replied."""
    UNRELEASED = "not the released data"
    """The data differs from what the benchmark's authors released."""
    UNVERIFIED = "unverified data"
    """The benchmark's authors publish no digest, so the data cannot be verified."""
    IMPORTED = "imported"
    """Its answers were made elsewhere: what its file says of reader and limits cannot be checked."""
    AWAITING_VENDOR = "awaiting the vendor"
    """The vendor has not agreed, and its notice period has not passed."""
    INVALIDATED = "invalidated"
    SUPERSEDED = "superseded"
    UNREVIEWED = "waiting for review"
    """It has a mark that honest runs do not get, and no maintainer has reviewed it; see ``Mark.bars``."""
    NOT_ACCEPTED = "not accepted"
    """It is newer than an accepted run of the same system on the same track, and does not replace it."""
    NO_SOURCE = "source not stored"
    """The files of its system are neither stored with the runs nor shipped with memeval."""
    NO_ANSWERS_RUN = "run of its answers missing"
    """It grades the answers of another run, which is not stored."""
    NOT_REBUILT = "track not rebuilt"
    """The benchmark is not installed, its data is not the catalogue's, or no maintainer reproduced the run."""
    ROWS_ELSEWHERE = "rows in the archive"
    """Its grades are not in this folder, so it cannot be compared item by item."""


WITHDRAWN = (RankStatus.INVALIDATED, RankStatus.SUPERSEDED)
"""Runs that no longer count."""


@dataclass(frozen=True)
class Spread:
    """The composites of several runs with equal inputs."""

    runs: int
    low: float
    high: float


@dataclass(frozen=True)
class BoardRow:
    folder: RunFolder
    run: Run
    trust: Trust
    standing: RankStatus
    rank: RankRange | None
    gap: float | None
    """Composite minus that of the best control that never sees the history; ``None`` if either is missing."""
    entries: tuple[LedgerEntry, ...]
    place: int | None = None
    """Rank by score alone among the ranked runs; equal scores share it."""
    ranked: int = 0
    """Number of ranked runs of the track, this one included; 0 if it has no rank."""
    baseline: str | None = None
    """Slug of the table's baseline, if the run was tested against it."""
    against_baseline: PairTest | None = None
    """The run against the baseline; ``None`` if either has no tests."""
    marks: tuple[Mark, ...] = ()
    """What a maintainer should review; empty for controls, and after a review."""
    spread: Spread | None = None
    """This run and its repetitions; ``None`` if the system ran once."""

    @property
    def score(self) -> float | None:
        """The composite score; ``None`` without one."""
        return self.run.scores.composite.value

    @property
    def is_control(self) -> bool:
        """Whether memeval ships the system. Its slug is not enough: anyone can use ``no-memory``."""
        return self.run.system.kind is SystemKind.CONTROL

    @property
    def doubtful(self) -> bool:
        return any(mark.name is MarkName.NOT_ABOVE_NO_MEMORY for mark in self.marks)

    @property
    def accepted(self) -> bool:
        """Whether a maintainer accepted the run with its current bytes."""
        return any(
            entry.event is LedgerEvent.ACCEPTED and entry.run_digest == self.folder.digest for entry in self.entries
        )

    @property
    def samples(self) -> dict[LedgerEvent, Sample]:
        return last_samples(entry for entry in self.entries if entry.run_digest == self.folder.digest)

    @property
    def replies(self) -> tuple[LedgerEntry, ...]:
        return tuple(entry for entry in self.entries if entry.event is LedgerEvent.REPLIED)

    @property
    def error_rate(self) -> float:
        tally = self.run.scores.overall
        return tally.errors / tally.planned if tally.planned else 0.0


@dataclass(frozen=True)
class BoardTable:
    """A track and its rows, best first; controls are included, without a rank."""

    track: Track
    rows: tuple[BoardRow, ...]
    """One row per system: its latest accepted run; if absent, its latest valid run."""
    baseline: Run | None = None
    """The run of the simple baseline with the highest composite: a control of every benchmark that sees neither the
    whole history nor the evidence."""
    tests: TrackTests | None = None
    """The tests of the ranked runs and the baseline; ``None`` if no run is ranked."""

    @property
    def ranked(self) -> int:
        return sum(row.rank is not None for row in self.rows)

    def control(self, slug: str) -> BoardRow | None:
        return next((row for row in self.rows if row.is_control and row.run.system.slug == slug), None)

    @cached_property
    def tied_apart(self) -> tuple[TiedPair, ...]:
        """The pairs of ranked systems that are tied although their intervals do not overlap, each with the reason."""
        if self.tests is None:
            return ()
        places = {self.tests.runs[row.folder.path]: row.run for row in self.rows if row.rank is not None}
        runs = [places[place] for place in range(len(places))]
        ends = [run.scores.composite.ends for run in runs]
        tested = PValues(self.tests.tested.p[0], self.tests.tested.corrected[0])
        return tied_apart([run.system.slug for run in runs], ends, *np.triu_indices(len(self.tests.runs), 1), tested)


@dataclass(frozen=True)
class Board:
    tables: tuple[BoardTable, ...]
    runs: tuple[BoardRow, ...]
    ledger: tuple[LedgerEntry, ...]

    def of_system(self, slug: str) -> tuple[BoardRow, ...]:
        return tuple(row for row in self.runs if row.run.system.slug == slug)

    def systems(self) -> tuple[str, ...]:
        return tuple(sorted({row.run.system.slug for row in self.runs}))


def build_board(
    folders: Iterable[RunFolder], ledger: Ledger, traces: Traces | None = None, *, compare_responses: bool = True
) -> Board:
    """Assign every run to its track, and rank the runs that qualify. Runs of released versions are left out.

    ``traces``: what is known of the responses already, and receives what is read. ``compare_responses``: whether to
    search for copied responses, which takes most of the time; else runs have no marks that need other runs. Raises
    ``BadInput`` if a run or the ledger cannot be read.
    """
    entries = tuple(ledger.entries())
    folders = [folder for folder in folders if folder.run.product_version is None]
    across = marks_across(folders if compare_responses else [], entries, traces)
    of_run: dict[str | None, list[LedgerEntry]] = defaultdict(list)
    for entry in entries:
        of_run[entry.run_id].append(entry)
    # An edit of run.json voids its trust, but not its invalidation: otherwise an edit would restore the run.
    rows = [_row(folder, tuple(of_run.get(folder.run.run_id, ())), across) for folder in folders]
    rows.sort(key=_age, reverse=True)
    tracks: dict[str, list[BoardRow]] = defaultdict(list)
    for row in rows:
        tracks[row.run.track_id].append(row)
    tracks = {track_id: _beside_accepted(members) for track_id, members in tracks.items()}
    rows = sorted(chain.from_iterable(tracks.values()), key=_age, reverse=True)
    tables = [_table(members) for members in tracks.values()]
    tables.sort(key=_table_order)
    placed = {row.folder.path: row for table in tables for row in table.rows}
    return Board(tables=tuple(tables), runs=tuple(placed.get(row.folder.path, row) for row in rows), ledger=entries)


def _age(row: BoardRow) -> tuple[str, str]:
    return row.run.timing.started, row.run.run_id


def _table_order(table: BoardTable) -> tuple[str, bool, int, str]:
    track = table.track
    return track.benchmark, track.reader != NATIVE, -len(table.rows), track.id


def check_track(folder: RunFolder) -> None:
    run = folder.run
    if run.track_id != run.track.id:
        raise BadInput(
            f"track_id is {run.track_id}, but the track's parts give {run.track.id}.",
            where=folder.path / "run.json",
            remedy="Restore the file, or record a new run.",
        )


def _row(folder: RunFolder, mine: tuple[LedgerEntry, ...], across: AcrossRuns) -> BoardRow:
    check_track(folder)
    run = folder.run
    marks = () if is_reviewed(folder, mine) else across.marks.get(folder.path, ())
    marks += tuple(marks_of_samples(folder, mine))
    standing = _standing(folder, mine)
    if standing is RankStatus.RANKED and any(mark.bars for mark in marks):
        standing = RankStatus.UNREVIEWED
    return BoardRow(
        folder=folder,
        run=run,
        trust=trust_of(folder, [entry for entry in mine if not across.void(entry)]),
        standing=standing,
        rank=None,
        gap=None,
        entries=mine,
        marks=marks,
    )


def _standing(folder: RunFolder, entries: Sequence[LedgerEntry]) -> RankStatus:
    run, events = folder.run, {entry.event for entry in entries}
    tally = run.scores.overall
    if LedgerEvent.INVALIDATED in events:
        return RankStatus.INVALIDATED
    if LedgerEvent.SUPERSEDED in events:
        return RankStatus.SUPERSEDED
    if is_plumbing(run.track):
        return RankStatus.PLUMBING
    if not run.coverage.full:
        return RankStatus.PARTIAL
    if run.system.kind is SystemKind.CONTROL:
        return RankStatus.CONTROL
    if run.imported is not None:
        return RankStatus.IMPORTED
    if run.track.parameters.get("label") == PLUMBING:
        return RankStatus.PLUMBING
    if _is_unverified(run.track.benchmark):
        return RankStatus.UNVERIFIED
    if not run.track.released:
        return RankStatus.UNRELEASED
    if run.system.mock:
        return RankStatus.MOCK
    if run.system.vendor is not None and (waits := _vendors(run, entries)) is not None:
        return waits
    if tally.errors > ERROR_GATE * tally.planned:
        return RankStatus.OVER_ERROR_GATE
    if run.scores.composite.value is None:
        return RankStatus.NO_COMPOSITE
    if run.ingested_in_vain is not None:
        return RankStatus.NOTHING_FOUND
    if is_unlabelled(run.track):
        return RankStatus.UNLABELLED_JUDGE
    if not has_source(folder):
        return RankStatus.NO_SOURCE
    if not has_answers_run(folder):
        return RankStatus.NO_ANSWERS_RUN
    if not is_rebuilt(folder, entries):
        return RankStatus.NOT_REBUILT
    if not folder.file(GRADES).exists():
        return RankStatus.ROWS_ELSEWHERE
    return RankStatus.RANKED


def _is_unverified(benchmark: str) -> bool:
    """Return whether a benchmark's data cannot be verified; false for an unknown benchmark."""
    info = catalogue_of(benchmark)
    return info is not None and info.unverified


def _vendors(run: Run, entries: Iterable[LedgerEntry]) -> RankStatus | None:
    """Return why a hosted product has no rank, or ``None``. Depends on the ledger only, not on the clock."""
    vendor = run.system.vendor
    if vendor is None:
        return None
    if vendor.never_run or any(use.elsewhere for use in run.system.hosts):
        return RankStatus.NOT_THE_VENDOR
    if vendor.agreed is not None:
        return None
    accepted = [date.fromisoformat(entry.at[:10]) for entry in entries if entry.event is LedgerEvent.ACCEPTED]
    told = None if vendor.notified is None else date.fromisoformat(vendor.notified)
    had_notice = told is not None and any(day - told >= NOTICE for day in accepted)
    return None if had_notice else RankStatus.AWAITING_VENDOR


def is_plumbing(track: Track) -> bool:
    return track.judge_label is not None and track.judge_label.strip().lower() == PLUMBING


def is_unlabelled(track: Track) -> bool:
    """Return whether the endpoint of a track's judge is not its maker's, and no label names its provider."""
    if track.judge_endpoint is None or track.judge_label is not None:
        return False
    model = track.judge.partition(":")[2].rpartition("@")[0]
    return not is_local(track.judge_endpoint) and not is_makers(track.judge_endpoint, model)


def _table(members: Sequence[BoardRow]) -> BoardTable:
    shown: dict[tuple[str, bool], BoardRow] = {}
    for row in sorted(_counted(members), key=_precedence):  # stable: of equal ones, the newest first
        shown.setdefault(_system(row), row)
    track = members[0].run.track
    ranked = [row for row in shown.values() if row.standing is RankStatus.RANKED]
    baseline = _baseline(shown.values())
    tests = track_tests([row.folder for row in ranked], baseline.folder if baseline else None)
    ranks = tests.ranks if tests else {}
    of_controls = {row.run.system.slug: row.score for row in shown.values() if row.is_control}
    floor = max((score for slug in BLIND_CONTROLS if (score := of_controls.get(slug)) is not None), default=None)
    controls = [row.run for row in shown.values() if is_general_control(row.run)]
    rows = [
        replace(
            row,
            rank=ranks.get(row.folder.path),
            gap=None if row.score is None or floor is None else row.score - floor,
            marks=row.marks + _marks_within(row, controls, of_controls.get(NO_MEMORY)),
            spread=_spread(row, members),
        )
        for row in sorted(shown.values(), key=_place)
    ]
    return BoardTable(
        track=track,
        rows=tuple(_compared(row, rows, baseline, tests) for row in rows),
        baseline=baseline.run if baseline else None,
        tests=tests,
    )


def _spread(row: BoardRow, members: Iterable[BoardRow]) -> Spread | None:
    """Return the composites of a run and of all runs of its system with the same inputs and standing.

    A run that nobody accepted does not count beside an accepted one, and a replayed run is no repetition.
    """
    values = [
        each.score
        for each in members
        if _system(each) == _system(row)  # controls may share a file, and so the fingerprint
        and each.run.fingerprint == row.run.fingerprint
        and each.standing is row.standing
        and each.accepted == row.accepted
        and not each.run.replayed
        and each.score is not None
    ]
    return Spread(len(values), min(values), max(values)) if len(values) > 1 else None


def _counted(rows: Iterable[BoardRow]) -> list[BoardRow]:
    return [row for row in rows if row.standing not in WITHDRAWN]


def _system(row: BoardRow) -> tuple[str, bool]:
    return row.run.system.slug, row.is_control


def _precedence(row: BoardRow) -> tuple[bool, bool, bool]:
    """Return the sort key of the runs of a system. No run that waits for a maintainer replaces an accepted one."""
    return not row.accepted, row.standing is RankStatus.PARTIAL, row.standing is RankStatus.UNREVIEWED


def _beside_accepted(members: Sequence[BoardRow]) -> list[BoardRow]:
    """Return the runs of a track, newest first; those that wait beside an older, accepted run say so."""
    accepted = {_system(row) for row in _counted(members) if row.accepted}
    found = []
    for row in members:
        waits = row.standing is RankStatus.RANKED and not row.accepted and _system(row) in accepted
        found.append(replace(row, standing=RankStatus.NOT_ACCEPTED) if waits else row)
    return found


def _compared(row: BoardRow, rows: Sequence[BoardRow], baseline: BoardRow | None, tests: TrackTests | None) -> BoardRow:
    if row.rank is None:
        return row
    scores = [other.score or 0.0 for other in rows if other.rank is not None]
    compared = replace(row, place=1 + sum(score > (row.score or 0.0) for score in scores), ranked=len(scores))
    if baseline is None or tests is None:
        return compared
    return replace(
        compared, baseline=baseline.run.system.slug, against_baseline=tests.pair(row.folder.path, baseline.folder.path)
    )


def _baseline(rows: Iterable[BoardRow]) -> BoardRow | None:
    simple = [
        row
        for row in rows
        if row.standing is RankStatus.CONTROL
        and is_general_control(row.run)
        and row.run.context_source not in (ContextSource.FULL_CONTEXT, ContextSource.ORACLE)
        and row.score is not None
        and row.folder.file(GRADES).exists()
    ]
    return min(simple, key=_place, default=None)


def _marks_within(row: BoardRow, controls: Sequence[Run], nothing: float | None) -> tuple[Mark, ...]:
    if is_reviewed(row.folder, row.entries):
        return ()
    known = row.score is not None and nothing is not None
    is_doubtful = row.standing is RankStatus.RANKED and known and (row.score or 0.0) <= (nothing or 0.0)
    return (*((NOT_ABOVE_NO_MEMORY,) if is_doubtful else ()), *marks_within(row.run, controls))


def _place(row: BoardRow) -> tuple[bool, float, str]:
    return (row.score is None, -(row.score or 0.0), row.run.system.slug)
