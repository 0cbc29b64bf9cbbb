"""Findings: published scores counted again, judges on trial, our own corrections, and how their values are written."""

import json
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal

from memeval.claims.embargo import NOTICE_DAYS
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


def claimed_text(claim: PublishedClaim) -> str:
    margin = f" ± {claim.margin}" if claim.margin else ""
    return f"{claim.claimed}{margin}" + (" %" if claim.unit is ClaimUnit.PERCENT else "")


def counted_text(finding: RecountedClaim) -> str:
    """Return a counted value with one digit more than the claim; a dash if absent."""
    if finding.recount is None:
        return ABSENT
    percent = finding.claim.unit is ClaimUnit.PERCENT
    digits = 1 - int(Decimal(finding.claim.claimed).as_tuple().exponent)
    return f"{finding.recount.value * (100 if percent else 1):.{digits}f}" + (" %" if percent else "")


class FindingsPages(Publisher):
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
                waits=site.waits.claims,
                days=NOTICE_DAYS,
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
    counts = Counter(finding.verdict for finding in report.findings) if report else Counter()
    return [(verdict, counts[verdict]) for verdict in ClaimVerdict]
