"""``memeval import`` and ``memeval export``: read answers of other programs, and write runs in their formats."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.fields import Without, command
from memeval.cli.options import JudgeLabel, Parameter, Prompts, Protocol
from memeval.cli.shared import DEFAULT_RESULTS, AsJson, Data, Results, counted, dollars, percent, print_json
from memeval.options import ImportOptions, one_line

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder

_SHOWN = 5
"""Number of missing ids to print; the run lists all."""


def add_to(app: typer.Typer) -> None:
    command(app, "import")(import_)
    app.command("export")(export)


def import_(
    file: Annotated[Path, typer.Argument(help="The file of answers.")],
    format_: Annotated[str, typer.Option("--format", help="Format of the file. A wrong name prints the list.")],
    options: Annotated[ImportOptions, Without("model_concurrency", "max_refusals")],
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
    judge: Annotated[str, typer.Option("--judge", help="Who grades: rules (offline), or openai:MODEL.")] = "rules",
    judge_label: JudgeLabel = None,
    prompts: Prompts = None,
) -> None:
    """Grade answers made by another program.

    Stores an imported run and prints its folder. Questions that the benchmark does not have are skipped and listed.
    If a question has no answer, the run is partial.

    Example: memeval import predictions.json --format locomo --source https://example.org/runs --licence MIT
    """
    from memeval import api
    from memeval.cli.reporting import report
    from memeval.cli.running import parse_parameters
    from memeval.execution.progress import Bar

    with Bar() as progress:
        folder = api.import_answers(
            file,
            format_,
            benchmark,
            data=data,
            parameters=parse_parameters(parameter),
            protocol=protocol,
            system=one_line("--system", system),
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
