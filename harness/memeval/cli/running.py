"""``memeval run``: run a system on benchmarks."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.models import (
    JUDGE_CONCURRENCY,
    REFUSALS,
    Budgets,
    JudgeConcurrency,
    JudgeLabel,
    MaxCost,
    MaxRefusals,
    Prompts,
    RequestsPerMinute,
    TokensPerMinute,
    model_options,
)
from memeval.cli.options import (
    DEFAULT_RESULTS,
    AsJson,
    Benchmarks,
    Concurrency,
    Data,
    Errata,
    ExecutorKind,
    Executors,
    Limit,
    ModelConcurrency,
    Parameter,
    Protocol,
    Results,
    RetryErrors,
    SchedulerAddress,
    SkipConformance,
    Tier,
    scheduler_of,
)
from memeval.cli.setup import Hosts, Sandboxing, setup_of
from memeval.records.errors import BadInput

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder
    from memeval.execution.progress import Progress
    from memeval.systems.source import SystemSource


def add_to(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command("run")(run)


def run(
    system: Annotated[
        str,
        typer.Argument(
            help="A slug under submissions/ or a folder (each with optional :VARIANT), a built-in baseline, "
            "or FILE.py[:CLASS]."
        ),
    ],
    benchmark: Benchmarks = None,
    tier: Tier = None,
    protocol: Protocol = None,
    parameter: Parameter = None,
    data: Data = None,
    errata: Errata = None,
    limit: Limit = None,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            help="Who grades: rules or openai:MODEL. Default: rules; with --replay, that run's judge.",
        ),
    ] = None,
    judge_label: JudgeLabel = None,
    prompts: Prompts = None,
    reader: Annotated[
        str | None,
        typer.Option(
            "--reader",
            help="Who writes the answer: native (the system), extractive (offline) or openai:MODEL. "
            "Default: native, or extractive for a system that only retrieves.",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model", help="Model that a single .py file may call, repeatable. A submission declares its own."
        ),
    ] = None,
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="Print calls, tokens, dollars and hours. Run nothing."),
    ] = False,
    max_cost_usd: MaxCost = None,
    budget: Budgets = None,
    requests_per_minute: RequestsPerMinute = None,
    tokens_per_minute: TokensPerMinute = None,
    concurrency: Concurrency = 4,
    executor: Executors = ExecutorKind.LOCAL,
    scheduler: SchedulerAddress = None,
    judge_concurrency: JudgeConcurrency = JUDGE_CONCURRENCY,
    model_concurrency: ModelConcurrency = JUDGE_CONCURRENCY,
    max_refusals: MaxRefusals = REFUSALS,
    ask_seconds: Annotated[
        float | None,
        typer.Option("--ask-seconds", help="Time limit for one question. Another limit makes another track."),
    ] = None,
    sandbox: Sandboxing = None,
    host: Hosts = None,
    python: Annotated[
        Path | None,
        typer.Option("--python", help="Your own Python interpreter, instead of one built from a lock file."),
    ] = None,
    skip_conformance: SkipConformance = False,
    results: Results = DEFAULT_RESULTS,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Start a new run, even if a finished one is stored."),
    ] = False,
    repeat: Annotated[int, typer.Option("--repeat", help="Number of runs.")] = 1,
    retry_errors: RetryErrors = False,
    push: Annotated[
        bool | None,
        typer.Option("--push/--no-push", help="Push each finished run into the archive. Default: memeval.toml."),
    ] = None,
    replay: Annotated[
        str | None,
        typer.Option("--replay", metavar="RUN", help="Answer every model call from a stored run. Send none."),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Run all items, even if the first 25 fail with the same error.")
    ] = False,
    floor: Annotated[
        float | None,
        typer.Option("--floor", help="Exit with 1 if a run scores below this share, such as 0.9."),
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
    from memeval.cli.outcomes import conclude, print_skipped, run_on, runnable, skipped
    from memeval.cli.reporting import print_estimate
    from memeval.execution.progress import Bar
    from memeval.records.track import Limits
    from memeval.systems.output import visible
    from memeval.systems.source import find_system

    source = find_system(system)
    if model:
        source = _with_models(source, model)
    if python is not None:
        source = replace(source, launch=replace(source.launch, interpreter=python, own_interpreter=False))
    options = api.RunOptions(
        results=results,
        protocol=protocol,
        tier=tier,
        errata=errata,
        judge=judge,
        judge_label=judge_label,
        prompts=prompts,
        reader=reader,
        models=model_options(
            judge_concurrency=judge_concurrency,
            model_concurrency=model_concurrency,
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            max_cost_usd=max_cost_usd,
            budget=budget,
            max_refusals=max_refusals,
            replay=replay,
            results=results,
        ),
        setup=setup_of(sandbox, host),
        conformance=not skip_conformance,
        limits=Limits() if ask_seconds is None else Limits(ask_seconds=_seconds("--ask-seconds", ask_seconds)),
        limit=limit,
        concurrency=concurrency,
        scheduler=scheduler_of(executor, scheduler),
        fresh=fresh,
        retry_errors=retry_errors,
        keep_going=keep_going,
    )
    if floor is not None and not 0 <= floor <= 1:
        raise BadInput(f"invalid --floor {floor:g}.", remedy="Give a share from 0 to 1, such as 0.9.")
    if benchmark is None and data is not None:
        raise BadInput("--data needs one benchmark.", remedy="Name it with --benchmark.")
    parameters = parse_parameters(parameter)
    outcomes = [] if benchmark else skipped(tier, protocol)
    named = benchmark or runnable(outcomes)
    if estimate:
        for each in named:
            print_estimate(api.estimate(source, each, data=data, parameters=parameters, options=options))
        print_skipped(outcomes)
        return

    def run_one(name: str, progress: Progress) -> list[RunFolder]:
        return api.run(
            source, name, data=data, parameters=parameters, options=options, repeat=repeat, progress=progress
        )

    is_pushed = pushes_after_run(results, push)
    with Bar() as progress:
        for each in named:
            outcomes.append(run_on(each, lambda name: run_one(name, progress), as_json))
            for warning in push_after_run(outcomes[-1].folders, results) if is_pushed else ():
                print(visible(f"memeval: {warning}"), file=sys.stderr)
    if len(outcomes) > 1:  # to know the order, every benchmark is imported
        order = {each.info.id: position for position, each in enumerate(all_benchmarks())}
        outcomes.sort(key=lambda outcome: order.get(outcome.benchmark, 0))
    conclude(
        outcomes,
        every=benchmark is None,
        floor=floor,
        limited=limit is not None,
        keep_going=keep_going,
        as_json=as_json,
    )


def _seconds(option: str, value: float) -> float:
    if not 0 < value < math.inf:
        raise BadInput(f"invalid {option} {value:g}.", remedy="Give a number of seconds above 0.")
    return value


def _with_models(source: SystemSource, models: list[str]) -> SystemSource:
    """Return a single-file system that may call the models."""
    from memeval.records.run import SystemKind

    if source.kind is not SystemKind.FILE:
        raise BadInput(
            "--model is only for a single .py file.",
            remedy="A submission lists its models as declared_models in submission.toml.",
        )
    return replace(source, declared_models=tuple(models))


def parse_parameters(assignments: list[str] | None) -> dict[str, str | int] | None:
    """Return parameters given as ``NAME=VALUE``."""
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
