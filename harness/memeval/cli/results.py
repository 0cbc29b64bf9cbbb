"""``make results``: makes the stored set of runs, verifies each run, and records it in the ledger."""

from __future__ import annotations

import gc
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memeval.archive.ledger import Ledger, author_of
from memeval.archive.runs import RunFolder
from memeval.cli.shared import DEFAULT_RESULTS, Results, counted, print_table, resume_hint
from memeval.records.errors import BadInput, CheckFailed, ExitCode, MemevalError
from memeval.records.ledger import LedgerEvent, Runner

if TYPE_CHECKING:
    from memeval.evaluation.plan.executing import PlannedRun, RunOutcome
    from memeval.evaluation.verify.checks.subject import Sessions
    from memeval.execution.progress import Progress

FILE = Path("results.toml")
"""The set of runs of this checkout."""

Track = tuple[str, str | None, str | None]
"""Benchmark, protocol and tier."""

NEW, STORED, FAILED = "new", "stored before", "failed"
COLUMNS = (NEW, STORED, "not applicable", FAILED)
"""What happened to a run of the set: columns of the printed table."""


@dataclass(frozen=True)
class Recording:
    """Where runs are stored, and who records them in the ledger."""

    results: Path
    by: str
    accept: str | None = None
    """The reason with which new runs are accepted; ``None`` to accept none."""
    sessions: Sessions | None = None
    """Benchmarks that are open already; ``None`` for none."""


def selected(runs: Sequence[PlannedRun], chosen: Mapping[str, Sequence[str]]) -> list[PlannedRun]:
    """Return the runs that were chosen.

    ``chosen``: names by kind: ``benchmark`` (with or without its version), ``protocol``, ``tier``, ``system`` (a slug).
    No names for a kind: all of them. Raises ``BadInput`` if a name matches no planned run.
    """
    for kind, names in chosen.items():
        known = {name for run in runs for name in _names(run)[kind]}
        if unknown := [name for name in names if name not in known]:
            raise BadInput(
                f"the {kind} '{unknown[0]}' is not in the set of runs.", remedy=f"It has: {', '.join(sorted(known))}."
            )
    return [
        run
        for run in runs
        if all(not names or not set(names).isdisjoint(_names(run)[kind]) for kind, names in chosen.items())
    ]


def _names(run: PlannedRun) -> dict[str, tuple[str, ...]]:
    return {
        "benchmark": (run.benchmark, run.benchmark.partition("@")[0]),
        "protocol": (str(run.protocol),),
        "tier": (str(run.tier),),
        "system": (run.slug,),
    }


def _matrices(files: Sequence[Path], names: Sequence[str]) -> list[Path]:
    """Return the matrix files with some names, without their ending; all files for no names."""
    stems = [path.stem for path in files]
    if unknown := [name for name in names if name not in stems]:
        raise BadInput(
            f"the matrix '{unknown[0]}' is not in the set of runs.", remedy=f"Its matrices: {', '.join(stems)}."
        )
    return [path for path in files if not names or path.stem in names]


def make(runs: Sequence[PlannedRun], recording: Recording, progress: Progress) -> list[RunOutcome]:
    """Make runs; verify, grade again and record each as soon as it is finished.

    Runs on a benchmark without data are left out, with one message for each benchmark.
    """
    from memeval.benchmarks import find
    from memeval.evaluation.plan.executing import run_plan
    from memeval.options import RunOptions

    missing = [name for name in dict.fromkeys(run.benchmark for run in runs) if not find(name).available()]
    for name in missing:
        progress.note(f"{name} skipped: its data is not on this machine. {find(name).remedy()}")
    runs = [run for run in runs if run.benchmark not in missing]
    return [
        _recorded(outcome, recording, progress)
        for outcome in run_plan(runs, RunOptions(results=recording.results), progress)
    ]


def _recorded(outcome: RunOutcome, recording: Recording, progress: Progress) -> RunOutcome:
    """Verify, grade again and record a run, if there is one; return its outcome, which is now perhaps a failure."""
    from memeval.evaluation.plan.executing import RunState

    try:
        record(outcome.folders, recording)
    except MemevalError as error:
        progress.note(f"failed: {error}")
        return replace(outcome, state=RunState.FAILED, error=error, folders=())
    return outcome


def record(folders: Sequence[RunFolder], recording: Recording) -> None:
    """Verify runs, grade them again, record each equal result once in the ledger, and accept them if there is a reason.

    Runs that the ledger calls reproduced are not checked again. Raises ``CheckFailed`` if a run failed verification or
    reproduction, or is a regression.
    """
    from memeval import api
    from memeval.evaluation.run.provenance import memeval_version
    from memeval.evaluation.verify.checks.subject import Sessions
    from memeval.evaluation.verify.verification import verify_run

    ledger, sessions = Ledger(recording.results), recording.sessions or Sessions()
    known = {(entry.run_id, entry.run_digest) for entry in ledger.entries() if entry.event is LedgerEvent.REPRODUCED}
    for folder in folders:
        if (folder.run.run_id, folder.digest) in known:
            continue
        findings = verify_run(folder, sessions) or list(api.reproduce(folder).findings)
        if findings:
            raise CheckFailed(str(findings[0]))
        reason = f"{folder.run.coverage.done} grades equal, by memeval {memeval_version()}"
        ledger.append(LedgerEvent.REPRODUCED, folder, by=recording.by, reason=reason)
    for folder in () if recording.accept is None else folders:
        _accept(folder, recording)


def make_matrix(file: Path, recording: Recording, progress: Progress) -> None:
    """Run a matrix, store it, and verify, grade again and record its runs.

    Raises ``CheckFailed`` if a cell failed, or a run failed verification or reproduction. Raises ``BadInput`` if the
    matrix file is not valid.
    """
    from memeval import api

    progress.note(f"matrix {file.stem}")
    made = api.matrix(file, options=api.RunOptions(results=recording.results), progress=progress)
    folders = [outcome.folder for outcome in made.outcomes if outcome.folder is not None]
    record(folders, recording)
    if len(folders) < len(made.outcomes):
        errors = [outcome.error for outcome in made.outcomes if outcome.error is not None]
        raise CheckFailed(f"{counted(len(errors), 'cell')} of the matrix failed: {errors[0]}", where=file)
    print(f"matrix {file.stem}: {counted(len(folders), 'run')}, in {made.folder.path}")


def _accept(folder: RunFolder, recording: Recording) -> None:
    """Accept a verified run as a run by a maintainer, unless the ledger already has a decision about it.

    Raises ``CheckFailed`` if the run is a regression.
    """
    from memeval.cli.ledger import reason_with_regression

    decisions = (LedgerEvent.ACCEPTED, LedgerEvent.INVALIDATED, LedgerEvent.SUPERSEDED)
    ledger = Ledger(recording.results)
    if any(each.event in decisions and each.run_id == folder.run.run_id for each in ledger.entries()):
        return
    reason = reason_with_regression(folder, recording.results, recording.accept or "", accepted=False)
    ledger.append(LedgerEvent.ACCEPTED, folder, by=recording.by, reason=reason, runner=Runner.MAINTAINER)


def print_minutes(outcomes: Sequence[RunOutcome], before: set[Path]) -> None:
    """Print a table: for each track, how many runs there are, and the minutes and megabytes of the stored runs.

    The minutes of a run are those from its start to its end, also if the run was stored before.
    """
    tracks: dict[Track, list[RunOutcome]] = defaultdict(list)
    for outcome in outcomes:
        tracks[outcome.planned.track].append(outcome)
    lines = [["benchmark, protocol, tier", *COLUMNS, "minutes", "MB"]]
    totals: dict[str, float] = defaultdict(float)
    for track, members in tracks.items():
        folders = [folder for outcome in members for folder in outcome.folders]
        counts = Counter(STORED if folder.path in before else NEW for folder in folders)
        counts.update(str(outcome.state) for outcome in members if not outcome.folders)
        minutes = sum(map(_minutes, folders))
        totals[track[0]] += minutes
        size = sum(file.stat().st_size for folder in folders for file in folder.path.rglob("*") if file.is_file())
        numbers = [str(counts[name]) for name in COLUMNS]
        lines.append([", ".join(map(str, track)), *numbers, f"{minutes:.1f}", f"{size / 1e6:.1f}"])
    print_table(lines)
    print()
    print_table([["benchmark", "minutes"], *([name, f"{minutes:.1f}"] for name, minutes in totals.items())])


def _minutes(folder: RunFolder) -> float:
    timing = folder.run.timing
    return (datetime.fromisoformat(timing.ended) - datetime.fromisoformat(timing.started)).total_seconds() / 60


def _only(option: str, metavar: str, what: str) -> Any:
    return typer.Option(option, metavar=metavar, help=f"Only this {what}, repeatable.")


def results(
    only: Annotated[list[str] | None, _only("--only", "BENCHMARK", "benchmark")] = None,
    protocol: Annotated[list[str] | None, _only("--protocol", "NAME", "protocol")] = None,
    tier: Annotated[list[str] | None, _only("--tier", "NAME", "tier")] = None,
    system: Annotated[list[str] | None, _only("--system", "SLUG", "system")] = None,
    matrix: Annotated[list[str] | None, _only("--matrix", "NAME", "matrix")] = None,
    file: Annotated[Path, typer.Option("--file", help="The file with the set of runs.")] = FILE,
    accept: Annotated[
        str | None,
        typer.Option("--accept", metavar="REASON", help="Accept each run as a maintainer's run, for this reason."),
    ] = None,
    by: Annotated[str | None, typer.Option("--by", help="Author of ledger entries. Default: your login name.")] = None,
    show: Annotated[bool, typer.Option("--list", help="Print the planned runs. Run nothing.")] = False,
    results: Results = DEFAULT_RESULTS,
) -> None:
    """Make the set of runs of results.toml.

    Finished runs are reused, and an interrupted run resumes. Each run is verified, graded again, and recorded in the
    ledger. Then prints the minutes of each benchmark.

    Example: python -m memeval.cli.results --only locomo
    """
    from memeval.evaluation.plan.reading import matrix_files, planned_runs
    from memeval.evaluation.verify.checks.subject import Sessions
    from memeval.execution.progress import Bar

    chosen = {"benchmark": only or (), "protocol": protocol or (), "tier": tier or (), "system": system or ()}
    runs = [] if matrix else selected(planned_runs(file), chosen)
    matrices = [] if any(chosen.values()) else _matrices(matrix_files(file), matrix or ())
    if show:
        print("\n".join([*map(str, runs), *(f"matrix {path.stem}" for path in matrices)]))
        return
    began, before = time.monotonic(), {head.parent for head in results.glob("*/*/*/run.json")}
    recording = Recording(results, author_of(by), accept, Sessions())
    try:
        with Bar() as progress:
            outcomes = make(runs, recording, progress)
            for each in matrices:
                make_matrix(each, recording, progress)
    except KeyboardInterrupt:
        print(f"memeval: interrupted. {resume_hint()}", file=sys.stderr)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    if outcomes:
        print_minutes(outcomes, before)
    failed = [outcome for outcome in outcomes if outcome.state == FAILED]
    print(f"\nDone in {(time.monotonic() - began) / 60:.1f} minutes.")
    for outcome in failed:
        print(f"failed: {outcome.planned}: {outcome.error}")
    if failed:
        raise CheckFailed(f"{counted(len(failed), 'run')} failed.", remedy="Fix the cause, and run the command again.")


def main() -> None:
    """Run the command, and exit with its exit code."""
    gc.set_threshold(300_000, 20, 100)  # as the command line sets it
    try:
        typer.run(results)
    except MemevalError as error:
        print(f"memeval: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
