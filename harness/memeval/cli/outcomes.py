"""What happened to the runs of a command: what is printed, and the exit code that follows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memeval.cli.reporting import crashed, failed_items, is_over_gate, remedy_for, report, score_in_table
from memeval.cli.shared import counted, print_json, visible
from memeval.records.errors import BadInput, CheckFailed, ExitCode, MemevalError

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder
    from memeval.evaluation.plan.executing import RunOutcome

SEVERITY = (ExitCode.BAD_INPUT, ExitCode.BUDGET, ExitCode.CHECK_FAILED)
"""Exit codes, the worst first: wrong input, a run that can be resumed, a failed check."""

FAILED, NOT_APPLICABLE, LEFT_OUT = "failed", "not applicable", "left out"
"""States of a run; see :class:`RunState`."""


def data_of(outcome: RunOutcome) -> dict[str, Any]:
    return {
        "benchmark": outcome.planned.benchmark,
        "state": outcome.state.value,
        "reason": None if outcome.error is None else str(outcome.error),
        "runs": [_run_data(folder) for folder in outcome.folders],
    }


def _run_data(folder: RunFolder) -> dict[str, Any]:
    run = folder.run
    return {
        "folder": str(folder.path),
        "run_id": run.run_id,
        "system": run.system.slug,
        "protocol": run.track.protocol,
        "tier": run.track.tier,
        "track_id": run.track_id,
        "composite": run.scores.composite.data(),
        "coverage": run.coverage.data(),
        "errors": run.scores.overall.errors,
        "crashes": run.crashes,
    }


def print_runs(outcome: RunOutcome, as_json: bool) -> None:
    """Print the scores of the runs on standard error, and their folders unless standard output may hold only JSON."""
    for folder in outcome.folders:
        report(folder)
        if not as_json:
            print(folder.path, flush=True)
    _print_other_protocols(outcome)


def _print_other_protocols(outcome: RunOutcome) -> None:
    """Name the protocols of the benchmark that the system supports too, if the command ran only one of them."""
    if len(outcome.folders) != 1:
        return
    from memeval.benchmarks.registry import find
    from memeval.evaluation.run.readers import protocols_for

    run = outcome.folders[0].run
    info = find(outcome.planned.benchmark).info
    possible = {*protocols_for(run.system.capabilities, info)} - {run.track.protocol}
    others = [f"{each.name} ({each.title})" for each in info.protocols if each.name in possible]
    if others:
        print(f"  Its methods also fit: {', '.join(others)}. Name one with --protocol.", file=sys.stderr)


def failures(outcomes: Sequence[RunOutcome]) -> list[tuple[RunOutcome, MemevalError]]:
    """Return the runs that failed, each with its error.

    A system that does not support a benchmark is one of them if the caller named both, or if there is no run at all.
    """
    any_run = any(each.folders for each in outcomes)
    return [
        (each, each.error)
        for each in outcomes
        if each.error is not None
        and (each.state == FAILED or (each.state == NOT_APPLICABLE and (each.planned.named or not any_run)))
    ]


def worst_of(errors: Sequence[MemevalError], problem: str, remedy: str | None = None) -> MemevalError:
    """Return one error for several, with the worst exit code of all."""
    worst = MemevalError(problem, remedy=remedy)
    worst.exit_code = min((error.exit_code for error in errors), key=SEVERITY.index)
    return worst


def conclude(
    outcomes: Sequence[RunOutcome], *, floor: float | None, limited: bool, as_json: bool, keep_going: bool = False
) -> None:
    """Print the summary, and raise if something failed.

    ``floor``: the lowest accepted composite, in [0, 1]. ``limited``: whether the caller limited the items; such a run
    may have any number of errors. ``keep_going``: whether a limited run may fail on all items with the same error.
    Raises ``MemevalError`` if something failed; it has the worst exit code of all.
    """
    if as_json:
        print_json([data_of(outcome) for outcome in outcomes])
    if len(outcomes) > 1 or all(each.state == LEFT_OUT for each in outcomes):
        _print_summary(outcomes)
    failed = failures(outcomes)
    if len(outcomes) == len(failed) == 1:
        raise failed[0][1]
    folders = [folder for outcome in outcomes for folder in outcome.folders]
    found = [error for _, error in failed] + _below(folders, floor)
    if not limited:
        found += over_the_gate(folders)
    elif not keep_going:
        found += all_failed_alike(folders)
    if len(found) == 1 and not failed:
        raise found[0]
    if found:
        named = ", ".join(outcome.planned.benchmark for outcome, _ in failed) or "every run"
        problem = f"{counted(len(found), 'problem')} ({named}), listed above."
        raise worst_of(found, problem, "Run the same command again: it reuses finished runs.")
    if not folders:
        raise BadInput("no benchmark to run.", remedy="Name one with --benchmark: see memeval data list.")


def _print_summary(outcomes: Sequence[RunOutcome]) -> None:
    """Print the finished, failed and skipped benchmarks, one line each."""
    lines = []
    for outcome in outcomes:
        for folder in outcome.folders:
            run = folder.run
            score = score_in_table(run)
            items = f"{run.coverage.done}/{run.coverage.planned} items"
            errors = counted(run.scores.overall.errors, "error") + crashed(run)
            lines.append(f"  {outcome.planned.benchmark:26} {run.track.protocol:22} {score:22} {items}, {errors}")
    if len(lines) > 1:
        print("\nresults:", *lines, sep="\n", file=sys.stderr)
    failed = [outcome for outcome in outcomes if outcome.state == FAILED]
    if failed:
        print("\nfailed:", file=sys.stderr)
    for outcome in failed:
        _print_lines(f"  {outcome.planned.benchmark:26} {outcome.error}")
    print_skipped(outcomes)


def print_skipped(outcomes: Sequence[RunOutcome]) -> None:
    left_out = [outcome for outcome in outcomes if outcome.state in (LEFT_OUT, NOT_APPLICABLE)]
    if left_out:
        print("\nskipped:", file=sys.stderr)
    for outcome in left_out:
        _print_lines(f"  {outcome.planned.benchmark:26} {outcome.short or (outcome.error and outcome.error.problem)}")


def _print_lines(text: str) -> None:
    print(*map(visible, text.splitlines()), sep="\n    ", file=sys.stderr)


def _below(folders: Sequence[RunFolder], floor: float | None) -> list[MemevalError]:
    """Return an error for the runs with a composite below the floor, and print each on a line."""
    if floor is None:
        return []
    low = []
    for folder in folders:
        value = folder.run.scores.composite.value
        if value is None or value < floor:
            composite = "no composite" if value is None else f"{value:.6g}"
            print(f"FAIL: {composite} < floor {floor:g}", file=sys.stderr)
            low.append(folder.path.name)
    if not low:
        return []
    return [CheckFailed(f"below the floor: {', '.join(low)}.", remedy="Fix the system, or lower --floor.")]


def over_the_gate(folders: Sequence[RunFolder]) -> list[MemevalError]:
    from memeval.records.run import SystemKind

    ranked = [folder for folder in folders if folder.run.system.kind is not SystemKind.CONTROL]
    gated = [folder for folder in ranked if is_over_gate(folder.run)]
    if not gated:
        return []
    named = "; ".join(f"{folder.path}: {failed_items(folder)}" for folder in gated)
    return [CheckFailed(f"{named}. A run with more than 2 % errors is not ranked.", remedy=remedy_for(gated[0]))]


def all_failed_alike(folders: Sequence[RunFolder]) -> list[MemevalError]:
    """Return an error for each limited run in which all items failed with the same error."""
    from memeval.execution.executor import shared_error
    from memeval.grading.base import last_attempts
    from memeval.records.run import SystemKind

    found: list[MemevalError] = []
    for folder in folders:
        if folder.run.system.kind is SystemKind.CONTROL or not folder.run.scores.overall.errors:
            continue
        if (error := shared_error(last_attempts(folder.responses()).values())) is not None:
            problem = f"all items failed with the same error. First error: {error}"
            remedy = "Fix the system and run the same command with --retry-errors."
            found.append(CheckFailed(problem, where=folder.path, remedy=remedy))
    return found
