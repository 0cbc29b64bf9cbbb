"""``memeval sources``: answers that others published, graded again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memeval.cli import findings
from memeval.cli.options import AsJson
from memeval.cli.shared import DEFAULT_RESULTS, Results, counted, percent, print_json
from memeval.records.errors import BadInput, CheckFailed, MemevalError

if TYPE_CHECKING:
    from memeval.claims.copies import Copies
    from memeval.records.regraded import RegradedFile
    from memeval.records.source import FilePart, PublishedSource

app = typer.Typer(help="Grade answers again that others published.", no_args_is_help=True)
findings.add_to(app)

Names = Annotated[list[str] | None, typer.Argument(help="Names of sources. Default: all.")]
Sources = Annotated[Path, typer.Option("--sources", metavar="DIR", help="Folder of sources.")]
From = Annotated[
    Path | None,
    typer.Option("--from", metavar="DIR", help="Folder with copies of the files. Default: what 'pull' fetched."),
]
Datas = Annotated[
    list[str] | None,
    typer.Option("--data", metavar="ID=PATH", help="Your copy of a benchmark's data. Repeatable."),
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
    from memeval.claims.store import read_sources, stored_equals, summary_path, write_regraded

    copies, sessions = Copies(from_), Sessions(datas_of(data))
    done: list[RegradedFile] = []
    problems = 0
    for source in read_sources(sources, names or ()):
        for entry in source.files:
            if file not in (None, entry.name):
                continue
            try:
                regraded = regrade(source, entry, copies, sessions)
                path = summary_path(results, source.name, entry.name)
                if not check:
                    write_regraded(results, regraded)
                elif not path.is_file() or not stored_equals(path, regraded):
                    raise CheckFailed(f"{path}: the stored summary differs.")
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
    if figures.judges:
        shown.append("judge " + ", ".join(f"{percent(each.share)} %" for each in figures.judges.values()))
    if figures.rules is not None:
        shown.append(f"rules {percent(figures.rules.share)} % of {figures.rules.rows}")
    shown += [f"{name} {percent(value)} %" for name, value in figures.metrics.items()]
    shown += [f"sign: {sign.kind}" for sign in summary.signs if sign.flagged]
    return "; ".join(shown)
