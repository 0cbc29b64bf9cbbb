"""The comment below a pull request, made of reports that a stranger's code may have written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memeval.records.conformance import CheckOutcome
from memeval.records.submitting import StepOutcome, SubmissionCheck
from memeval.systems.output import visible

MARKER = "<!-- memeval: check of submissions -->"
"""By this the comment is found again."""

LENGTH = 60_000
"""Characters of a comment at most; GitHub takes 65,536."""

LINE_LENGTH = 2_000
"""Characters of one line of a report."""

_SIGNS = {StepOutcome.PASSED: "✓", StepOutcome.FAILED: "✗", StepOutcome.SKIPPED: "–"}
_BREAK = "\u200b"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,;?!()'-–—“”‘’✓✗…\n" + _BREAK)
_CUT = "… the rest is cut off."


def comment_text(reports: Sequence[SubmissionCheck]) -> str:
    """Return reports as one comment in Markdown, at most ``LENGTH`` characters.

    What the reports say stands in one block of preformatted text, every sign in it that could begin something else
    written as a character reference, and names, links and numbers broken by a space of no width: nothing in it
    mentions, links, or ends the block.
    """
    held = sum(report.holds for report in reports)
    head = (
        f"{MARKER}\n### Check of {len(reports)} submission{'' if len(reports) == 1 else 's'}: "
        f"{'all hold' if held == len(reports) else f'{len(reports) - held} with problems'}\n\n<pre>\n"
    )
    tail = "</pre>\n\nThe same on your machine: `memeval submit check PATH`\n"
    room = LENGTH - len(head) - len(tail) - len(_CUT) - 1
    body: list[str] = []
    for line in _lines(reports):
        safe = harmless(line) + "\n"
        if len(safe) > room:
            body.append(_CUT + "\n")
            break
        room -= len(safe)
        body.append(safe)
    return head + "".join(body) + tail


def _lines(reports: Iterable[SubmissionCheck]) -> Iterable[str]:
    for report in reports:
        yield f"{report.slug or report.folder} (memeval {report.memeval}, {report.sandbox or 'no sandbox'})"
        for step in report.steps:
            yield f"  {_SIGNS[step.outcome]} {step.name:12} {step.seconds:6.1f} s  {step.detail}"
            for problem in step.problems:
                yield f"      {problem}"
        for check in report.conformance:
            if check.outcome in (CheckOutcome.FAILED, CheckOutcome.DECLARED):
                yield f"    {check.name}: {check.outcome}. {check.detail}"
        yield ""


def harmless(text: str) -> str:
    """Return outside text as it can stand in a preformatted block of a comment."""
    text = visible(text[:LINE_LENGTH])
    for sign in ("@", "#", "://", "www."):
        text = text.replace(sign, sign[0] + _BREAK + sign[1:])
    return "".join(c if c in _PLAIN else f"&#{ord(c)};" for c in text)
