"""``memeval submit``: begin a submission, check it as a pull request is checked, and word what was found."""

from __future__ import annotations

import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from memeval.cli.options import OldTo, renamed
from memeval.cli.setup import Hosts, Sandboxing, setup_of
from memeval.cli.shared import AsJson, counted, print_json
from memeval.records.errors import BadInput, CheckFailed
from memeval.records.submission import AdapterKind

if TYPE_CHECKING:
    from memeval.records.submitting import SubmissionCheck

app = typer.Typer(help="Create a submission, or check it.", no_args_is_help=True)

REPORT_BYTES = 2_000_000
REPORT_FILES = 20
"""How long a report may be that a comment is made of, and how many there may be."""


@app.command("new")
def new(
    name: Annotated[str | None, typer.Option("--name", help="What the system is called.")] = None,
    kind: Annotated[AdapterKind | None, typer.Option("--kind", help="How memeval talks to it.")] = None,
    licence: Annotated[str | None, typer.Option("--licence", help="SPDX expression of its licence.")] = None,
    summary: Annotated[str | None, typer.Option("--summary", help="What it is, in a sentence.")] = None,
    author: Annotated[str | None, typer.Option("--author", help="Who wrote it.")] = None,
    model: Annotated[list[str] | None, typer.Option("--model", help="Model that it uses, repeatable.")] = None,
    to: Annotated[Path, typer.Option("--to", help="Folder above the new submission.")] = Path("submissions"),
    into: Annotated[Path | None, typer.Option("--into", hidden=True)] = None,
) -> None:
    """Create a submission that passes the check.

    It holds a small memory system: replace the sample code with yours. On a terminal memeval asks for what no option
    gives; elsewhere it uses the defaults.

    Example: memeval submit new --name "My Memory" --kind python
    """
    from memeval.evaluation.scaffold import ScaffoldAnswers, scaffold
    from memeval.site.assets import assets_root
    from memeval.systems.output import visible

    defaults = ScaffoldAnswers(name="My Memory")
    given = ScaffoldAnswers(
        name=_asked(name, "Name", defaults.name),
        kind=AdapterKind(_asked(kind, "Kind", defaults.kind, AdapterKind)),
        licence=_asked(licence, "Licence, as an SPDX expression", defaults.licence),
        summary=_asked(summary, "What it is, in a sentence", defaults.summary),
        author=_asked(author, "Author", defaults.author),
        models=tuple(model) if model is not None else tuple(_asked(None, "Models it uses, by name", "").split()),
    )
    folder = scaffold(given, renamed("--into", "--to", into, to), assets_root() / "templates" / "submission")
    shown = visible(str(folder))
    print(f"{shown}: created. It works: replace the sample code with yours. Next steps:")
    print(f"  memeval submit check {shown}")
    print(f"  memeval run {shown} --benchmark beliefs@1")


def _asked(given: str | None, question: str, default: str, kind: type[AdapterKind] | None = None) -> str:
    """Return what an option gave, else what a person answers on a terminal, else the default."""
    if given is not None:
        return given
    if not sys.stdin.isatty():
        return default
    answer: str = typer.prompt(question, default=default, err=True, type=kind or str)
    return answer.strip()


@app.command("check")
def check(
    submission: Annotated[
        str | None, typer.Argument(help="A folder with a submission.toml, or a slug under submissions/.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Check every folder under submissions/.")] = False,
    run: Annotated[bool, typer.Option("--run/--no-run", help="Also install and run it.")] = True,
    results: Annotated[
        Path | None,
        typer.Option("--results", help="Keep the conformance record in this folder of results. Default: nowhere."),
    ] = None,
    sandbox: Sandboxing = None,
    host: Hosts = None,
    to: Annotated[Path | None, typer.Option("--to", help="Also write the report to this file.")] = None,
    out: OldTo = None,
    as_json: AsJson = False,
) -> None:
    """Check a submission, as its pull request will be checked.

    Checks files, secrets, installation, conformance, and a few items of a benchmark. Prints each problem with file,
    line and fix.

    Example: memeval submit check submissions/my-memory
    """
    from memeval.evaluation.submitting import CheckOptions, check_submission

    if (submission is None) is not every:
        raise BadInput("name a submission, or give --all.", remedy="memeval submit check submissions/my-memory")
    to = renamed("--out", "--to", out, to)
    if every and to is not None:
        raise BadInput("--to needs one submission.", remedy="Remove --all or --to.")
    folders = _every() if every else [_folder(str(submission))]
    options = CheckOptions(run=run, results=results, setup=setup_of(sandbox, host))
    reports = []
    for folder in folders:
        report = check_submission(folder, options, _note)
        reports.append(report)
        if to is not None:
            _write(to, report)
        if not as_json:
            _print(report)
    if as_json:
        print_json([report.data() for report in reports] if every else reports[0].data())
    failed = [report.folder for report in reports if not report.holds]
    sys.stdout.flush()
    if failed:
        raise CheckFailed(f"{counted(len(failed), 'submission')} failed the check: {', '.join(failed)}.")


def _every() -> list[Path]:
    from memeval.systems.source import SUBMISSIONS

    folders = sorted(path for path in SUBMISSIONS.glob("*") if path.is_dir() and not path.name.startswith("."))
    if not folders:
        raise BadInput("there is no submission.", where=SUBMISSIONS, remedy="Begin one with memeval submit new.")
    return folders


def _folder(named: str) -> Path:
    """Return the folder that is named by its path or by its slug."""
    from memeval.systems.output import visible
    from memeval.systems.source import SUBMISSIONS

    for path in (Path(named), SUBMISSIONS / named):
        if path.is_dir():
            return path
    raise BadInput(
        f"there is no submission '{visible(named)}'.", remedy="Name its folder, or its slug under submissions/."
    )


def _write(file: Path, report: SubmissionCheck) -> None:
    from memeval.storage import write_whole

    write_whole(file, f"{report.to_json()}\n".encode())


def _note(sentence: str) -> None:
    from memeval.systems.output import visible

    print(visible(sentence), file=sys.stderr)


def _print(report: SubmissionCheck) -> None:
    """Print a report as a table of steps, with problems and failed checks below their step."""
    from memeval.evaluation.commenting import lines_of
    from memeval.systems.output import visible

    print(visible(report.folder))
    for line in lines_of(report):
        print(visible(line))


@app.command("comment")
def comment(
    reports: Annotated[
        list[Path], typer.Argument(help="Reports that memeval submit check --to wrote, or ZIP archives of such.")
    ],
) -> None:
    """Print check reports as a pull request comment.

    Treats the content of the reports as untrusted.

    Example: memeval submit comment report.json
    """
    from memeval.evaluation.commenting import comment_text

    sys.stdout.write(comment_text([report for path in reports for report in _reports(path)]))


def _reports(path: Path) -> Iterator[SubmissionCheck]:
    """Yield the reports of a file, or of a ZIP archive of such files, which is not unpacked."""
    from memeval.records.submitting import SubmissionCheck

    try:
        if not zipfile.is_zipfile(path):
            with path.open("rb") as stream:
                yield SubmissionCheck.parse(_bounded(stream, path), path)
            return
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if not 0 < len(entries) <= REPORT_FILES:
                raise BadInput(f"holds {len(entries)} files, and 1 to {REPORT_FILES} reports are read.", where=path)
            for number, entry in enumerate(entries, 1):
                with archive.open(entry) as stream:
                    where = f"{path}, file {number}"
                    yield SubmissionCheck.parse(_bounded(stream, where), where)
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, EOFError) as error:
        raise BadInput(f"cannot be read ({type(error).__name__}).", where=path) from None


def _bounded(stream: IO[bytes], where: object) -> bytes:
    text = stream.read(REPORT_BYTES + 1)
    if len(text) > REPORT_BYTES:
        raise BadInput(f"is longer than {REPORT_BYTES} bytes, so it is no report.", where=where)
    return text
