"""Findings on pages: how claimed and counted values are written."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from memeval.records.finding import ClaimUnit, ClaimVerdict, FindingsReport, PublishedClaim, RecountedClaim
from memeval.site.model.text import ABSENT

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
