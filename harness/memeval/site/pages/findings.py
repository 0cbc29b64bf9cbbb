"""Findings: published scores counted again, judges on trial, our own corrections, and how their values are written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal

from memeval.records.finding import ClaimUnit, ClaimVerdict, FindingsReport, PublishedClaim, RecountedClaim
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Heading, Page
from memeval.site.model.text import ABSENT
from memeval.site.pages.graders import labelled_tests
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render

BADGES = {
    ClaimVerdict.HOLDS: "good",
    ClaimVerdict.DIFFERS: "warning",
    ClaimVerdict.FILE_ABSENT: "note",
    ClaimVerdict.NOT_ATTRIBUTABLE: "note",
}
"""The kind of badge of each verdict."""

NOTICE_DAYS = 14
"""Days between the notice to authors and the first mention of a finding on the front page (``site/notice.md``)."""


def claimed_text(claim: PublishedClaim) -> str:
    """Return a claimed value as it was printed, with its margin and unit."""
    margin = f" ± {claim.margin}" if claim.margin else ""
    return f"{claim.claimed}{margin}" + (" %" if claim.unit is ClaimUnit.PERCENT else "")


def counted_text(finding: RecountedClaim) -> str:
    """Return a counted value with one digit more than the claim; a dash if there is none."""
    if finding.recount is None:
        return ABSENT
    percent = finding.claim.unit is ClaimUnit.PERCENT
    digits = 1 - int(Decimal(finding.claim.claimed).as_tuple().exponent)
    return f"{finding.recount.value * (100 if percent else 1):.{digits}f}" + (" %" if percent else "")


def notice_sentence(report: FindingsReport) -> str | None:
    """Return why findings that do not hold are not on the front page, with the day of the first notice that ends.

    ``None`` if all hold: those need no notice.
    """
    open_findings = [finding for finding in report.findings if finding.verdict is not ClaimVerdict.HOLDS]
    if not open_findings:
        return None
    rule = f"Findings may appear here {NOTICE_DAYS} days after the notice to their authors."
    sent = [date.fromisoformat(day) for finding in open_findings if (day := finding.claim.notice.sent)]
    if not sent:
        return f"{rule} No notice has been sent yet."
    return f"{rule} The first notice ends on {(min(sent) + timedelta(days=NOTICE_DAYS)).isoformat()}."


class FindingsPages(Publisher):
    """The pages *Findings* and *Judges on trial*, and ``findings.json``."""

    name = "findings"
    order = 46

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        report = site.findings
        yield Page(
            url="findings/",
            title="Findings",
            description="Published scores of memory systems, counted again from the files behind them.",
            body=render(
                "pages/findings.html",
                "findings/",
                report=report,
                verdicts=_verdicts(report),
                badges=BADGES,
                claimed=claimed_text,
                counted_value=counted_text,
            ),
            headings=()
            if report is None
            else (
                Heading("scores", "Published scores"),
                Heading("verdicts", "What the verdicts mean"),
                Heading("corrections", "Our own corrections"),
            ),
            wide=True,
        )
        yield Page(
            url="judges/",
            title="Judges on trial",
            description="What published verdicts show about the LLM judges of memory benchmarks.",
            body=render(
                "pages/judges.html",
                "judges/",
                trials=report.trials if report else None,
                vague=labelled_tests(report, site.labels) if report else [],
            ),
            headings=()
            if report is None
            else (
                Heading("test-answers", "Wrong and vague answers"),
                Heading("three-verdicts", "Three verdicts on each answer"),
                Heading("three-judges", "Three judges on the same answers"),
                Heading("overlap", "Verdict and token F1"),
            ),
            wide=True,
        )
        if report:
            content = json.dumps(report.data(), sort_keys=True, ensure_ascii=False, indent=1) + "\n"
            yield Asset("findings.json", content.encode())


def _verdicts(report: FindingsReport | None) -> list[tuple[ClaimVerdict, int]]:
    """Return how many findings have each verdict."""
    counts = Counter(finding.verdict for finding in report.findings) if report else Counter()
    return [(verdict, counts[verdict]) for verdict in ClaimVerdict]
