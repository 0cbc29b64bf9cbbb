"""``memeval submit``: create a submission, check it, and print the report as a pull request comment."""

from __future__ import annotations

import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from memeval.cli.fields import Without, command
from memeval.cli.shared import AsJson, OldTo, counted, option_or_prompt, print_json, print_note, renamed, visible
from memeval.options import CheckOptions
from memeval.records.choices import AdapterKind
from memeval.records.errors import BadInput, CheckFailed

if TYPE_CHECKING:
    from memeval.records.conformance import SubmissionCheck

app = typer.Typer(help="Create a submission, or check it.", no_args_is_help=True)

REPORT_BYTES = 2_000_000
REPORT_FILES = 20
"""Limits of ``memeval submit comment``: bytes of one report, and number of reports."""


@app.command("new")
def new(
    name: Annotated[str | None, typer.Option("--name", help="Name of the system.")] = None,
    kind: Annotated[AdapterKind | None, typer.Option("--kind", help="Interface of the system.")] = None,
    licence: Annotated[str | None, typer.Option("--licence", help="Its licence, as an SPDX expression.")] = None,
    summary: Annotated[str | None, typer.Option("--summary", help="Its description, in a sentence.")] = None,
    author: Annotated[str | None, typer.Option("--author", help="Its author.")] = None,
    model: Annotated[list[str] | None, typer.Option("--model", help="Model that it uses, repeatable.")] = None,
    to: Annotated[Path, typer.Option("--to", help="Folder above the new submission.")] = Path("submissions"),
    into: Annotated[Path | None, typer.Option("--into", hidden=True)] = None,
) -> None:
    """Create a submission that passes the check.

    It contains a small memory system: replace the sample code with yours. On a terminal, memeval asks for missing
    options. Otherwise it uses the defaults.

    Example: memeval submit new --name "My Memory" --kind python
    """
    from memeval.evaluation.submit.scaffold import ScaffoldAnswers, scaffold
    from memeval.site.model.files import assets_root

    defaults = ScaffoldAnswers(name="My Memory")
    answers = ScaffoldAnswers(
        name=option_or_prompt(name, "Name", defaults.name),
        kind=AdapterKind(option_or_prompt(kind, "Kind", defaults.kind, AdapterKind)),
        licence=option_or_prompt(licence, "Licence, as an SPDX expression", defaults.licence),
        summary=option_or_prompt(summary, "Description, in a sentence", defaults.summary),
        author=option_or_prompt(author, "Author", defaults.author),
        models=tuple(model)
        if model is not None
        else tuple(option_or_prompt(None, "Models it uses, by name", "").split()),
    )
    folder = scaffold(answers, renamed("--into", "--to", into, to), assets_root() / "templates" / "submission")
    shown = visible(str(folder))
    print(f"{shown}: created. It works: replace the sample code with yours. Next steps:")
    print(f"  memeval submit check {shown}")
    print(f"  memeval run {shown} --benchmark beliefs@2")


@command(app, "check")
def check(
    options: Annotated[CheckOptions, Without("python")],
    submission: Annotated[
        list[str] | None, typer.Argument(help="Folders with a submission.toml, or slugs under submissions/.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Check every folder under submissions/.")] = False,
    to: Annotated[Path | None, typer.Option("--to", help="Also write the report to this file.")] = None,
    out: OldTo = None,
    as_json: AsJson = False,
) -> None:
    """Check submissions, like the check of their pull request.

    Checks files, secrets, installation, conformance, and a few items of a benchmark. Prints each problem with file,
    line and fix.

    Example: memeval submit check submissions/my-memory
    """
    from memeval.evaluation.submit.proposed_results import lines_of
    from memeval.evaluation.submit.submitting import check_submission
    from memeval.storage import write_whole

    if (not submission) is not every:
        raise BadInput("name a submission, or give --all.", remedy="memeval submit check submissions/my-memory")
    to = renamed("--out", "--to", out, to)
    folders = _every() if every else [_folder(each) for each in submission or ()]
    if to is not None and (every or len(folders) > 1):
        raise BadInput("--to needs one submission.", remedy="Name one submission, or remove --to.")
    reports = []
    for folder in folders:
        report = check_submission(folder, options, print_note)
        reports.append(report)
        if to is not None:
            write_whole(to, f"{report.to_json()}\n".encode())
        for line in () if as_json else (report.folder, *lines_of(report)):
            print(visible(line))
    if as_json:
        print_json(reports[0].data() if len(reports) == 1 and not every else [report.data() for report in reports])
    failed = [report.folder for report in reports if not report.holds]
    sys.stdout.flush()
    if failed:
        raise CheckFailed(f"{counted(len(failed), 'submission')} failed the check: {', '.join(failed)}.")


def _every() -> list[Path]:
    from memeval.systems.source import SUBMISSIONS

    folders = sorted(path for path in SUBMISSIONS.glob("*") if path.is_dir() and not path.name.startswith("."))
    if not folders:
        raise BadInput("there is no submission.", where=SUBMISSIONS, remedy="Create one: memeval submit new.")
    return folders


def _folder(path_or_slug: str) -> Path:
    from memeval.systems.source import SUBMISSIONS

    for path in (Path(path_or_slug), SUBMISSIONS / path_or_slug):
        if path.is_dir():
            return path
    raise BadInput(
        f"there is no submission '{visible(path_or_slug)}'.", remedy="Name its folder, or its slug under submissions/."
    )


@app.command("results")
def check_results_folder(
    proposed: Annotated[Path, typer.Argument(help="The results folder of the pull request.")],
    base: Annotated[Path, typer.Option("--base", help="The results folder of the branch that it is for.")],
) -> None:
    """Check that a pull request only adds runs.

    Refuses changes to the ledger, to releases, to audits and to stored runs. Prints the folders of the new runs. It
    does not verify them: memeval verify.

    Example: memeval submit results pull-request/results --base main/results
    """
    from memeval.evaluation.submit.proposed_results import check_proposed

    runs, findings = check_proposed(base, proposed)
    for run in runs:
        print(visible(run))
    for finding in findings:
        print(visible(str(finding)))
    sys.stdout.flush()
    if findings:
        raise CheckFailed(f"{counted(len(findings), 'problem')} in {proposed}.")


@app.command("comment")
def comment(
    reports: Annotated[
        list[Path], typer.Argument(help="Reports of memeval submit check --to, or ZIP archives of them.")
    ],
) -> None:
    """Print check reports as a pull request comment.

    Treats the content of the reports as untrusted.

    Example: memeval submit comment report.json
    """
    from memeval.evaluation.submit.proposed_results import comment_text

    sys.stdout.write(comment_text([report for path in reports for report in _reports(path)]))


def _reports(path: Path) -> Iterator[SubmissionCheck]:
    """Yield the reports of a file, or of a ZIP archive without unpacking it to disk."""
    from memeval.records.conformance import SubmissionCheck

    try:
        if not zipfile.is_zipfile(path):
            with path.open("rb") as stream:
                yield SubmissionCheck.parse(_bounded(stream, path), path)
            return
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if not 0 < len(entries) <= REPORT_FILES:
                raise BadInput(f"holds {len(entries)} files; expected 1 to {REPORT_FILES} reports.", where=path)
            for number, entry in enumerate(entries, 1):
                with archive.open(entry) as stream:
                    where = f"{path}, file {number}"
                    yield SubmissionCheck.parse(_bounded(stream, where), where)
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, EOFError) as error:
        raise BadInput(f"cannot be read ({type(error).__name__}).", where=path) from None


def _bounded(stream: IO[bytes], where: object) -> bytes:
    text = stream.read(REPORT_BYTES + 1)
    if len(text) > REPORT_BYTES:
        raise BadInput(f"exceeds the limit of {REPORT_BYTES} bytes for a report.", where=where)
    return text
