"""Which runs belong to one line of history: those of one system on one track."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from memeval.records.ledger import LedgerEntry, LedgerEvent
from memeval.records.run import Run, SystemKind


class LeftOut(StrEnum):
    INVALIDATED = "invalidated"
    CORRECTED = "superseded by a run on the same track"
    PARTIAL = "partial"
    UNDATED = "without a valid start time"


@dataclass(frozen=True)
class RunSeries:
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
        """Equal for series that one chart may show: the track, and the sessions that the systems receive."""
        return self.latest.track_id, self.latest.system.view.value


@dataclass(frozen=True)
class History:
    series: tuple[RunSeries, ...]
    left_out: Mapping[LeftOut, int] = field(default_factory=dict)


def started_at(run: Run) -> datetime | None:
    """Return when a run started, in UTC; ``None`` if its file has no time between 1970 and 9000."""
    try:
        found = datetime.fromisoformat(run.timing.started)
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return found if 1970 <= found.year < 9000 else None


def history_of(runs: Iterable[Run], entries: Iterable[LedgerEntry] = ()) -> History:
    """Assign runs, in any order, to series: each keeps its track.

    Invalidated and partial runs are left out, and so are runs that were superseded by a run on the same track. Runs of
    released versions have a history of their own.
    """
    listed = [run for run in runs if run.product_version is None]
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
    grouped: dict[tuple[str, str, bool, str, str], list[Run]] = defaultdict(list)
    for _at, run in dated:
        name, system = run.track.benchmark.partition("@")[0], run.system
        key = (name, system.slug, system.kind is SystemKind.CONTROL, run.track_id, system.view.value)
        grouped[key].append(run)
    series = tuple(
        RunSeries(slug, is_control, benchmark, tuple(members), superseded & {run.run_id for run in members})
        for (benchmark, slug, is_control, *_track), members in sorted(grouped.items(), key=lambda pair: pair[0][:3])
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
