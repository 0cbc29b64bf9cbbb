"""``memeval run``: run a system on benchmarks."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.shared import AsJson, Benchmarks, Data, ExecutorKind, Executors, Parameter, check_scheduler, print_note
from memeval.options import RunOptions
from memeval.records.errors import BadInput

if TYPE_CHECKING:
    from memeval.systems.source import SystemSource


def run(
    system: Annotated[
        str,
        typer.Argument(
            help="A slug under submissions/ or a folder (each with optional :VARIANT), a built-in baseline, "
            "or FILE.py[:CLASS]."
        ),
    ],
    options: RunOptions,  # each of its fields is an option: see cli/fields.py
    benchmark: Benchmarks = None,
    parameter: Parameter = None,
    data: Data = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model", help="Model that a single .py file may call, repeatable. A submission declares its own."
        ),
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Print calls, tokens, dollars and hours. Run nothing.")
    ] = False,
    executor: Executors = ExecutorKind.LOCAL,
    repeat: Annotated[int, typer.Option("--repeat", help="Number of runs.")] = 1,
    push: Annotated[
        bool | None,
        typer.Option("--push/--no-push", help="Push each finished run into the archive. Default: memeval.toml."),
    ] = None,
    replay: Annotated[
        str | None,
        typer.Option("--replay", metavar="RUN", help="Answer every model call from a stored run. Send none."),
    ] = None,
    floor: Annotated[
        float | None, typer.Option("--floor", help="Exit with 1 if a run scores below this share, such as 0.9.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a system on benchmarks.

    An interrupted run resumes; a finished run is reused. Without --benchmark, memeval runs every benchmark that the
    system supports and whose data is on this machine. Then it lists the skipped benchmarks with the reason. A failure
    on one benchmark does not stop the others.

    If the first 25 items all fail with the same error, the run stops with exit code 1. Its progress is saved: fix the
    system, and run the same command with --retry-errors. This never stops a control.

    Prints the folder of each finished run. With --json, prints the outcome of each benchmark.

    Example: memeval run my_memory.py --benchmark beliefs@2
    """
    from memeval import api
    from memeval.archive.remote.automatic import push_after_run, pushes_after_run
    from memeval.benchmarks import all_benchmarks
    from memeval.cli.outcomes import conclude, print_runs, print_skipped
    from memeval.cli.reporting import print_estimate
    from memeval.evaluation.plan.executing import PlannedRun, RunOutcome, RunState, left_out, run_plan
    from memeval.execution.progress import Bar
    from memeval.records.errors import MemevalError
    from memeval.systems.source import find_system

    source = find_system(system)
    if model:
        source = _with_models(source, model)
    check_scheduler(executor, options.scheduler)
    if replay is not None:
        replayed = api.load_run(replay, options.results)
        options = replace(options, models=replace(options.models, replay=replayed))
    if repeat < 1:
        raise BadInput(f"--repeat is {repeat}.", remedy="Give a number of at least 1.")
    if floor is not None and not 0 <= floor <= 1:
        raise BadInput(f"invalid --floor {floor:g}.", remedy="Give a share from 0 to 1, such as 0.9.")
    if benchmark is None and data is not None:
        raise BadInput("--data needs one benchmark.", remedy="Name it with --benchmark.")
    parameters = parse_parameters(parameter)
    skipped = {} if benchmark else left_out(options.tier, options.protocol)
    plan = [
        PlannedRun(source, name, data=data, parameters=parameters, named=benchmark is not None)
        for name in benchmark or [each.info.id for each in all_benchmarks() if each.info.id not in skipped]
    ]
    outcomes = [
        RunOutcome(PlannedRun(source, name), RunState.LEFT_OUT, error=MemevalError(sentences), short=short)
        for name, (short, sentences) in skipped.items()
    ]
    if estimate:
        for each in plan:
            print_estimate(api.estimate(source, each.benchmark, data=data, parameters=parameters, options=options))
        print_skipped(outcomes)
        return
    is_pushed = pushes_after_run(options.results, push)
    with Bar() as progress:
        for outcome in run_plan(plan, options, progress, repeat=repeat, debug="--debug" in sys.argv):
            print_runs(outcome, as_json)
            outcomes.append(outcome)
            for warning in push_after_run(outcome.folders, options.results) if is_pushed else ():
                print_note(f"memeval: {warning}")
    if len(outcomes) > 1:  # to know the order, every benchmark is imported
        order = {each.info.id: position for position, each in enumerate(all_benchmarks())}
        outcomes.sort(key=lambda outcome: order.get(outcome.planned.benchmark, 0))
    conclude(outcomes, floor=floor, limited=options.limit is not None, keep_going=options.keep_going, as_json=as_json)


def _with_models(source: SystemSource, models: list[str]) -> SystemSource:
    from memeval.records.run import SystemKind

    if source.kind is not SystemKind.FILE:
        raise BadInput(
            "--model is only for a single .py file.",
            remedy="A submission lists its models as declared_models in submission.toml.",
        )
    return replace(source, declared_models=tuple(models))


def parse_parameters(assignments: list[str] | None) -> dict[str, str | int] | None:
    if not assignments:
        return None
    parameters: dict[str, str | int] = {}
    for each in assignments:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise BadInput(f"invalid --parameter '{each}'.", remedy="Write NAME=VALUE, such as seed=7.")
        # No parameter has more than 20 digits, and Python does not parse more than 4,300.
        parameters[name] = int(value) if re.fullmatch(r"-?[0-9]{1,20}", value) else value
    return parameters
