"""Which findings wait for the notice to their authors (``site/notice.md``).

A finding is unfavourable if its value differs, if the file that it names is absent, if no file is linked to it, or if a
file shows signs of a broken run. It is public when its authors have had 14 days' notice. What is counted from a file
with such a finding waits with it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

from memeval.claims.store import file_name
from memeval.records.finding import ClaimVerdict, RecountedClaim
from memeval.records.regraded import RegradedFile

NOTICE_DAYS = 14
"""Days between the notice to authors and the day on which a finding is public."""


@dataclass(frozen=True)
class Embargo:
    """What waits, each with the reason in words, such as ``notice not sent``."""

    claims: Mapping[str, str] = field(default_factory=dict)
    """By id of the claim."""
    files: Mapping[str, str] = field(default_factory=dict)
    """By ``source/file``."""


def embargo(findings: Iterable[RecountedClaim], files: Iterable[RegradedFile], day: str | None = None) -> Embargo:
    """Return what may not be published on a day.

    ``day``: UTC date of the release; ``None`` for all unfavourable findings, also those that are public by now.
    """
    known = list(findings)
    sent: dict[str, list[str]] = {}
    for finding in known:
        for name in _files(finding):
            sent.setdefault(name, []).extend(filter(None, [finding.claim.notice.sent]))
    broken = {file_name(file) for file in files if any(sign.flagged for sign in file.signs)}
    waiting = {name: why for name in broken if (why := _waits(min(sent.get(name, []), default=None), day))}
    claims: dict[str, str] = {}
    for finding in known:
        if finding.verdict is not ClaimVerdict.HOLDS and (why := _waits(finding.claim.notice.sent, day)):
            claims[finding.claim.id] = why
            waiting |= dict.fromkeys(_files(finding), why)
    for finding in known:
        for name in _files(finding):
            if name in waiting:
                claims.setdefault(finding.claim.id, waiting[name])
    return Embargo(claims, waiting)


NOTHING_WAITS = Embargo()


def _files(finding: RecountedClaim) -> tuple[str, ...]:
    return finding.claim.recount.files if finding.claim.recount is not None else ()


def _waits(sent: str | None, day: str | None) -> str | None:
    """Return why a finding waits, given the day of its notice; ``None`` if it is public."""
    if sent is None:
        return "notice not sent"
    public = (date.fromisoformat(sent) + timedelta(days=NOTICE_DAYS)).isoformat()
    return f"public from {public}" if day is None or day < public else None
