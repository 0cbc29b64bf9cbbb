"""``memeval sources``: answers that others published, graded again."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memeval.cli.shared import DEFAULT_RESULTS, AsJson, Results, counted, percent, print_json, print_table, visible
from memeval.records.errors import BadInput, CheckFailed, MemevalError

if TYPE_CHECKING:
    from memeval.claims.copies import Copies
    from memeval.claims.product_findings import KnownFinding
    from memeval.records.finding import FindingsReport, JudgeTrials, PassRate, RecountedClaim
    from memeval.records.regraded import RegradedFile
    from memeval.records.source import FilePart, PublishedSource


app = typer.Typer(help="Grade answers again that others published.", no_args_is_help=True)

Names = Annotated[list[str] | None, typer.Argument(help="Names of sources. Default: all.")]
Sources = Annotated[Path, typer.Option("--sources", metavar="DIR", help="Folder of sources.")]
From = Annotated[
    Path | None,
    typer.Option("--from", metavar="DIR", help="Folder with copies of the files. Default: what 'pull' fetched."),
]
Datas = Annotated[
    list[str] | None, typer.Option("--data", metavar="ID=PATH", help="Your copy of a benchmark's data. Repeatable.")
]
DEFAULT_SOURCES = Path("sources")


@app.command("list")
def list_(names: Names = None, sources: Sources = DEFAULT_SOURCES, from_: From = None, as_json: AsJson = False) -> None:
    """List sources, their files, and which files are here.

    Example: memeval sources list mirix
    """
    from memeval.claims.copies import Copies
    from memeval.claims.store import read_sources

    copies = Copies(from_)
    found = read_sources(sources, names or ())
    if as_json:
        print_json([source.data() | {"state": _state(source, copies)} for source in found])
        return
    for source in found:
        print(f"{source.name}: {source.repository}, {source.licence or 'no licence'}, {_state(source, copies)}")
        for file in source.files if names else ():
            print(f"  {file.name}: {file.system}, {file.benchmark}")


@app.command("pull")
def pull(names: Names = None, sources: Sources = DEFAULT_SOURCES) -> None:
    """Download the files of sources, and check their digests.

    Files that are already here are not downloaded again.

    Example: memeval sources pull mirix
    """
    from memeval.claims.copies import Copies, pull_file
    from memeval.claims.store import read_sources

    copies, failed = Copies(), 0
    for source in read_sources(sources, names or ()):
        for part in _parts(source):
            try:
                path = pull_file(source, part, copies)
                print(path)
            except BadInput as error:
                failed += 1
                print(f"memeval: {error}", file=sys.stderr)
    if failed:
        raise CheckFailed(f"{counted(failed, 'file')} could not be fetched.")


@app.command("import")
def import_(
    names: Names = None,
    from_: From = None,
    data: Datas = None,
    sources: Sources = DEFAULT_SOURCES,
    results: Results = DEFAULT_RESULTS,
    file: Annotated[str | None, typer.Option("--file", help="Only the file of this name.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Store nothing; compare with what is stored. Exit code 1 if it differs.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Grade published answers again, and store the grades.

    Rows without a question of the benchmark are counted by reason. The answers are stored only if all licences allow
    it. Needs the published files and the benchmark's data.

    Example: memeval sources import mirix --from ~/published
    """
    from memeval.claims.copies import Copies
    from memeval.claims.regrading import Sessions, regrade
    from memeval.claims.store import is_stored, read_sources, summary_path, write_regraded

    copies, sessions = Copies(from_), Sessions(datas_of(data))
    done: list[RegradedFile] = []
    problems = 0
    for source in read_sources(sources, names or ()):
        for entry in source.files:
            if file not in (None, entry.name):
                continue
            try:
                regraded = regrade(source, entry, copies, sessions)
                if not check:
                    write_regraded(results, regraded)
                elif not is_stored(results, regraded):
                    path = summary_path(results, source.name, entry.name)
                    raise CheckFailed(f"{path}: the stored summary or its rows differ.")
            except MemevalError as error:
                problems += 1
                print(f"memeval: {source.name}/{entry.name}: {error}", file=sys.stderr)
                continue
            done.append(regraded.summary)
            if not as_json:
                print(_line(regraded.summary), flush=True)
    if as_json:
        print_json([summary.data() for summary in done])
    if not done and not problems:
        raise BadInput("there is no such file in these sources.", remedy="List them with 'memeval sources list NAME'.")
    if problems:
        raise CheckFailed(f"{counted(problems, 'file')} failed, {counted(len(done), 'file')} graded.")


@app.command("verify")
def verify(results: Results = DEFAULT_RESULTS) -> None:
    """Count every stored figure again from the stored rows.

    It works offline and does not need the published files.

    Example: memeval sources verify
    """
    from memeval.claims.store import check_regraded, stored_regraded, summary_path

    summaries = stored_regraded(results)
    problems = [
        f"{summary_path(results, summary.source, summary.file)}: {problem}"
        for summary in summaries
        for problem in check_regraded(results, summary)
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        raise CheckFailed(f"{counted(len(problems), 'problem')} in {counted(len(summaries), 'regraded file')}.")
    print(f"ok: {counted(len(summaries), 'regraded file')}")


def _parts(source: PublishedSource) -> list[FilePart]:
    return list({part.path: part for file in source.files for part in file.parts}.values())


def _state(source: PublishedSource, copies: Copies) -> str:
    parts = _parts(source)
    if not parts:
        return "not fetched"
    here = sum(copies.has(source, part) for part in parts)
    return f"{counted(len(source.files), 'answer set')}, {here} of {counted(len(parts), 'file')} here"


def datas_of(values: list[str] | None) -> dict[str, Path]:
    """Return where the data of benchmarks is, by id, from ``ID=PATH``.

    Raises ``BadInput`` if one is written otherwise.
    """
    found = {}
    for value in values or ():
        name, sign, path = value.partition("=")
        if not (name and sign and path):
            raise BadInput(f"invalid --data '{value}'.", remedy="Write ID=PATH, such as locomo@1=locomo10.json.")
        found[name] = Path(path)
    return found


def _line(summary: RegradedFile) -> str:
    counts, figures = summary.counts, summary.figures
    shown: list[Any] = [f"{summary.source}/{summary.file}: {counts.matched} of {counts.rows} rows matched"]
    shown += [f"{reason}: {len(places)}" for reason, places in counts.unmatched.items()]
    if counts.missing:
        shown.append(f"no row: {counted(len(counts.missing), 'question')}")
    if not summary.is_graded:
        shown.append(f"counted from its own values, {summary.planned} questions planned, no key here")
    for name, each in figures.judges.items():
        shown.append(f"{visible(summary.judge_name(name))} {percent(each.share)} %{_rule(summary, name)}")
    for name, score in figures.scores.items() if not summary.is_graded else ():
        shown.append(f"{visible(name)} {percent(score)} %{_rule(summary, name)}")
    if figures.rules is not None:
        shown.append(f"rules {percent(figures.rules.share)} % of {figures.rules.rows}")
    shown += [f"{name} {percent(value)} %" for name, value in figures.metrics.items()]
    shown += [f"sign: {sign.kind}" for sign in summary.signs if sign.flagged]
    return "; ".join(shown)


def _rule(summary: RegradedFile, name: str) -> str:
    return f" ({summary.votes[name]} of its votes)" if name in summary.votes else ""


@app.command("findings")
def findings(
    results: Results = DEFAULT_RESULTS, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
) -> None:
    """Show which published scores their own files confirm.

    Every value is counted from the rows that are stored in the results folder. The command memeval sources import makes
    these rows from the published files.

    Example: memeval sources findings
    """
    from memeval.claims.findings import findings_folder, read_findings
    from memeval.claims.product_findings import read_product_findings

    report = read_findings(results)
    if report is None:
        raise BadInput(
            "there are no findings here.", where=findings_folder(results), remedy="Run the command in a checkout."
        )
    if as_json:
        print_json(report.data())
    else:
        _print_findings(report)
        _print_product_findings(read_product_findings(results))


def _print_product_findings(known: Sequence[KnownFinding]) -> None:
    from memeval.claims.product_findings import waiting

    waits = waiting(known, None)
    print(f"\n{counted(len(known), 'finding')} about products, each with a program that shows it")
    for finding, _ in known:
        documented = " (documented)" if finding.documented else ""
        print(visible(f"  {finding.id}, {waits.get(finding.id, 'public')}: {finding.statement}{documented}"))


def _print_findings(report: FindingsReport) -> None:
    print(counted(len(report.findings), "published score"))
    lines = [["", "claimed", "counted", "questions", "verdict"]]
    print_table(lines + [_finding_line(finding) for finding in report.findings])
    for finding in report.findings:
        for each in finding.recount.files if finding.recount else ():
            if each.signs:
                print(visible(f"  {finding.claim.id}: {counted(each.signs, 'sign')} of a broken run in {each.name}"))
        for other in finding.same_files:
            print(visible(f"  {finding.claim.id}: the same file, byte for byte, as {other}"))
    print()
    _print_trials(report.trials)
    print(f"\n{counted(len(report.corrections), 'correction')} of our own")
    for one in report.corrections:
        print(f"  {one.date}  {one.subject}")


def _finding_line(finding: RecountedClaim) -> list[str]:
    from memeval.site.pages.published import claimed_text, counted_text

    questions = "–" if finding.questions is None else f"{finding.questions} of {finding.of or '?'}"
    return [finding.claim.id, claimed_text(finding.claim), counted_text(finding), questions, finding.verdict.value]


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
