"""``memeval run``: a system through benchmarks."""

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
    Budgets,
    JudgeConcurrency,
    JudgeLabel,
    MaxCost,
    Prompts,
    RequestsPerMinute,
    TokensPerMinute,
    model_options,
)
from memeval.cli.setup import Hosts, Sandboxing, setup_of
from memeval.cli.shared import DEFAULT_RESULTS, Data, Errata, Results, dollars, percent
from memeval.records.errors import BadInput, CheckFailed

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder
    from memeval.evaluation.estimate import Estimate
    from memeval.systems.source import SystemSource


def add_to(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command("run")(run)


def run(
    system: Annotated[
        str,
        typer.Argument(help="A slug under submissions/, a shipped control, a folder, or a .py file, as FILE[:CLASS]."),
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
) -> None:
    """Run a system through benchmarks; an interrupted run goes on, a finished one is reused.

    Prints one line a finished run: its folder.

    Example: memeval run my_memory.py --benchmark beliefs@1
    """
    from memeval import api
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
    named = benchmark or _available(source, data)
    if estimate:
        for each in named:
            _print_estimate(
                api.estimate(source, each, data=data, parameters=parse_parameters(parameter), options=options)
            )
        return
    gated: list[str] = []
    with Bar() as progress:
        for each in named:
            for folder in api.run(
                source,
                each,
                data=data,
                parameters=parse_parameters(parameter),
                options=options,
                repeat=repeat,
                progress=progress,
            ):
                report(folder)
                print(folder.path, flush=True)
                if limit is None and _over_gate(folder):
                    gated.append(f"{folder.path.name} (first: {_first_error(folder)})")
    if gated:
        raise CheckFailed(
            f"more than 2 % of the items failed in {', '.join(gated)}, so it cannot be ranked.",
            remedy="All errors are on the site that memeval site build makes. Mend the system, and run again.",
        )


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


def _available(source: SystemSource, data: Path | None) -> list[str]:
    """Return every benchmark whose data is here, and say which are left out."""
    from memeval.benchmarks import all_benchmarks

    if data is not None:
        raise BadInput("--data goes with one benchmark.", remedy="Name it with --benchmark.")
    here = []
    for benchmark in all_benchmarks():
        if benchmark.available():
            here.append(benchmark.info.id)
        else:
            print(
                f"{benchmark.info.id} left out: its data is not here. "
                f"'memeval data pull {benchmark.info.name}' fetches it.",
                file=sys.stderr,
            )
    return here


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


def _over_gate(folder: RunFolder) -> bool:
    from memeval.leaderboard.board import ERROR_GATE
    from memeval.records.run import SystemKind

    tally = folder.run.scores.overall
    return folder.run.system.kind is not SystemKind.CONTROL and tally.errors > ERROR_GATE * tally.planned


def _first_error(folder: RunFolder) -> str:
    """Return what went wrong first, cut to a line."""
    return next((row.error or row.outcome for row in folder.responses() if row.outcome.is_error), "unknown")[:200]


def report(folder: RunFolder) -> None:
    """Say on standard error how a run came out."""
    run = folder.run
    scores = run.scores
    if scores.composite.value is None:
        head = f"no composite: {scores.composite.reason}"
    else:
        interval = scores.composite.interval
        limits = f" [{percent(interval.low)}, {percent(interval.high)}]" if interval else ""
        head = f"composite {percent(scores.composite.value)}{limits}"
    alternates = "".join(f", as {name} {percent(c.value)}" for name, c in scores.alternates.items())
    print(
        f"{run.system.slug} on {run.track.benchmark} {run.track.protocol} (track {run.track_id}): {head}{alternates}; "
        f"{run.coverage.done}/{run.coverage.planned} items, {scores.overall.errors} errors",
        file=sys.stderr,
    )
    for category in scores.categories:
        tally = category.tally
        earned = tally.correct if tally.points is None else f"{tally.points:.3f}"
        print(f"  {category.name:24} {percent(tally.accuracy):>6} %  {earned}/{tally.planned}", file=sys.stderr)
    if run.usage:
        _report_usage(folder)


def _report_usage(folder: RunFolder) -> None:
    """Say what model calls took, phase by phase."""
    from memeval.records.call import Phase

    for phase in Phase:
        if (usage := folder.run.usage.get(phase)) is None:
            continue
        parts = [f"{usage.calls} calls"]
        parts += [f"{usage.cached} from the record"] if usage.cached else []
        parts += [f"{usage.failed} failed"] if usage.failed else []
        if usage.prompt_tokens is not None:
            parts.append(f"{usage.prompt_tokens} + {usage.completion_tokens or 0} tokens")
        parts.append(f"{usage.unpriced} calls unpriced" if usage.unpriced else dollars(usage.usd))
        print(f"  {phase.replace('_', ' '):24} {', '.join(parts)} ({usage.source})", file=sys.stderr)


def _print_estimate(estimate: Estimate) -> None:
    """Print what a run would take, one line a phase; what nobody can know beforehand is said to be unknown."""
    print(f"{estimate.system} on {estimate.benchmark}: {estimate.items} items, {estimate.questions} questions")
    for part in estimate.parts:
        known = part.usd is not None
        money = dollars(part.usd) if known else f"unpriced: no known price of {part.model}"
        print(
            f"  {part.phase.replace('_', ' '):6} {part.model}: {part.calls} calls ({part.recorded} of them on record), "
            f"at most {part.prompt_tokens} + {part.completion_tokens} tokens, at most {money}, "
            f"about {_hours(part.hours)} at {part.seconds_per_call:g} s a call ({part.basis}), "
            f"{part.concurrency} in flight"
        )
    if not estimate.parts:
        print("  Neither the judge nor the reader is a model.")
    for sentence in estimate.unknown:
        print(f"  {sentence}")
    if estimate.prices:
        print(f"  prices: {estimate.prices}")


def _hours(hours: float) -> str:
    """Return hours, and what is a matter of minutes as minutes."""
    return f"{hours:.1f} h" if hours >= 1 else f"{60 * hours:.1f} minutes"
