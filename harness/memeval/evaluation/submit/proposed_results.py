"""What a pull request may change in the results folder, and the comment made of reports of untrusted code."""

import filecmp
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from memeval.evaluation.verify.findings import Finding
from memeval.records.conformance import CheckOutcome, StepName, StepOutcome, SubmissionCheck
from memeval.records.errors import BadInput
from memeval.systems.channel import visible

CONFORMANCE, SOURCES = "conformance", "sources"
"""Folders of conformance reports and of archived submissions."""

_RESERVED = {
    "ledger.jsonl": "Only a maintainer adds lines to the ledger, after the merge.",
    "releases": "Only a maintainer freezes releases.",
    "audits": "Only a maintainer adds audits.",
}
"""What a pull request may neither add nor change, by its first part; and why."""

_UNDO = "Undo the change."


def check_proposed(base: Path, proposed: Path) -> tuple[list[str], list[Finding]]:
    """Compare the results folder of a pull request with that of the branch it is for.

    Nothing of either folder is executed, and no link is followed. ``proposed``: the results folder of the pull request,
    merged into the base branch. Returns the folders of the new runs, relative to ``proposed``; and the problems, by
    path. Raises ``BadInput`` if one of them is no folder.
    """
    for folder in (base, proposed):
        if folder.is_symlink() or not folder.is_dir():
            raise BadInput("there is no results folder here.", where=folder, remedy="Name a folder of results.")
    before, after = _files(base), _files(proposed)
    findings = [
        Finding(str(proposed / name), "was removed.", f"{_UNDO} {_reason(name)}")
        for name in before
        if name not in after
    ]
    runs: set[str] = set()
    for name, is_plain in after.items():
        where = str(proposed / name)
        if not is_plain:
            findings.append(Finding(where, "is not a plain file.", "Replace it with the file itself, or remove it."))
        elif name not in before:
            run = _new_run(name, base)
            if run is not None:
                runs.add(run)
            elif not _is_new_report(name, base):
                findings.append(Finding(where, "does not belong to a new run.", f"Remove it. {_reason(name)}"))
        elif not filecmp.cmp(base / name, proposed / name, shallow=False):
            findings.append(Finding(where, "was changed.", f"{_UNDO} {_reason(name)}"))
    return sorted(runs), sorted(findings, key=lambda finding: finding.where)


def _files(folder: Path) -> dict[str, bool]:
    """Return the files and links in a folder, and whether each is a plain file."""
    found = {}
    for parent, folders, names in os.walk(folder):
        links = [name for name in folders if Path(parent, name).is_symlink()]
        for path in (Path(parent, name) for name in (*names, *links)):
            found[path.relative_to(folder).as_posix()] = stat.S_ISREG(path.lstat().st_mode)
    return found


def _new_run(name: str, base: Path) -> str | None:
    """Return the folder ``<benchmark>/<slug>/<run_id>`` of a file, if the base branch does not have it."""
    parts = PurePosixPath(name).parts
    if len(parts) != 4 or parts[0] in (*_RESERVED, CONFORMANCE, SOURCES):
        return None
    run = "/".join(parts[:3])
    return None if (base / run).exists() else run


def _is_new_report(name: str, base: Path) -> bool:
    parts = PurePosixPath(name).parts
    if parts[0] == CONFORMANCE:
        return len(parts) == 3 and parts[2].endswith(".json")
    return parts[0] == SOURCES and len(parts) > 3 and not (base / "/".join(parts[:3])).exists()


def _reason(name: str) -> str:
    reserved = _RESERVED.get(PurePosixPath(name).parts[0])
    return reserved or "A stored file is never edited: a correction is a new run."


MARKER = "<!-- memeval: check of submissions -->"
"""Marks the comment, so that it can be found and updated."""

LENGTH = 60_000
"""The longest comment, in characters; GitHub's limit is 65,536."""

LINE_LENGTH = 2_000
"""The longest line of a report, in characters."""

_SIGNS = {StepOutcome.PASSED: "✓", StepOutcome.FAILED: "✗", StepOutcome.SKIPPED: "–"}
_WARNING = "!"
"""The sign of a failed check that is not required, and of its step."""

_BREAK = "\u200b"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,;?!()'-–—“”‘’✓✗…\n" + _BREAK)
_CUT = "… the rest is left out."


def comment_text(reports: Sequence[SubmissionCheck]) -> str:
    """Return reports as one comment in Markdown, at most ``LENGTH`` characters.

    The text of the reports is one preformatted block. Special characters in it are character references, and names,
    links and numbers are broken by a zero-width space: nothing in it mentions, links, or ends the block.
    """
    passed = sum(report.holds for report in reports)
    head = (
        f"{MARKER}\n### Check of {len(reports)} submission{'' if len(reports) == 1 else 's'}: "
        f"{'all passed' if passed == len(reports) else f'{len(reports) - passed} failed'}\n\n<pre>\n"
    )
    tail = "</pre>\n\nRun it on your machine: `memeval submit check PATH`\n"
    remaining = LENGTH - len(head) - len(tail) - len(_CUT) - 1
    body: list[str] = []
    for line in _lines(reports):
        safe = harmless(line) + "\n"
        if len(safe) > remaining:
            body.append(_CUT + "\n")
            break
        remaining -= len(safe)
        body.append(safe)
    return head + "".join(body) + tail


def _lines(reports: Iterable[SubmissionCheck]) -> Iterable[str]:
    for report in reports:
        yield f"{report.slug or report.folder} (memeval {report.memeval}, {report.sandbox or 'no sandbox'})"
        yield from lines_of(report)
        yield ""


def lines_of(report: SubmissionCheck) -> Iterator[str]:
    """Yield a report as lines: its steps, with problems and failed checks below their step."""
    failed = [check for check in report.conformance if check.outcome is CheckOutcome.FAILED]
    for step in report.steps:
        # A failed step names its required checks as problems.
        shown = [check for check in failed if not (step.problems and check.mandatory)]
        warns = step.name is StepName.CONFORMANCE and bool(shown)
        sign = _WARNING if warns and step.outcome is StepOutcome.PASSED else _SIGNS[step.outcome]
        yield f"  {sign} {step.name:12} {step.seconds:6.1f} s  {step.detail}"
        for problem in step.problems:
            yield f"      {problem}"
        for check in shown if warns else ():
            yield f"      {_WARNING} {check.name}: {check.detail}{f' {check.remedy}' if check.remedy else ''}"
    for check in report.conformance:
        if check.outcome is CheckOutcome.DECLARED:
            yield f"      {check.name}: {check.outcome}. {check.detail}"


def harmless(text: str) -> str:
    """Return untrusted text so that it is safe in a preformatted block of a comment."""
    text = visible(text[:LINE_LENGTH])
    for sign in ("@", "#", "://", "www."):
        text = text.replace(sign, sign[0] + _BREAK + sign[1:])
    return "".join(c if c in _PLAIN else f"&#{ord(c)};" for c in text)
