"""``memeval import`` and ``memeval export``: read answers of other programs, and write runs in their formats."""

from __future__ import annotations

import math
import sys
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
from memeval.cli.options import FreshGrades, Parameter, Protocol
from memeval.cli.shared import DEFAULT_RESULTS, AsJson, Data, Results, counted, dollars, percent, print_json
from memeval.records.errors import BadInput

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder

_SHOWN = 5
"""Number of missing ids to print; the run lists all."""


def add_to(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command("import")(import_)
    app.command("export")(export)


def import_(
    file: Annotated[Path, typer.Argument(help="The file of answers.")],
    format_: Annotated[str, typer.Option("--format", help="Format of the file. A wrong name prints the list.")],
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", metavar="ID", help="Benchmark id. Default: the format's own.")
    ] = None,
    data: Data = None,
    parameter: Parameter = None,
    protocol: Protocol = None,
    system: Annotated[
        str | None,
        typer.Option(
            "--system", metavar="NAME", help="System in the file, if it holds several; otherwise the system's name."
        ),
    ] = None,
    slug: Annotated[
        str | None, typer.Option("--slug", help="The system's name in paths. Default: from its name and the format.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="URL", help="Where the answers were published.")
    ] = None,
    commit: Annotated[
        str | None, typer.Option("--commit", metavar="SHA", help="Commit of the published answers.")
    ] = None,
    licence: Annotated[str | None, typer.Option("--licence", metavar="SPDX", help="Licence of the answers.")] = None,
    claimed: Annotated[
        str | None,
        typer.Option(
            "--claimed",
            metavar="X",
            help="Score that the authors claim: 0.295, or 29.5%. Default: from the file.",
        ),
    ] = None,
    judge: Annotated[str, typer.Option("--judge", help="Who grades: rules (offline), or openai:MODEL.")] = "rules",
    judge_label: JudgeLabel = None,
    prompts: Prompts = None,
    judge_concurrency: JudgeConcurrency = JUDGE_CONCURRENCY,
    requests_per_minute: RequestsPerMinute = None,
    tokens_per_minute: TokensPerMinute = None,
    max_cost_usd: MaxCost = None,
    budget: Budgets = None,
    results: Results = DEFAULT_RESULTS,
    fresh: FreshGrades = False,
) -> None:
    """Grade answers made by another program.

    Stores an imported run and prints its folder. Questions that the benchmark does not have are skipped and listed.
    If a question has no answer, the run is partial.

    Example: memeval import predictions.json --format locomo --source https://example.org/runs --licence MIT
    """
    from memeval import api
    from memeval.cli.reporting import report
    from memeval.cli.running import parse_parameters
    from memeval.evaluation.importing import Origin
    from memeval.execution.progress import Bar

    options = api.ImportOptions(
        results=results,
        origin=Origin(
            slug=slug,
            source=_line("--source", source),
            commit=_line("--commit", commit),
            licence=_line("--licence", licence),
            claimed=None if claimed is None else _share(claimed),
        ),
        models=model_options(
            judge_concurrency=judge_concurrency,
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            max_cost_usd=max_cost_usd,
            budget=budget,
        ),
        fresh=fresh,
    )
    with Bar() as progress:
        folder = api.import_answers(
            file,
            format_,
            benchmark,
            data=data,
            parameters=parse_parameters(parameter),
            protocol=protocol,
            system=_line("--system", system),
            judge=judge,
            label=judge_label,
            prompts=prompts,
            options=options,
            progress=progress,
        )
        report(folder)
        _report_origin(folder)
        print(folder.path, flush=True)


def export(
    run: Annotated[str, typer.Argument(help="The run, by its folder or its id.")],
    format_: Annotated[str, typer.Option("--format", help="Format to write. A wrong name prints the list.")],
    to: Annotated[
        Path, typer.Option("--to", metavar="PATH", help="File to write. Some formats write more files beside it.")
    ],
    data: Data = None,
    results: Results = DEFAULT_RESULTS,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a run in the format of another program.

    Prints the files it wrote. The page "Import and export" lists what each format omits.

    Example: memeval export results/locomo/bm25/20261122T091500Z-3f9c1a2b --format locomo --to bm25.json
    """
    from memeval import api

    written = api.export(run, format_, to, results=results, data=data, force=force)
    if as_json:
        print_json([str(path) for path in written])
        return
    for path in written:
        print(path)


def _share(text: str) -> float:
    """Return a share in [0, 1], from a share or a percentage."""
    number, sign, rest = text.partition("%")
    try:
        share = float(number) / (100 if sign else 1)
    except ValueError:
        share = math.nan
    if rest or not 0 <= share <= 1:
        raise BadInput(f"invalid --claimed '{text}'.", remedy="Write a share (0.295) or a percentage (29.5%).")
    return share


def _line(option: str, value: str | None) -> str | None:
    """Return an option's text: one printable line of at most 500 characters."""
    if value is not None and not (value.strip() and value.isprintable() and len(value) <= 500):
        raise BadInput(
            f"invalid {option}: it is empty, over 500 characters, or not printable.", remedy="Write one line of text."
        )
    return value


def _report_origin(folder: RunFolder) -> None:
    """Print on standard error the claimed scores of imported answers, and the questions without an answer."""
    from memeval.grading.scoring import matching

    imported = folder.run.imported
    if imported is None:
        return
    for claim in imported.claims:
        by = f" by {claim.judge}" if claim.judge else ""
        value = matching(folder.run.scores, claim.metric)
        computed = "" if value is None else f"; computed: {percent(value)} % {claim.metric}"
        over = counted(claim.items, "question")
        print(f"  claimed: {percent(claim.score)} % {claim.metric} over {over}{by}{computed}", file=sys.stderr)
    if imported.cost_usd is not None:
        print(f"  cost (self-reported): {dollars(imported.cost_usd)}", file=sys.stderr)
    for problem, ids in (("no answer", imported.missing), ("not in the benchmark", imported.unknown)):
        if ids:
            named = ", ".join(ids[:_SHOWN]) + (", …" if len(ids) > _SHOWN else "")
            print(f"  {problem}: {counted(len(ids), 'question')} ({named})", file=sys.stderr)
