"""What came of each benchmark that a system was to be run on, and the exit code that follows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from memeval.cli.gate import failed_items, is_over_gate, remedy_for
from memeval.cli.reporting import report, score_of
from memeval.cli.shared import counted, print_json
from memeval.records.errors import BadInput, CheckFailed, ExitCode, MemevalError, NotApplicable

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder
    from memeval.benchmarks.base import Benchmark


class State(StrEnum):
    """What came of a benchmark."""

    DONE = "done"
    LEFT_OUT = "left out"
    """It was not to be run: its data is not here, or it runs only where it is named."""
    NOT_APPLICABLE = "not applicable"
    """The system lacks a method without which it cannot be asked."""
    FAILED = "failed"


@dataclass(frozen=True)
class Outcome:
    """What came of one benchmark."""

    benchmark: str
    state: State
    folders: tuple[RunFolder, ...] = ()
    error: MemevalError | None = None
    """Why there is no run."""

    def data(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
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
"""Exit codes from the worst on: what must be mended by hand, then what goes on later, then what does not hold."""


def left_out(tier: str | None, protocol: str | None) -> list[Outcome]:
    """Return the benchmarks that are not run unless they are named, and say why of each.

    Args:
        tier: the tier asked for; a benchmark without it is left out.
        protocol: the protocol asked for, likewise.
    """
    from memeval.benchmarks import all_benchmarks

    outcomes = []
    for benchmark in all_benchmarks():
        if (why := _absence(benchmark, tier, protocol)) is not None:
            print(f"{benchmark.info.id} left out: {why}", file=sys.stderr)
            outcomes.append(Outcome(benchmark.info.id, State.LEFT_OUT, error=MemevalError(why)))
    return outcomes


def here(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the ids of the benchmarks that are not left out, in their order."""
    from memeval.benchmarks import BENCHMARKS

    out = {outcome.benchmark for outcome in outcomes}
    return [name for name in BENCHMARKS if name not in out]


def _absence(benchmark: Benchmark, tier: str | None, protocol: str | None) -> str | None:
    """Return why a benchmark is left out, as a sentence with what to do; ``None`` where it is run."""
    info = benchmark.info
    if info.brought:
        return f"its data is a file of your own. Run it with --benchmark {info.id} --data FILE."
    if info.by_name_only:
        return f"it takes long. Run it with --benchmark {info.id}."
    if tier is not None and tier not in {each.name for each in info.tiers}:
        return f"it has no tier '{tier}'. It has: {', '.join(each.name for each in info.tiers)}."
    if protocol is not None and protocol not in {each.name for each in info.protocols}:
        return f"it has no protocol '{protocol}'. It has: {', '.join(each.name for each in info.protocols)}."
    return None if benchmark.available() else f"its data is not here. {benchmark.remedy()}"


def run_on(name: str, run: Callable[[str], list[RunFolder]], as_json: bool) -> Outcome:
    """Run a system on one benchmark, say how it came out, and return what came of it, be it a refusal.

    Args:
        name: the benchmark.
        run: runs the system on it.
        as_json: whether standard output is kept for JSON.
    """
    try:
        folders = run(name)
    except NotApplicable as error:
        return Outcome(name, State.NOT_APPLICABLE, error=error)
    except MemevalError as error:
        return Outcome(name, State.FAILED, error=error)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        failed = CheckFailed(
            f"unexpected {type(error).__name__}: {error}.",
            remedy=f"Run again with --benchmark {name} --debug, and report what it shows.",
        )
        return Outcome(name, State.FAILED, error=failed)
    for folder in folders:
        report(folder)
        if not as_json:
            print(folder.path, flush=True)
    return Outcome(name, State.DONE, tuple(folders))


def conclude(outcomes: Sequence[Outcome], *, every: bool, floor: float | None, limited: bool, as_json: bool) -> None:
    """Say what came of everything, and raise where something does not hold.

    Args:
        outcomes: what came of each benchmark.
        every: whether no benchmark was named; then what the system cannot take is no fault, as long as there is a run.
        floor: the least composite, as a share.
        limited: whether the caller limited the items; such a run may have any number of errors.
        as_json: whether JSON is printed.

    Raises:
        MemevalError: with the worst exit code of all.
    """
    if as_json:
        print_json([outcome.data() for outcome in outcomes])
    if len(outcomes) > 1:
        _print_summary(outcomes)
    faults = [each for each in outcomes if each.state is State.FAILED]
    if not every or not any(each.folders for each in outcomes):
        faults += [each for each in outcomes if each.state is State.NOT_APPLICABLE]
    if len(outcomes) == len(faults) == 1 and faults[0].error is not None:
        raise faults[0].error
    folders = [folder for outcome in outcomes for folder in outcome.folders]
    found = [fault.error for fault in faults if fault.error is not None]
    found += [*_below(folders, floor), *([] if limited else _gated(folders))]
    if len(found) == 1 and not faults:
        raise found[0]
    if found:
        named = ", ".join(fault.benchmark for fault in faults) or "every run"
        worst = MemevalError(
            f"{counted(len(found), 'thing')} went wrong ({named}); see above.",
            remedy="The same command does what is left, and reuses what is done.",
        )
        worst.exit_code = min((error.exit_code for error in found), key=SEVERITY.index)
        raise worst
    if not folders:
        raise BadInput("there is no benchmark to run.", remedy="Name one with --benchmark.")


def _print_summary(outcomes: Sequence[Outcome]) -> None:
    print("", file=sys.stderr)
    for outcome in outcomes:
        for folder in outcome.folders:
            run = folder.run
            score = "no score" if is_over_gate(run) else score_of(run.scores.composite)
            told = f"{run.track.protocol:22} {score:22} {run.coverage.done}/{run.coverage.planned} items"
            errors = run.scores.overall.errors
            print(f"  {outcome.benchmark:26} {told}, {counted(errors, 'error')}", file=sys.stderr)
        if not outcome.folders:
            print(f"  {outcome.benchmark:26} {outcome.state}", file=sys.stderr)


def _below(folders: Sequence[RunFolder], floor: float | None) -> list[MemevalError]:
    """Return a refusal for the runs whose composite is below a floor, each of which is told on its own line."""
    if floor is None:
        return []
    low = []
    for folder in folders:
        value = folder.run.scores.composite.value
        if value is None or value < floor:
            told = "no composite" if value is None else f"{value:.6g}"
            print(f"FAIL: {told} < floor {floor:g}", file=sys.stderr)
            low.append(folder.path.name)
    if not low:
        return []
    return [CheckFailed(f"below the floor: {', '.join(low)}.", remedy="Mend the system, or lower --floor.")]


def _gated(folders: Sequence[RunFolder]) -> list[MemevalError]:
    """Return a refusal for the runs with too many errors to be ranked."""
    from memeval.records.run import SystemKind

    kinds = [folder for folder in folders if folder.run.system.kind is not SystemKind.CONTROL]
    gated = [folder for folder in kinds if is_over_gate(folder.run)]
    if not gated:
        return []
    named = "; ".join(f"{folder.path}: {failed_items(folder)}" for folder in gated)
    return [CheckFailed(f"{named}. A run with more than 2 % errors is not ranked.", remedy=remedy_for(gated[0]))]
