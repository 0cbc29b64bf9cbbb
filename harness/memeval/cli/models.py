"""Options about models that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from memeval.evaluation.models import ModelOptions

JudgeLabel = Annotated[
    str | None,
    typer.Option(
        "--judge-label",
        metavar="NAME",
        help="Who serves the judge model, if not its maker. Needed for a rank; part of the track.",
    ),
]
Prompts = Annotated[
    Path | None,
    typer.Option(
        "--prompts",
        metavar="DIR|NAME",
        help="Other judge prompts: a folder, or the name of a set that a benchmark has, such as 'lenient'.",
    ),
]
JudgeConcurrency = Annotated[int, typer.Option("--judge-concurrency", help="Concurrent calls to a judge model.")]
RequestsPerMinute = Annotated[
    float | None,
    typer.Option("--requests-per-minute", help="Maximum model calls per minute, each for judge, reader and system."),
]
TokensPerMinute = Annotated[
    float | None,
    typer.Option("--tokens-per-minute", help="Maximum model tokens per minute, each for judge, reader and system."),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost-usd", metavar="X", help="Maximum dollars of a run for model calls. Same as --budget usd=X."
    ),
]
Budgets = Annotated[
    list[str] | None,
    typer.Option(
        "--budget",
        metavar="UNIT=N",
        help="Limit on usd, tokens or minutes, repeatable. For one phase, put its name first: judge.usd=0.5. "
        "Phases: take_in (ingest), settle (indexing), search, ask (answer), read (reader), judge. "
        "At the limit a run stops with exit code 3. "
        "Run again with a higher limit to resume.",
    ),
]
MaxRefusals = Annotated[
    int,
    typer.Option(
        "--max-refusals",
        help="Stop after N equal refusals in a row from a model's endpoint; 0 never stops. The run can be resumed.",
    ),
]

JUDGE_CONCURRENCY = 16
REFUSALS = 5


def model_options(
    *,
    judge_concurrency: int = JUDGE_CONCURRENCY,
    model_concurrency: int = JUDGE_CONCURRENCY,
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    max_cost_usd: float | None = None,
    budget: list[str] | None = None,
    max_refusals: int = REFUSALS,
    replay: str | None = None,
    results: Path | None = None,
) -> ModelOptions:
    """Return the model settings of the options.

    Raises:
        BadInput: a budget is not of the form ``[PHASE.]UNIT=N``, or the run to replay does not exist.
    """
    from memeval import api
    from memeval.evaluation.models import ModelOptions
    from memeval.gateway.budget import parse_caps

    caps = [*(budget or ()), *([] if max_cost_usd is None else [f"usd={max_cost_usd}"])]
    return ModelOptions(
        judge_concurrency=judge_concurrency,
        model_concurrency=model_concurrency,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
        caps=parse_caps(caps),
        refusals=max_refusals,
        replay=None if replay is None else api.load_run(replay, results or Path("results")),
    )
