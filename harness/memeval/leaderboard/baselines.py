"""The baseline of a regression check: the last accepted runs of the same system on the same track, or a named run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memeval.archive.histories import history_of_system, measured_runs
from memeval.archive.ledger import Ledger
from memeval.archive.remote.automatic import fetch_missing
from memeval.archive.runs import RunFolder, find_run
from memeval.leaderboard.measured import MeasuredRun, read_items, read_measured
from memeval.leaderboard.regressions import check_metrics, drift_metrics, metrics_against, status_of
from memeval.leaderboard.releases import releases
from memeval.leaderboard.samples import GRADES
from memeval.records.check import Baseline, GateComparison, GateStatus, RegressionCheck
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEntry, LedgerEvent
from memeval.records.run import Run, SystemKind
from memeval.records.scores import ERROR_GATE
from memeval.records.settings import CheckSettings, CheckThresholds
from memeval.records.track import differing_parts

LAST = re.compile(r"last-([1-9][0-9]{0,2})")

LAST_VERSION = "last-version"
"""The baseline of the last released version of the product; see ``memeval history``."""

REGRESSED = "regression accepted ("

LEAST_DRIFT = 8
"""Fewest runs in which a drift is searched for, the checked one included: six are in the baseline anyway."""


def check_run(
    folder: RunFolder, results: Path, settings: CheckSettings, baseline: str | None = None
) -> RegressionCheck:
    """Compare a run with its baseline. Rows that are only in the archive are fetched.

    ``results``: the results folder with the ledger and the accepted runs. ``settings``: thresholds, and the number of
    baseline runs. ``baseline``: ``last-N`` for the last N accepted runs, ``last-version`` for the run of the last
    released version, or a run by folder or id; ``None`` for the number in the settings. Raises ``BadInput`` if
    the baseline does not exist or is on another track, or a run is
    damaged or lacks rows.
    """
    entries = Ledger(results).entries()
    wanted = baseline or f"last-{settings.baseline_runs}"
    last = LAST.fullmatch(wanted)
    notes: list[str] = []
    accepted: list[RunFolder] = []
    if last:
        accepted = _accepted_before(folder, results, entries, notes)
        found, thin = accepted[: int(last[1])], len(accepted) < int(last[1])
    else:
        other = _last_version(folder, results) if wanted == LAST_VERSION else find_run(results, wanted)
        found, thin = [_named(folder, other, entries, notes)], False
    others = _comparisons(folder, results, settings, entries, accepted, found, notes)
    # What is still missing of the baseline is an error where it is read.
    needed = (folder, *found, *(each for other in others for each in other.runs))
    fetch_missing({each.path: each for each in needed}.values())
    current, run = read_measured(folder), folder.run
    kind = wanted if last or wanted == LAST_VERSION else "run"
    level = settings.significance_percent / 100 / (1 + len(others))
    metrics = check_metrics(current, [read_measured(each) for each in found], settings, level) if found else ()
    comparisons = tuple(filter(None, (_compared(other, current, settings, level, notes) for other in others)))
    everything = (*metrics, *(metric for each in comparisons for metric in each.metrics))
    return RegressionCheck(
        run_id=run.run_id,
        system=run.system.slug,
        version=run.system.version,
        benchmark=run.track.benchmark,
        protocol=run.track.protocol,
        track_id=run.track_id,
        status=status_of(everything) if found else GateStatus.NO_BASELINE,
        baseline=Baseline(
            kind=kind,
            runs=tuple(each.run.run_id for each in found),
            thin=thin,
        )
        if found
        else None,
        metrics=metrics,
        tests=sum(metric.corrected is not None for metric in metrics),
        level=level,
        comparisons=comparisons,
        thresholds=CheckThresholds(**{name: getattr(settings, name) for name in CheckThresholds.model_fields}),
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class _Other:
    kind: str
    runs: Sequence[RunFolder]
    release: str | None = None
    candidates: int = 1
    """Number of runs among which the run was chosen by its score: the level is divided by it."""


def _comparisons(
    folder: RunFolder,
    results: Path,
    settings: CheckSettings,
    entries: Sequence[LedgerEntry],
    accepted: Sequence[RunFolder],
    found: Sequence[RunFolder],
    notes: list[str],
) -> list[_Other]:
    """Return the further comparisons of a run with an accepted baseline.

    A loss that a maintainer accepted is not reported again: runs before it do not count. ``accepted``: the accepted
    runs before it, newest first. ``found``: those of the baseline.
    """
    if not found or not accepted:
        return []
    regressed = {e.run_id for e in entries if e.event is LedgerEvent.ACCEPTED and e.reason.startswith(REGRESSED)}
    place = next((number for number, each in enumerate(accepted) if each.run.run_id in regressed), None)
    since = accepted if place is None else accepted[: place + 1]
    start = since[-1].run.timing.started
    chosen: list[_Other] = []
    if settings.against_release and (released := _released(folder, results)) is not None:
        version, other = released
        if place is not None and other.run.timing.started < start:
            notes.append(f"Not compared with release {version}: a later loss was accepted.")
        elif [each.run.run_id for each in found] != [other.run.run_id]:
            chosen.append(_Other("release", [other], version))
    scored = [each for each in since if each.run.scores.composite.value is not None]
    best = max(scored, key=lambda each: each.run.scores.composite.value or 0.0, default=None)
    known = {each.path for each in (*found, *(run for other in chosen for run in other.runs))}
    if settings.against_best and best is not None and best.path not in known:
        chosen.append(_Other("best", [best], candidates=len(scored)))
    window = since[: settings.drift_runs]
    if len(window) + 1 >= LEAST_DRIFT:
        chosen.append(_Other("drift", [*reversed(window), folder]))
    return chosen


def _released(folder: RunFolder, results: Path) -> tuple[str, RunFolder] | None:
    """Return the last release with a run of the same system on the same track, and that run if it is here."""
    run = folder.run
    home = folder.path.parent
    for release in reversed(releases(results)):
        for row in release.rows:
            if (row.system, row.track_id) == (run.system.slug, run.track_id) and row.run_id != run.run_id:
                other = RunFolder(results / home.parent.name / home.name / row.run_id)
                is_same = (other.path / "run.json").is_file() and other.digest == row.run_digest
                if is_same and _is_control(other.run) is _is_control(run) and not _differing(run, other.run):
                    return release.version, other
    return None


def _compared(
    other: _Other, current: MeasuredRun, settings: CheckSettings, level: float, notes: list[str]
) -> GateComparison | None:
    if missing := next((each for each in other.runs if not each.file(GRADES).exists()), None):
        notes.append(f"Not compared ({other.kind}): the rows of run {missing.run.run_id} are not here.")
        return None
    level /= other.candidates
    plan, items = current.run.track.categories, [read_items(each) for each in other.runs]
    if other.kind == "drift":
        metrics = drift_metrics(plan, items, settings, level)
    else:
        metrics = metrics_against(plan, current.items, items[0], settings, level)
    return GateComparison(
        kind=other.kind,
        runs=tuple(each.run.run_id for each in other.runs),
        release=other.release,
        level=level,
        metrics=metrics,
    )


def _accepted_before(
    folder: RunFolder, results: Path, entries: Sequence[LedgerEntry], notes: list[str]
) -> list[RunFolder]:
    """Return the accepted runs of the same system on the same track, newest first.

    Invalidated and superseded runs, partial runs and runs over the error gate are left out.
    """
    run = folder.run
    accepted: dict[str, set[str | None]] = {}
    for entry in entries:
        if entry.event is LedgerEvent.ACCEPTED and entry.run_id is not None:
            accepted.setdefault(entry.run_id, set()).add(entry.run_digest)
    void = {e.run_id for e in entries if e.event in (LedgerEvent.INVALIDATED, LedgerEvent.SUPERSEDED)}
    found: list[RunFolder] = []
    elsewhere: RunFolder | None = None
    for other in _newest_first(run, results):
        name = other.path.name
        if name not in accepted or name in void or name == run.run_id:
            continue
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
    if not found and elsewhere is not None:
        parts = ", ".join(_differing(run, elsewhere.run))
        notes.append(f"The last accepted run, {elsewhere.run.run_id}, is on another track. Different: {parts}.")
    return found


def _last_version(folder: RunFolder, results: Path) -> RunFolder:
    """Return the run of the last released version on the same track. Raises ``BadInput`` without one."""
    run = folder.run
    slug, track = run.system.slug, run.track
    history = history_of_system(results, slug)
    found = None
    for _version, _made, other in measured_runs(results, history) if history else ():
        if other is not None and other.run.track_id == run.track_id and other.run.run_id != run.run_id:
            found = other
    if found is None:
        command = f"memeval history {slug} --last 1 --benchmark {track.benchmark}/{track.protocol}/{track.tier}"
        raise BadInput(
            f"no released version of '{slug}' was measured on this track.", where=results, remedy=f"Run: {command}."
        )
    return found


def newest_run(folder: RunFolder, results: Path) -> RunFolder | None:
    """Return the newest run like another one, accepted or not, that can be its baseline.

    Returns: A complete run of the same system on the same track with few errors; ``None`` if absent.
    """
    run = folder.run
    for other in _newest_first(run, results):
        is_other = other.run.run_id != run.run_id and _is_control(other.run) is _is_control(run)
        if is_other and _counts(other.run) and not _differing(run, other.run):
            return other
    return None


def _newest_first(run: Run, results: Path) -> list[RunFolder]:
    """Return the runs of a system on a benchmark, whatever their track."""
    home = results / run.track.benchmark.partition("@")[0] / run.system.slug
    return [RunFolder(head.parent) for head in sorted(home.glob("*/run.json"), reverse=True)]


def _is_earlier(one: Run, other: Run) -> bool:
    return (one.timing.started, one.run_id) < (other.timing.started, other.run_id)


def _is_control(run: Run) -> bool:
    return run.system.kind is SystemKind.CONTROL


def _counts(run: Run) -> bool:
    done = min(run.coverage.planned, run.coverage.limit or run.coverage.planned)
    tally = run.scores.overall
    return run.coverage.done >= done and tally.errors <= ERROR_GATE * max(1, run.coverage.done)


def _named(folder: RunFolder, other: RunFolder, entries: Sequence[LedgerEntry], notes: list[str]) -> RunFolder:
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
