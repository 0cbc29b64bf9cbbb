"""``memeval import``, ``memeval export`` and ``memeval score``: answers and formats of other programs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memeval.cli.fields import Without
from memeval.cli.shared import (
    DEFAULT_RESULTS,
    AsJson,
    Data,
    JudgeLabel,
    Parameter,
    Prompts,
    Protocol,
    Results,
    Tier,
    counted,
    dollars,
    percent,
    print_json,
    print_table,
    visible,
)
from memeval.options import ImportOptions, one_line

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder
    from memeval.evaluation.imports.scoring_files import FileScore
    from memeval.records.run import Run
    from memeval.statistics.composite import CompositeEstimate


_SHOWN = 5
"""Number of missing ids to print; the run lists all."""


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
    judge: Annotated[
        str, typer.Option("--judge", help="Who grades: rules (offline), local:NAME or openai:MODEL.")
    ] = "rules",
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
            print(f"  {problem}: {counted(len(ids), 'question')} ({_first(ids)})", file=sys.stderr)


def _first(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_SHOWN]) + (", …" if len(ids) > _SHOWN else "")


_COLUMNS = 3
"""Number of controls to print."""

SCORE = "score"
"""Name of the headline measure."""


def score(
    file: Annotated[Path, typer.Argument(help="The file: JSON, JSON lines or CSV.")],
    benchmark: Annotated[str, typer.Option("--benchmark", metavar="ID", help="Benchmark id.")],
    protocol: Protocol = None,
    tier: Tier = None,
    data: Data = None,
    results: Results = DEFAULT_RESULTS,
    keep: Annotated[bool, typer.Option("--keep", help="Store the file as an imported run.")] = False,
    as_json: AsJson = False,
) -> None:
    """Score a file of answers or rankings, without an adapter.

    The file is an object of question ids: each with an answer, or with a list of session or turn ids, best first. Lines
    and tables have the columns question_id, and answer or retrieved. Questions without an entry count as wrong. Stored
    runs of the controls on the same data are shown for comparison.

    Example: memeval score ranking.json --benchmark locomo@1
    """
    from memeval.benchmarks import find
    from memeval.benchmarks.formats.reading import AnswerFile
    from memeval.benchmarks.formats.simple import FORMAT, read
    from memeval.benchmarks.session import BenchmarkSession
    from memeval.evaluation.imports.scoring_files import score_answers
    from memeval.records.errors import BadInput

    opened, chosen = AnswerFile.open(file), find(benchmark)
    if keep and tier not in (None, chosen.info.tiers[0].name):
        raise BadInput("--keep stores the default tier only.", remedy="Leave --tier out, or --keep.")
    named = {each.name: each.grades_rankings for each in chosen.info.protocols}
    session = BenchmarkSession.open(chosen, data, protocol=protocol, tier=tier)
    answers = read(opened, session)
    ranked = answers.has_rankings
    if protocol is None and named[session.protocol] != ranked:
        fitting = next((name for name, searches in named.items() if searches == ranked), None)
        if fitting is None:
            kind = "rankings" if ranked else "answers"
            raise BadInput(f"{chosen.info.id} has no protocol for {kind}.", where=file)
        session = BenchmarkSession.open(chosen, data, protocol=fitting, tier=tier)
    found = score_answers(answers, session)
    controls = _controls(results, found, session.benchmark.plan(session.keys, session.protocol, session.tier))
    if as_json:
        print_json(_data(found, controls))
    else:
        _print_score(found, controls)
    if keep:
        from memeval import api
        from memeval.options import ImportOptions

        options = ImportOptions(results=results)
        folder = api.import_answers(file, FORMAT, chosen.info.id, data=data, protocol=session.protocol, options=options)
        print(folder.path, file=sys.stderr if as_json else sys.stdout)


def _controls(results: Path, found: FileScore, plan: Any) -> list[Run]:
    """Return the newest run of each control on the same data, protocol, tier and graders, without a language model."""
    from memeval.archive.runs import sealed_runs
    from memeval.execution.model_reader import PREFIXES
    from memeval.judging.rules import RulesJudge
    from memeval.records.run import SystemKind

    newest: dict[str, Run] = {}
    name = found.benchmark.partition("@")[0]
    for folder in sealed_runs(results):
        if folder.path.parent.parent.name != name:
            continue
        run, track = folder.run, folder.run.track
        same = (track.data_digest, track.protocol, track.tier, track.categories, track.judge) == (
            found.data_digest,
            found.protocol,
            found.tier,
            plan,
            RulesJudge.name,
        )
        without_model = run.system.kind is SystemKind.CONTROL and not track.reader.startswith(PREFIXES)
        if same and without_model and run.scores.composite.value is not None:
            newest[run.system.slug] = run
    return sorted(newest.values(), key=lambda run: -(run.scores.composite.value or 0.0))


def _print_score(found: FileScore, controls: list[Run]) -> None:
    print(f"{found.benchmark}, protocol {found.protocol}, tier {found.tier}, data {found.data_digest[:19]}")
    shown = controls[:_COLUMNS]
    lines = [["", "%", "95 % interval", *(run.system.slug for run in shown)]]
    for name, estimate in found.scores.items():
        beside = [percent(value) if (value := _of_control(run, name)) is not None else "–" for run in shown]
        lines.append([name, percent(estimate.value), _interval(estimate), *beside])
    print_table(lines)
    print("By category:")
    print_table([[name, percent(value)] for name, value in found.categories.items()])
    skipped = "entries left out, because this protocol and tier do not score them"
    foreign = "retrieved ids that the benchmark does not have, counted as irrelevant"
    named = (
        ("questions without an entry, counted as wrong", found.missing),
        (skipped, found.unknown),
        (foreign, found.unknown_sources),
    )
    for what, ids in named:
        if ids:
            print(visible(f"{what}: {len(ids):,} ({_first(ids)})"))
    if not controls:
        print("No stored run of a control without a model has this data, protocol, tier and graders.")
    elif len(controls) > len(shown):
        print(f"The {len(shown)} best of {len(controls)} stored controls are shown; --json has all.")


def _of_control(run: Run, name: str) -> float | None:
    """Return a measure of a stored run, weighted as its score; ``None`` if the run does not have it."""
    if name == SCORE:
        return run.scores.composite.value
    scored = [category for category in run.scores.categories if category.weight]
    values = [category.metrics.get(name) for category in scored]
    total = sum(category.weight for category in scored)
    if not total or any(value is None for value in values):
        return None
    return sum(category.weight * (value or 0.0) for category, value in zip(scored, values, strict=True)) / total


def _interval(estimate: CompositeEstimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "–"
    return f"{percent(estimate.low)}–{percent(estimate.high)}"


def _data(found: FileScore, controls: list[Run]) -> dict[str, Any]:
    return {
        **vars(found),
        "scores": {
            name: {"value": each.value, "low": each.low, "high": each.high} for name, each in found.scores.items()
        },
        "controls": {run.system.slug: {name: _of_control(run, name) for name in found.scores} for run in controls},
    }
