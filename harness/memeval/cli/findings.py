"""``memeval sources findings``: published scores, counted again."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.shared import DEFAULT_RESULTS, Results, counted, print_json, print_table
from memeval.records.errors import BadInput, ExitCode

if TYPE_CHECKING:
    from memeval.records.finding import Finding, FindingsReport, JudgeTrials, PassRate, Recounts


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("findings")(findings)


def findings(
    results: Results = DEFAULT_RESULTS,
    files: Annotated[
        Path | None, typer.Option("--from", metavar="FOLDER", help="Count again from the published files in a folder.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="With --from: store the counts.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show which published scores their own files confirm.

    Without options, the command prints the stored counts: every number of the page Findings. With --from, it counts
    again. It exits with 1 if a count differs from the stored one. The folder has the published files as
    owner__name/path.

    Example: memeval sources findings --from published
    """
    from memeval.analysis.findings import findings_folder, read_findings

    if keep and files is None:
        raise BadInput("--keep needs --from.", remedy="Add --from FOLDER.")
    folder = findings_folder(results)
    if not folder.is_dir():
        raise BadInput("there are no findings here.", where=folder, remedy="Run the command in a checkout.")
    different = [] if files is None else _count(folder, files, keep)
    report = read_findings(folder)
    if report is None:
        raise BadInput("the folder is gone.", where=folder)
    if as_json:
        print_json(report.data())
    else:
        _print(report)
    for name in different:
        typer.echo(f"memeval: the count of '{name}' differs from the stored count.", err=True)
    if different:
        raise typer.Exit(ExitCode.CHECK_FAILED)


def _count(folder: Path, files: Path, keep: bool) -> list[str]:
    """Count all claims from their files; store the counts, or return the names of those that differ."""
    from memeval.analysis.findings import RECOUNTS, read_claims
    from memeval.analysis.recounts import PublishedFolder, judge_trials, recount
    from memeval.evaluation.provenance import memeval_version
    from memeval.records.finding import Recounts
    from memeval.storage import write_whole

    claims, published = read_claims(folder), PublishedFolder(files)
    made = {claim.id: found for claim in claims.claim if (found := recount(claim, published))}
    counts = Recounts(
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        version=memeval_version(),
        recounts=made,
        trials=judge_trials(claims, published),
    )
    path = folder / RECOUNTS
    if keep:
        write_whole(path, _pretty(counts))
        return []
    try:
        stored = Recounts.parse(path.read_bytes(), path)
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}).", where=path, remedy="Store the counts: --keep") from None
    names = [name for name in sorted({*made, *stored.recounts}) if made.get(name) != stored.recounts.get(name)]
    return names + ([] if counts.trials == stored.trials else ["judges"])


def _pretty(counts: Recounts) -> bytes:
    import json

    return (json.dumps(counts.data(), sort_keys=True, ensure_ascii=False, indent=1) + "\n").encode()


def _print(report: FindingsReport) -> None:
    from memeval.systems.output import visible

    print(f"{counted(len(report.findings), 'published score')}, counted on {report.date} by memeval {report.version}")
    lines = [["", "claimed", "counted", "rows", "verdict"]]
    print_table(lines + [_line(finding) for finding in report.findings])
    for finding in report.findings:
        for fact in finding.recount.facts if finding.recount else ():
            print(visible(f"  {finding.claim.id}: {fact.what}: {fact.rows} of {fact.of}"))
    print()
    _print_trials(report.trials)
    print(f"\n{counted(len(report.corrections), 'correction')} of our own")
    for one in report.corrections:
        print(f"  {one.date}  {one.subject}")


def _line(finding: Finding) -> list[str]:
    from memeval.site.findings import claimed_text, counted_text

    rows = str(sum(each.rows for each in finding.recount.files)) if finding.recount else "–"
    return [finding.claim.id, claimed_text(finding.claim), counted_text(finding), rows, finding.verdict.value]


def _rate(rate: PassRate) -> str:
    return f"{100 * rate.passed / rate.of:.1f}"


def _print_trials(trials: JudgeTrials) -> None:
    print("three verdicts on each answer: % passed by most, % not unanimous")
    for one in trials.repeated:
        print_table([[one.name, _rate(one.majority), f"{100 * one.split / one.majority.of:.1f}"]])
    print("three judges on the same answers: % passed, % not unanimous")
    for panel in trials.panels:
        rates = [f"{judge} {_rate(rate)}" for judge, rate in panel.judges.items()]
        of = next(iter(panel.judges.values())).of
        print_table([[panel.name, *rates, f"{100 * panel.split / of:.1f}"]])
        pairs = [f"{one.first} and {one.second}: {one.equal} of {one.of} equal" for one in panel.pairs]
        print("    " + "; ".join(pairs))
    print("verdicts beside token F1: passed with F1 0, failed with F1 1")
    for each in trials.overlap:
        print_table(
            [[each.name, f"{each.passed_without_overlap} of {each.passed.passed}", str(each.failed_with_match)]]
        )
