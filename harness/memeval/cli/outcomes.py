"""The outcome of each benchmark of a run command, and the exit code that follows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from memeval.cli.gate import failed_items, is_over_gate, remedy_for
from memeval.cli.reporting import report, score_in_table
from memeval.cli.shared import counted, print_json
from memeval.records.errors import BadInput, CheckFailed, ExitCode, MemevalError, NotApplicable

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder
    from memeval.benchmarks.base import Benchmark


class BenchmarkState(StrEnum):
    """The state of a benchmark after a run command; its values are part of the JSON output."""

    DONE = "done"
    LEFT_OUT = "left out"
    """Skipped before the run: its data is not on this machine, or it runs only by name."""
    NOT_APPLICABLE = "not applicable"
    """Skipped: the system lacks a method that the benchmark needs."""
    FAILED = "failed"


@dataclass(frozen=True)
class BenchmarkResult:
    """The outcome of one benchmark."""

    benchmark: str
    state: BenchmarkState
    folders: tuple[RunFolder, ...] = ()
    error: MemevalError | None = None
    """Why there is no run, with the remedy."""
    short: str | None = None
    """Why it was skipped, in a few words; ``None`` to show the error's message."""

    def data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "benchmark": self.benchmark,
            "state": self.state.value,
            "reason": None if self.error is None else str(self.error),
            "runs": [_run_data(folder) for folder in self.folders],
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
    }


SEVERITY = (ExitCode.BAD_INPUT, ExitCode.BUDGET, ExitCode.CHECK_FAILED)
"""Exit codes, the worst first: wrong input, a run that can be resumed, a failed check."""


def skipped(tier: str | None, protocol: str | None) -> list[BenchmarkResult]:
    """Return the benchmarks that run only if the caller names them, each with the reason.

    Args:
        tier: the tier of the run; a benchmark without it is skipped.
        protocol: the protocol of the run; a benchmark without it is skipped.
    """
    from memeval.benchmarks import all_benchmarks

    outcomes = []
    for benchmark in all_benchmarks():
        if (reason := _skip_reason(benchmark, tier, protocol)) is not None:
            short, sentences = reason
            error = MemevalError(sentences)
            outcomes.append(BenchmarkResult(benchmark.info.id, BenchmarkState.LEFT_OUT, error=error, short=short))
    return outcomes


def runnable(outcomes: Sequence[BenchmarkResult]) -> list[str]:
    """Return the ids of the benchmarks that are not skipped, in catalogue order."""
    from memeval.benchmarks import all_benchmarks

    skipped_ids = {outcome.benchmark for outcome in outcomes}
    return [each.info.id for each in all_benchmarks() if each.info.id not in skipped_ids]


def _skip_reason(benchmark: Benchmark, tier: str | None, protocol: str | None) -> tuple[str, str] | None:
    """Return why a benchmark is skipped, in a few words and as sentences; ``None`` if it runs."""
    info = benchmark.info
    if info.brought:
        command = f"--benchmark {info.id} --data FILE"
        return f"needs your own file ({command})", f"Its data is your own file. Run it with {command}."
    if info.by_name_only:
        return f"takes long (--benchmark {info.id})", f"It takes long. Run it with --benchmark {info.id}."
    for kind, wanted, known in (
        ("tier", tier, [each.name for each in info.tiers]),
        ("protocol", protocol, [each.name for each in info.protocols]),
    ):
        if wanted is not None and wanted not in known:
            return f"no {kind} '{wanted}'", f"It has no {kind} '{wanted}'. It has: {', '.join(known)}."
    if benchmark.available():
        return None
    command = f"memeval data pull {info.name}" if info.sources else f"memeval data list {info.name}"
    return f"no data ({command})", f"Its data is not on this machine. {benchmark.remedy()}"


def run_on(name: str, run: Callable[[str], list[RunFolder]], as_json: bool) -> BenchmarkResult:
    """Run a system on one benchmark, print its scores, and return the outcome, even if the run failed.

    Args:
        name: the benchmark.
        run: runs the system on the benchmark.
        as_json: whether standard output may hold only JSON.
    """
    try:
        folders = run(name)
    except NotApplicable as error:
        option = f" (--benchmark {name} --protocol {error.protocols[0]})" if error.protocols else "."
        short = f"{error.problem.removesuffix('.')}{option}"
        return BenchmarkResult(name, BenchmarkState.NOT_APPLICABLE, error=error, short=short)
    except MemevalError as error:
        return BenchmarkResult(name, BenchmarkState.FAILED, error=error)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        failed = CheckFailed(
            f"unexpected {type(error).__name__}: {error}.",
            remedy=f"Run again with --benchmark {name} --debug, and report the traceback.",
        )
        return BenchmarkResult(name, BenchmarkState.FAILED, error=failed)
    for folder in folders:
        report(folder)
        if not as_json:
            print(folder.path, flush=True)
    return BenchmarkResult(name, BenchmarkState.DONE, tuple(folders))


def conclude(
    outcomes: Sequence[BenchmarkResult],
    *,
    every: bool,
    floor: float | None,
    limited: bool,
    as_json: bool,
    keep_going: bool = False,
) -> None:
    """Print the summary, and raise if something failed.

    Args:
        outcomes: the outcome of each benchmark.
        every: whether the caller named no benchmark. An unsupported benchmark is then no failure if there is a run.
        floor: the lowest accepted composite, in [0, 1].
        limited: whether the caller limited the items; such a run may have any number of errors.
        as_json: whether JSON is printed.
        keep_going: whether a limited run may fail on all items with the same error.

    Raises:
        MemevalError: something failed; it has the worst exit code of all.
    """
    if as_json:
        print_json([outcome.data() for outcome in outcomes])
    if len(outcomes) > 1 or all(each.state is BenchmarkState.LEFT_OUT for each in outcomes):
        _print_summary(outcomes)
    faults = [each for each in outcomes if each.state is BenchmarkState.FAILED]
    if not every or not any(each.folders for each in outcomes):
        faults += [each for each in outcomes if each.state is BenchmarkState.NOT_APPLICABLE]
    if len(outcomes) == len(faults) == 1 and faults[0].error is not None:
        raise faults[0].error
    folders = [folder for outcome in outcomes for folder in outcome.folders]
    found = [fault.error for fault in faults if fault.error is not None]
    found += _below(folders, floor)
    if not limited:
        found += over_the_gate(folders)
    elif not keep_going:
        found += all_failed_alike(folders)
    if len(found) == 1 and not faults:
        raise found[0]
    if found:
        named = ", ".join(fault.benchmark for fault in faults) or "every run"
        worst = MemevalError(
            f"{counted(len(found), 'problem')} ({named}), listed above.",
            remedy="Run the same command again: it reuses finished runs.",
        )
        worst.exit_code = min((error.exit_code for error in found), key=SEVERITY.index)
        raise worst
    if not folders:
        raise BadInput("no benchmark to run.", remedy="Name one with --benchmark: see memeval data list.")


def _print_summary(outcomes: Sequence[BenchmarkResult]) -> None:
    """Print the finished, failed and skipped benchmarks, one line each."""
    lines = []
    for outcome in outcomes:
        for folder in outcome.folders:
            run = folder.run
            score = score_in_table(run)
            items = f"{run.coverage.done}/{run.coverage.planned} items"
            errors = counted(run.scores.overall.errors, "error")
            lines.append(f"  {outcome.benchmark:26} {run.track.protocol:22} {score:22} {items}, {errors}")
    if len(lines) > 1:
        print("\nresults:", *lines, sep="\n", file=sys.stderr)
    failed = [outcome for outcome in outcomes if outcome.state is BenchmarkState.FAILED]
    if failed:
        print("\nfailed:", file=sys.stderr)
    for outcome in failed:
        _print_lines(f"  {outcome.benchmark:26} {outcome.error}")
    print_skipped(outcomes)


def print_skipped(outcomes: Sequence[BenchmarkResult]) -> None:
    """Print the skipped benchmarks, one short line each."""
    left_out = [
        outcome for outcome in outcomes if outcome.state in (BenchmarkState.LEFT_OUT, BenchmarkState.NOT_APPLICABLE)
    ]
    if left_out:
        print("\nskipped:", file=sys.stderr)
    for outcome in left_out:
        _print_lines(f"  {outcome.benchmark:26} {outcome.short or (outcome.error and outcome.error.problem)}")


def _print_lines(text: str) -> None:
    from memeval.systems.output import visible

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
    """Return an error for the runs with too many errors for a rank."""
    from memeval.records.run import SystemKind

    ranked = [folder for folder in folders if folder.run.system.kind is not SystemKind.CONTROL]
    gated = [folder for folder in ranked if is_over_gate(folder.run)]
    if not gated:
        return []
    named = "; ".join(f"{folder.path}: {failed_items(folder)}" for folder in gated)
    return [CheckFailed(f"{named}. A run with more than 2 % errors is not ranked.", remedy=remedy_for(gated[0]))]


def all_failed_alike(folders: Sequence[RunFolder]) -> list[MemevalError]:
    """Return an error for each limited run in which all items failed with the same error."""
    from memeval.execution.early_stop import shared_error
    from memeval.grading.rows import last_attempts
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
