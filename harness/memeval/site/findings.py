"""Findings on pages: how claimed and counted values are written."""

from __future__ import annotations

from decimal import Decimal

from memeval.records.finding import ClaimUnit, ClaimVerdict, Finding, PublishedClaim
from memeval.site.text import ABSENT

BADGES = {
    ClaimVerdict.HOLDS: "good",
    ClaimVerdict.DIFFERS: "warning",
    ClaimVerdict.FILE_ABSENT: "note",
    ClaimVerdict.NOT_ATTRIBUTABLE: "note",
}
"""The kind of badge of each verdict."""


def claimed_text(claim: PublishedClaim) -> str:
    """Return a claimed value as it was printed, with its margin and unit."""
    margin = f" ± {claim.margin}" if claim.margin else ""
    return f"{claim.claimed}{margin}" + (" %" if claim.unit is ClaimUnit.PERCENT else "")


def counted_text(finding: Finding) -> str:
    """Return a counted value with one digit more than the claim; a dash if there is none."""
    if finding.recount is None:
        return ABSENT
    percent = finding.claim.unit is ClaimUnit.PERCENT
    digits = 1 - int(Decimal(finding.claim.claimed).as_tuple().exponent)
    return f"{finding.recount.value * (100 if percent else 1):.{digits}f}" + (" %" if percent else "")
