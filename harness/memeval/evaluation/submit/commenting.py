"""The text of a check report, and the pull request comment made of reports that untrusted code may have written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memeval.records.conformance import CheckOutcome, StepName, StepOutcome, SubmissionCheck
from memeval.systems.channel import visible

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
