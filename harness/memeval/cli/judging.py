"""``memeval regrade`` and ``memeval judge``: grade stored answers with another judge, and measure its error rates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memeval.cli.archive import fetch_for
from memeval.cli.fields import Without, command
from memeval.cli.shared import AsJson, Benchmarks, Data, JudgeLabel, Prompts, counted, percent, print_json
from memeval.options import AuditOptions, RegradeOptions
from memeval.records.errors import BadInput

if TYPE_CHECKING:
    from memeval.records.audit import Audit, Rate

app = typer.Typer(help="Audit a judge, or compare two judges.", no_args_is_help=True)


def rejudge() -> None:
    """Say the new name of this command."""
    raise BadInput("memeval rejudge is now memeval regrade.", remedy="Its options are the same.")


def regrade(
    runs: Annotated[list[str], typer.Argument(help="Runs, by folder or id; or folders above runs.")],
    judge: Annotated[str, typer.Option("--judge", help="Who gives verdicts: rules, local:NAME or openai:MODEL.")],
    options: Annotated[RegradeOptions, Without("judge_concurrency", "model_concurrency")],
    judge_label: JudgeLabel = None,
    prompts: Prompts = None,
    data: Data = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", "--judge-concurrency", help="Concurrent calls to the judge.")
    ] = 16,
) -> None:
    """Grade stored answers with another judge.

    Makes a new run on another track, and prints its folder. Recorded judgments are reused, so an interrupted command
    resumes. If several runs have the same answers, only the first is judged.

    Example: memeval regrade results/beliefs/bm25 --judge openai:gpt-4o-2024-08-06
    """
    from memeval import api
    from memeval.cli.reporting import report
    from memeval.execution.progress import Bar

    options = replace(options, models=replace(options.models, judge_concurrency=concurrency))
    options.models.check()
    named = {folder.run.run_id: folder for each in runs for folder in api.load_runs(each, options.results)}
    fetch_for(list(named.values()))
    with Bar() as progress:
        for source in named.values():
            if source.run.answers_from in named:  # the same answers, judged before
                continue
            folder = api.regrade(
                source, judge, label=judge_label, prompts=prompts, data=data, options=options, progress=progress
            )
            report(folder)
            print(folder.path, flush=True)


@command(app, "audit")
def audit(
    judge: Annotated[list[str], typer.Option("--judge", help="rules, local:NAME or openai:MODEL; repeatable.")],
    options: Annotated[AuditOptions, Without("model_concurrency")],
    benchmark: Benchmarks = None,
    judge_label: Annotated[
        str | None, typer.Option("--judge-label", help="Who serves the model judges, if not their makers.")
    ] = None,
    prompts: Prompts = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Measure how often a judge is wrong.

    Counts wrong answers passed, correct answers failed, agreement, and successful attacks on the judge.

    The test answers come from the expected answers of the benchmark: some are correct in other words, others are wrong
    or attack the judge. With several judges, also prints the stored scores by judge.

    Example: memeval judge audit --judge rules --benchmark beliefs@2
    """
    from memeval import api
    from memeval.execution.progress import Bar

    found = []
    with Bar() as progress:
        for named in judge:
            found += api.audit(
                named,
                benchmark,
                label=None if named.startswith("rules") else judge_label,
                prompts=None if named.startswith("rules") else prompts,
                data=data,
                options=options,
                progress=progress,
            )
    matrices = _score_by_judge(options.results, {folder.audit.benchmark for folder in found}) if len(judge) > 1 else []
    if as_json:
        print_json({"audits": [folder.audit.data() for folder in found], "scores": matrices})
        return
    for folder in found:
        _print_audit(folder.audit)
        print(f"  {folder.path}")
    for row in matrices:
        cells = ", ".join(f"{name} {percent(value)}" for name, value in row["composites"].items())
        print(f"{row['system']} on {row['benchmark']}, by judge: {cells}")


def _score_by_judge(results: Path, benchmarks: set[str]) -> list[dict[str, Any]]:
    """Return composites by judge, for stored responses that several judges graded."""
    from memeval.site.model.content import read_site
    from memeval.site.table.judges import scores_by_judge

    site = read_site(results)
    return [
        {"benchmark": benchmark, "system": slug, "composites": composites}
        for benchmark in sorted(benchmarks)
        for slug, composites in scores_by_judge(site, benchmark)
    ]


def _print_audit(audit: Audit) -> None:
    print(f"{audit.judge} on {audit.benchmark}, {counted(audit.overall.agreement.items, 'answer')} with a verdict:")
    lines = {"all": audit.overall, **audit.categories, **{str(kind): line for kind, line in audit.kinds.items()}}
    width = max(map(len, lines))
    for name, line in lines.items():
        kappa = "–" if line.agreement.kappa is None else f"{line.agreement.kappa:.2f}"
        print(
            f"  {name:{width}}  false accepts {_rate(line.false_accepts)}  false rejects {_rate(line.false_rejects)}"
            f"  no verdict {_rate(line.unparsed)}  kappa {kappa}"
        )


def _rate(rate: Rate) -> str:
    if rate.share is None:
        return "–"
    limits = f" [{percent(rate.interval.low)}, {percent(rate.interval.high)}]" if rate.interval else ""
    return f"{percent(rate.share)} %{limits} ({rate.count}/{rate.of})"
