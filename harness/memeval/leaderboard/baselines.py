"""The baseline of a regression check: the last accepted runs of the same system on the same track, or a named run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from memeval.archive.ledger import Ledger
from memeval.archive.remote.automatic import fetch_missing
from memeval.archive.runs import RunFolder, find_run
from memeval.leaderboard.measured import read_measured
from memeval.leaderboard.regressions import check_metrics, status_of
from memeval.records.check import Baseline, GateStatus, RegressionCheck
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEntry, LedgerEvent
from memeval.records.run import Run, SystemKind
from memeval.records.scores import ERROR_GATE
from memeval.records.settings import CheckSettings, CheckThresholds
from memeval.records.track import differing_parts

LAST = re.compile(r"last-([1-9][0-9]{0,2})")


def check_run(
    folder: RunFolder, results: Path, settings: CheckSettings, baseline: str | None = None
) -> RegressionCheck:
    """Compare a run with its baseline. Rows that are only in the archive are fetched.

    Args:
        results: the results folder with the ledger and the accepted runs.
        settings: thresholds, and the number of baseline runs.
        baseline: ``last-N`` for the last N accepted runs, or a run by folder or id; ``None`` for the number in the
            settings.

    Raises:
        BadInput: the baseline does not exist or is on another track, or a run is damaged or lacks rows.
    """
    entries = Ledger(results).entries()
    wanted = baseline or f"last-{settings.baseline_runs}"
    last = LAST.fullmatch(wanted)
    notes: list[str] = []
    if last:
        found = _accepted_before(folder, results, entries, int(last[1]), notes)
        thin = len(found) < int(last[1])
    else:
        found, thin = [_named(folder, find_run(results, wanted), entries, notes)], False
    fetch_missing([folder, *found])  # what is still missing is an error where it is read
    current, run = read_measured(folder), folder.run
    metrics = check_metrics(current, [read_measured(each) for each in found], settings) if found else ()
    return RegressionCheck(
        run_id=run.run_id,
        system=run.system.slug,
        version=run.system.version,
        benchmark=run.track.benchmark,
        protocol=run.track.protocol,
        track_id=run.track_id,
        status=status_of(metrics) if found else GateStatus.NO_BASELINE,
        baseline=Baseline(kind=wanted if last else "run", runs=tuple(each.run.run_id for each in found), thin=thin)
        if found
        else None,
        metrics=metrics,
        tests=sum(metric.corrected is not None for metric in metrics),
        thresholds=CheckThresholds(**{name: getattr(settings, name) for name in CheckThresholds.model_fields}),
        notes=tuple(notes),
    )


def _accepted_before(
    folder: RunFolder, results: Path, entries: Sequence[LedgerEntry], number: int, notes: list[str]
) -> list[RunFolder]:
    """Return the last accepted runs of the same system on the same track, newest first.

    Invalidated and superseded runs, partial runs and runs over the error gate are left out.
    """
    run = folder.run
    accepted: dict[str, set[str | None]] = {}
    for entry in entries:
        if entry.event is LedgerEvent.ACCEPTED and entry.run_id is not None:
            accepted.setdefault(entry.run_id, set()).add(entry.run_digest)
    void = {e.run_id for e in entries if e.event in (LedgerEvent.INVALIDATED, LedgerEvent.SUPERSEDED)}
    home = results / run.track.benchmark.partition("@")[0] / run.system.slug
    found: list[RunFolder] = []
    elsewhere: RunFolder | None = None
    for head in _newest_first(home):
        name = head.parent.name
        if name not in accepted or name in void or name == run.run_id:
            continue
        other = RunFolder(head.parent)
        if other.digest not in accepted[name]:
            raise BadInput(
                "run.json was changed after the run was accepted.",
                where=other.path,
                remedy="Restore the file, or invalidate the run: memeval ledger invalidate.",
            )
        if not _is_earlier(other.run, run) or not _counts(other.run) or _is_control(other.run) is not _is_control(run):
            continue
        if other.run.track.id != run.track.id or other.run.coverage.limit != run.coverage.limit:
            elsewhere = elsewhere or other
            continue
        found.append(other)
        if len(found) == number:
            break
    if not found and elsewhere is not None:
        parts = ", ".join(_differing(run, elsewhere.run))
        notes.append(f"The last accepted run, {elsewhere.run.run_id}, is on another track. Different: {parts}.")
    return found


def newest_run(folder: RunFolder, results: Path) -> RunFolder | None:
    """Return the newest run like another one, accepted or not, that can be its baseline.

    Returns: A complete run of the same system on the same track with few errors; ``None`` if there is none.
    """
    run = folder.run
    home = results / run.track.benchmark.partition("@")[0] / run.system.slug
    for head in _newest_first(home):
        other = RunFolder(head.parent)
        is_other = other.run.run_id != run.run_id and _is_control(other.run) is _is_control(run)
        if is_other and _counts(other.run) and not _differing(run, other.run):
            return other
    return None


def _newest_first(home: Path) -> Iterator[Path]:
    yield from sorted(home.glob("*/run.json"), key=lambda head: head.parent.name, reverse=True)


def _is_earlier(one: Run, other: Run) -> bool:
    return (one.timing.started, one.run_id) < (other.timing.started, other.run_id)


def _is_control(run: Run) -> bool:
    return run.system.kind is SystemKind.CONTROL


def _counts(run: Run) -> bool:
    done = min(run.coverage.planned, run.coverage.limit or run.coverage.planned)
    tally = run.scores.overall
    return run.coverage.done >= done and tally.errors <= ERROR_GATE * max(1, run.coverage.done)


def _named(folder: RunFolder, other: RunFolder, entries: Sequence[LedgerEntry], notes: list[str]) -> RunFolder:
    """Return a named baseline run."""
    run, base = folder.run, other.run
    if base.run_id == run.run_id:
        raise BadInput(f"run {run.run_id} is its own baseline.", remedy="Name another run with --baseline.")
    events = {e.event for e in entries if e.run_id == base.run_id}
    if LedgerEvent.INVALIDATED in events:
        raise BadInput(f"the baseline run {base.run_id} is invalidated.", remedy="Name another run with --baseline.")
    if parts := _differing(run, base):
        raise BadInput(
            f"the baseline run {base.run_id} is on another track. Different: {', '.join(parts)}.",
            remedy="Name a run of the same track, or use --baseline last-5.",
        )
    if LedgerEvent.ACCEPTED not in events:
        notes.append("The baseline run is not accepted.")
    if base.system.slug != run.system.slug:
        notes.append(f"The baseline run is of another system, {base.system.slug}.")
    return other


def _differing(one: Run, other: Run) -> list[str]:
    limit = [] if one.coverage.limit == other.coverage.limit else ["limit"]
    return [*differing_parts(one.track, other.track), *limit]
