"""The histories of systems: one for each track, with the runs of each version, in the order of the versions."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from packaging.version import InvalidVersion, Version

from memeval.records.history import MeasuredVersion, VersionHistory, VersionOutcome
from memeval.records.ledger import LedgerEntry, LedgerEvent
from memeval.records.run import Run, SystemKind
from memeval.records.track import Track


class LeftOut(StrEnum):
    INVALIDATED = "invalidated"
    CORRECTED = "superseded by a run on the same track"
    PARTIAL = "partial"
    UNDATED = "without a valid start time"


@dataclass(frozen=True)
class VersionPoint:
    """A version of a product on one track."""

    version: str
    released: str | None
    """Date of its release, ISO 8601; ``None`` if unknown."""
    runs: tuple[Run, ...] = ()
    """Its runs. The first one counts: that of the history of versions, or else the newest."""
    gap: str | None = None
    """Why it has no run, in a sentence; ``None`` with a run."""

    @property
    def run(self) -> Run | None:
        return self.runs[0] if self.runs else None


@dataclass(frozen=True)
class VersionSeries:
    """The versions of a system on one track, oldest first. A version that did not run is a gap."""

    system: str
    is_control: bool
    package: str | None
    """The package whose versions these are; ``None`` if unknown."""
    points: tuple[VersionPoint, ...]

    @property
    def runs(self) -> tuple[Run, ...]:
        """The run that counts of each version that ran."""
        return tuple(point.run for point in self.points if point.run is not None)

    @property
    def latest(self) -> Run:
        return self.runs[-1]

    @property
    def track(self) -> Track:
        return self.latest.track

    @property
    def benchmark(self) -> str:
        """Name of the benchmark, without its version."""
        return self.track.benchmark.partition("@")[0]

    @property
    def is_dated(self) -> bool:
        """Whether every version has the date of its release."""
        return all(point.released is not None for point in self.points)


@dataclass(frozen=True)
class History:
    series: tuple[VersionSeries, ...]
    left_out: Mapping[LeftOut, int] = field(default_factory=dict)

    @property
    def with_versions(self) -> tuple[VersionSeries, ...]:
        """The series in which at least two versions ran."""
        return tuple(each for each in self.series if len(each.runs) > 1)


def started_at(run: Run) -> datetime | None:
    """Return when a run started, in UTC; ``None`` if its file has no time between 1970 and 9000."""
    try:
        found = datetime.fromisoformat(run.timing.started)
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return found if 1970 <= found.year < 9000 else None


def version_of(run: Run) -> str:
    """Return the version of the product that ran, or else that of the submission."""
    product = run.system.product
    return (product.version if product else None) or run.system.version


def history_of(
    runs: Iterable[Run], entries: Iterable[LedgerEntry] = (), histories: Iterable[VersionHistory] = ()
) -> History:
    """Assign runs, in any order, to series: each keeps its track.

    Invalidated and partial runs are left out, and so are runs that were superseded by a run on the same track. Several
    runs of a version are one point. ``histories``: which versions were chosen, and why some have no run.
    """
    listed = list(runs)
    left_out: Counter[LeftOut] = Counter()
    reasons = _withdrawn(listed, entries)
    chosen = {(each.slug, each.package): each for each in histories}
    grouped: dict[tuple[str, str, bool, str | None, str, str], list[tuple[datetime, Run]]] = defaultdict(list)
    for run in listed:
        at = started_at(run)
        reason = reasons.get(run.run_id) or (None if run.coverage.full else LeftOut.PARTIAL)
        if reason is not None or at is None:
            left_out[reason or LeftOut.UNDATED] += 1
            continue
        name, system = run.track.benchmark.partition("@")[0], run.system
        package = system.product.package if system.product else None
        key = (name, system.slug, system.kind is SystemKind.CONTROL, package, run.track_id, system.view.value)
        grouped[key].append((at, run))
    found = []
    for (_name, slug, is_control, package, *_track), dated in grouped.items():
        dated.sort(key=lambda pair: (pair[1].product_version is not None, pair[0], pair[1].run_id), reverse=True)
        history = chosen.get((slug, package)) if package is not None else None
        points = _points([run for _at, run in dated], history)
        found.append((dated[0][0], VersionSeries(slug, is_control, package, points)))
    found.sort(key=lambda each: (each[1].benchmark, each[1].system, each[1].is_control, each[0], each[1].latest.run_id))
    return History(tuple(series for _at, series in found), left_out)


def _points(runs: Sequence[Run], history: VersionHistory | None) -> tuple[VersionPoint, ...]:
    """Return the versions of a series in order. ``runs``: the one that counts first, of each version."""
    by_version: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_version[version_of(run)].append(run)
    points = []
    for version, members in by_version.items():
        stated = members[0].product_version
        points.append(VersionPoint(version, stated.released if stated else None, tuple(members)))
    for each in history.versions if history else ():
        if each.version not in by_version and (reason := _gap(each, runs[0].track)) is not None:
            points.append(VersionPoint(each.version, each.released, gap=reason))
    return tuple(sorted(points, key=_order(points, history)))


def _order(points: Sequence[VersionPoint], history: VersionHistory | None) -> Callable[[VersionPoint], Any]:
    """Return the sort key of versions: their numbers, or else their places in the history, and then in time."""
    try:
        numbers = {point.version: Version(point.version) for point in points}
    except InvalidVersion:
        known = {each.version: place for place, each in enumerate(history.versions if history else ())}
        first = {point.version: min((run.timing.started for run in point.runs), default="") for point in points}
        return lambda point: (known.get(point.version, len(known)), first[point.version])
    return lambda point: numbers[point.version]


def _gap(version: MeasuredVersion, track: Track) -> str | None:
    """Return why a version has no run on a track; ``None`` if it was not planned there."""
    if version.outcome is not VersionOutcome.RAN:
        return version.reason or f"{version.outcome.value.capitalize()}."
    planned = (
        each.reason
        for each in version.runs
        if (each.benchmark, each.protocol, each.tier) == (track.benchmark, track.protocol, track.tier)
    )
    return next(planned, None)


def _withdrawn(runs: Iterable[Run], entries: Iterable[LedgerEntry]) -> dict[str, LeftOut]:
    tracks = {run.run_id: run.track_id for run in runs}
    reasons: dict[str, LeftOut] = {}
    for entry in entries:
        if entry.run_id is None:
            continue
        if entry.event is LedgerEvent.INVALIDATED:
            reasons[entry.run_id] = LeftOut.INVALIDATED
        elif entry.event is LedgerEvent.SUPERSEDED and tracks.get(entry.other_run_id or "") == tracks.get(entry.run_id):
            reasons.setdefault(entry.run_id, LeftOut.CORRECTED)
    return reasons
