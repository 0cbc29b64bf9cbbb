"""``memeval run``: a system through benchmarks."""

from __future__ import annotations

import math
import re
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
from memeval.cli.setup import Hosts, Sandboxing, setup_of
from memeval.cli.shared import DEFAULT_RESULTS, AsJson, Data, Errata, Results
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
            help="A slug under submissions/ or a folder, either with :VARIANT; a shipped control; or FILE.py[:CLASS]."
        ),
    ],
    benchmark: Annotated[
        list[str] | None,
        typer.Option(
            "--benchmark", metavar="ID", help="Benchmark id, repeatable. Default: every benchmark whose data is here."
        ),
    ] = None,
    tier: Annotated[str | None, typer.Option("--tier", help="Named choice of the data.")] = None,
    protocol: Annotated[str | None, typer.Option("--protocol", help="Way of asking and grading.")] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            metavar="NAME=VALUE",
            help="Parameter of a benchmark, repeatable: seed=7 of a generated one, file=oracle of one of many files.",
        ),
    ] = None,
    data: Data = None,
    errata: Errata = None,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge", help="Who gives verdicts: rules, or openai:MODEL. Default: rules, or the replayed run's judge."
        ),
    ] = None,
    judge_label: JudgeLabel = None,
    prompts: Prompts = None,
    reader: Annotated[
        str | None,
        typer.Option(
            "--reader",
            help="Who answers: native (the system), extractive, or openai:MODEL. Default: what the system can.",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", help="Model that a bare .py file may use, repeatable; a submission declares its own."),
    ] = None,
    results: Results = DEFAULT_RESULTS,
    limit: Annotated[int | None, typer.Option("--limit", help="Only so many items; the run is then partial.")] = None,
    concurrency: Annotated[int, typer.Option("--concurrency", help="Scenarios in flight.")] = 4,
    judge_concurrency: JudgeConcurrency = JUDGE_CONCURRENCY,
    model_concurrency: Annotated[
        int, typer.Option("--model-concurrency", help="Model calls of the reader, and of the system, in flight.")
    ] = JUDGE_CONCURRENCY,
    requests_per_minute: RequestsPerMinute = None,
    tokens_per_minute: TokensPerMinute = None,
    max_cost_usd: MaxCost = None,
    budget: Budgets = None,
    max_refusals: MaxRefusals = REFUSALS,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Say calls, tokens, dollars and hours beforehand, and run nothing.")
    ] = False,
    replay: Annotated[
        str | None,
        typer.Option("--replay", metavar="RUN", help="Answer every model call from the record of a run; send none."),
    ] = None,
    ask_seconds: Annotated[
        float | None, typer.Option("--ask-seconds", help="Time limit of one question; another limit is another track.")
    ] = None,
    python: Annotated[
        Path | None,
        typer.Option("--python", help="Interpreter of an environment of your own, in place of one built from a lock."),
    ] = None,
    sandbox: Sandboxing = None,
    host: Hosts = None,
    skip_conformance: Annotated[
        bool,
        typer.Option(
            "--skip-conformance", help="Run a system that can cost money though it was not checked, or fails the check."
        ),
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start another run, whatever is stored.")] = False,
    repeat: Annotated[int, typer.Option("--repeat", help="Run so many times.")] = 1,
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Try failed items again; both attempts stay on record.")
    ] = False,
    floor: Annotated[
        float | None, typer.Option("--floor", help="Exit with 1 where a run scores less than this share, such as 0.9.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a system through benchmarks; an interrupted run goes on, a finished one is reused.

    Without --benchmark, every benchmark whose data is here and that the system can take is run, and the others are
    named with the reason. What goes wrong with one keeps none of the others from being run.

    Prints one line a finished run: its folder. With --json, what came of each benchmark.

    Example: memeval run my_memory.py --benchmark beliefs@1
    """
    from memeval import api
    from memeval.benchmarks import BENCHMARKS
    from memeval.cli.outcomes import conclude, here, left_out, run_on
    from memeval.cli.reporting import print_estimate
    from memeval.execution.progress import Bar
    from memeval.records.track import Limits
    from memeval.systems.source import find_system

    source = find_system(system)
    if model:
        source = _declaring(source, model)
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
        fresh=fresh,
        retry_errors=retry_errors,
    )
    if floor is not None and not 0 <= floor <= 1:
        raise BadInput(f"--floor is {floor:g}.", remedy="Give a share in [0, 1], such as 0.9.")
    if benchmark is None and data is not None:
        raise BadInput("--data goes with one benchmark.", remedy="Name it with --benchmark.")
    parameters = parse_parameters(parameter)
    outcomes = [] if benchmark else left_out(tier, protocol)
    named = benchmark or here(outcomes)
    if estimate:
        for each in named:
            print_estimate(api.estimate(source, each, data=data, parameters=parameters, options=options))
        return

    def run_one(name: str, progress: Progress) -> list[RunFolder]:
        return api.run(
            source, name, data=data, parameters=parameters, options=options, repeat=repeat, progress=progress
        )

    alone = len(outcomes) + len(named) == 1
    with Bar() as progress:
        for each in named:
            outcomes.append(run_on(each, lambda name: run_one(name, progress), as_json))
            if outcomes[-1].error is not None and not alone:
                progress.note(f"{each} {outcomes[-1].state}: {outcomes[-1].error}")
    places = {name: place for place, name in enumerate(BENCHMARKS)}
    outcomes.sort(key=lambda outcome: places.get(outcome.benchmark, 0))
    conclude(outcomes, every=benchmark is None, floor=floor, limited=limit is not None, as_json=as_json)


def _seconds(option: str, value: float) -> float:
    if not 0 < value < math.inf:
        raise BadInput(f"{option} is {value:g}.", remedy="Give a number of seconds above 0.")
    return value


def _declaring(source: SystemSource, models: list[str]) -> SystemSource:
    """Return a bare file as a system that may use some models."""
    from memeval.records.run import SystemKind

    if source.kind is not SystemKind.FILE:
        raise BadInput(
            "--model goes with a bare .py file.",
            remedy="A submission names its models itself: declared_models in its submission.toml.",
        )
    return replace(source, declared_models=tuple(models))


def parse_parameters(given: list[str] | None) -> dict[str, str | int] | None:
    """Return parameters given as ``NAME=VALUE``."""
    if not given:
        return None
    parameters: dict[str, str | int] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise BadInput(f"--parameter '{each}' is not of the form NAME=VALUE.", remedy="Write --parameter seed=7.")
        # Past twenty digits it is no parameter that anything takes, and past 4,300 Python reads it as no number.
        parameters[name] = int(value) if re.fullmatch(r"-?[0-9]{1,20}", value) else value
    return parameters
