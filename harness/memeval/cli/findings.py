"""``memeval sources findings``: published scores, counted again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.shared import DEFAULT_RESULTS, Results, counted, print_json, print_table
from memeval.records.errors import BadInput

if TYPE_CHECKING:
    from memeval.records.finding import FindingsReport, JudgeTrials, PassRate, RecountedClaim


def add_to(app: typer.Typer) -> None:
    app.command("findings")(findings)


def findings(
    results: Results = DEFAULT_RESULTS,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show which published scores their own files confirm.

    Every value is counted from the rows that are stored in the results folder. The command memeval sources import makes
    these rows from the published files.

    Example: memeval sources findings
    """
    from memeval.claims.findings import findings_folder, read_findings

    report = read_findings(results)
    if report is None:
        raise BadInput(
            "there are no findings here.", where=findings_folder(results), remedy="Run the command in a checkout."
        )
    if as_json:
        print_json(report.data())
    else:
        _print(report)


def _print(report: FindingsReport) -> None:
    from memeval.systems.channel import visible

    print(counted(len(report.findings), "published score"))
    lines = [["", "claimed", "counted", "rows", "verdict"]]
    print_table(lines + [_line(finding) for finding in report.findings])
    for finding in report.findings:
        for each in finding.recount.files if finding.recount else ():
            if each.signs:
                print(visible(f"  {finding.claim.id}: {counted(each.signs, 'sign')} of a broken run in {each.name}"))
    print()
    _print_trials(report.trials)
    print(f"\n{counted(len(report.corrections), 'correction')} of our own")
    for one in report.corrections:
        print(f"  {one.date}  {one.subject}")


def _line(finding: RecountedClaim) -> list[str]:
    from memeval.site.pages.findings import claimed_text, counted_text

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
