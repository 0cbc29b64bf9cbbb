"""Which runs belong to one line of history: one system on one benchmark, with settings that follow each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from memeval.leaderboard.track_changes import Change, track_changes
from memeval.records.ledger import LedgerEntry, LedgerEvent
from memeval.records.run import Run, SystemKind

SUPERSEDED = "superseded"


class LeftOut(StrEnum):
    INVALIDATED = "invalidated"
    CORRECTED = "superseded by a run on the same track"
    PARTIAL = "partial"
    UNDATED = "without a valid start time"


@dataclass(frozen=True)
class RunSeries:
    """The runs of one system on one benchmark, oldest first.

    Settings may change from one run to a later one, but do not alternate.
    """

    system: str
    is_control: bool
    benchmark: str
    runs: tuple[Run, ...]
    superseded: frozenset[str] = frozenset()
    """Ids of the runs that were superseded by a run on another track."""

    @property
    def latest(self) -> Run:
        return self.runs[-1]

    @property
    def group(self) -> tuple[str, ...]:
        """Equal for series that one chart may show: the benchmark and the settings chosen for the last run."""
        return (self.benchmark, *_choices(self.latest))

    @cached_property
    def changes(self) -> tuple[tuple[Change, ...], ...]:
        return tuple(track_changes(before, after) for before, after in pairwise(self.runs))

    @property
    def has_line(self) -> bool:
        """Whether two runs are on one track, so that a line can join them."""
        return max(Counter(run.track_id for run in self.runs).values()) > 1


@dataclass(frozen=True)
class History:
    series: tuple[RunSeries, ...]
    left_out: Mapping[LeftOut, int] = field(default_factory=dict)
    """Number of runs that are in no series, by reason."""


def started_at(run: Run) -> datetime | None:
    """Return when a run started, in UTC; ``None`` if its file has no time between 1970 and 9000."""
    try:
        found = datetime.fromisoformat(run.timing.started)
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return found if 1970 <= found.year < 9000 else None


def history_of(runs: Iterable[Run], entries: Iterable[LedgerEntry] = ()) -> History:
    """Assign runs to series.

    Runs of a system on a benchmark share a series if they have equal settings, apart from versions: the version of the
    benchmark, its data, graders, prompts, prices and the like. If a system stops running with some settings,
    such as a judge, and starts with others on a later day, the series goes on. Settings in use side by side give
    several series.

    Invalidated and partial runs are left out, and so are runs that were superseded by a run on the same track.

    ``runs``: any runs, in any order.
    """
    listed = list(runs)
    left_out: Counter[LeftOut] = Counter()
    dated: list[tuple[datetime, Run]] = []
    superseded, reasons = _withdrawn(listed, entries)
    for run in listed:
        at = started_at(run)
        reason = reasons.get(run.run_id) or (None if run.coverage.full else LeftOut.PARTIAL)
        if reason is None and at is not None:
            dated.append((at, run))
        else:
            left_out[reason or LeftOut.UNDATED] += 1
    dated.sort(key=lambda pair: (pair[0], pair[1].run_id))
    grouped: dict[tuple[str, str, bool], list[tuple[datetime, Run]]] = defaultdict(list)
    for at, run in dated:
        name = run.track.benchmark.partition("@")[0]
        grouped[name, run.system.slug, run.system.kind is SystemKind.CONTROL].append((at, run))
    series = tuple(
        RunSeries(slug, is_control, benchmark, tuple(chain), superseded & {run.run_id for run in chain})
        for (benchmark, slug, is_control), members in sorted(grouped.items(), key=lambda pair: pair[0])
        for chain in _chains(members)
    )
    return History(series, left_out)


def _withdrawn(runs: Iterable[Run], entries: Iterable[LedgerEntry]) -> tuple[frozenset[str], dict[str, LeftOut]]:
    tracks = {run.run_id: run.track_id for run in runs}
    superseded, reasons = set(), {}
    for entry in entries:
        if entry.run_id is None:
            continue
        if entry.event is LedgerEvent.INVALIDATED:
            reasons[entry.run_id] = LeftOut.INVALIDATED
        elif entry.event is LedgerEvent.SUPERSEDED:
            if tracks.get(entry.other_run_id or "") == tracks.get(entry.run_id):
                reasons.setdefault(entry.run_id, LeftOut.CORRECTED)
            else:
                superseded.add(entry.run_id)
    return frozenset(superseded), reasons


def _choices(run: Run) -> tuple[str, ...]:
    """Return the settings that a caller chooses, as text, without the versions of readers and judges."""
    track = run.track
    values = (
        track.protocol,
        track.tier,
        track.reader.partition("@")[0],
        track.judge.partition("@")[0],
        track.judge_endpoint,
        track.judge_label,
        track.reader_endpoint,
        track.sample,
        sorted(track.parameters.items()),
        run.system.view.value,
    )
    return tuple("" if value is None else str(value) for value in values)


@dataclass
class _Chain:
    choices: tuple[str, ...]
    members: list[tuple[datetime, Run]]

    def distance(self, choices: tuple[str, ...], first: datetime) -> int | None:
        """Return in how many chosen settings a later track differs; ``None`` if it cannot continue this chain."""
        last = self.members[-1][0]
        apart = sum(one != other for one, other in zip(self.choices, choices, strict=True))
        return apart if last.date() < first.date() or (last < first and not apart) else None


def _chains(members: Iterable[tuple[datetime, Run]]) -> list[list[Run]]:
    tracks: dict[tuple[str, ...], list[tuple[datetime, Run]]] = defaultdict(list)
    for at, run in members:
        tracks[run.track_id, *_choices(run)].append((at, run))
    chains: list[_Chain] = []
    for (_track, *chosen), found in tracks.items():  # in order of their first run
        choices, first = tuple(chosen), found[0][0]
        open_ended = [
            (apart, -chain.members[-1][0].timestamp(), place)
            for place, chain in enumerate(chains)
            if (apart := chain.distance(choices, first)) is not None
        ]
        if open_ended:
            chain = chains[min(open_ended)[2]]
            chain.choices = choices
            chain.members += found
        else:
            chains.append(_Chain(choices, found))
    return [[run for _at, run in chain.members] for chain in chains]
