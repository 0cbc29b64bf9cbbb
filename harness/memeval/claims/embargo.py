"""Which findings wait for the notice to their authors (``site/notice.md``).

A finding is unfavourable if its value differs, if the file that it names is absent, if no file is linked to it, if a
file shows signs of a broken run, or if two repositories publish the same file. It is public when its authors have had
14 days' notice; of two repositories with the same file, both. What is counted from a file with such a finding waits
with it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

from memeval.claims.store import file_name
from memeval.records.finding import ClaimVerdict, RecountedClaim
from memeval.records.regraded import RegradedFile

NOT_SENT = "notice not sent"
"""Why a finding waits whose authors were not notified."""

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
    known, files = list(findings), list(files)
    sent: dict[str, list[str]] = {}
    for finding in known:
        for name in _files(finding):
            sent.setdefault(name, []).extend(filter(None, [finding.claim.notice.sent]))
    broken = {file_name(file) for file in files if any(sign.flagged for sign in file.signs)}
    waiting = {name: why for name in broken if (why := waits(min(sent.get(name, []), default=None), day))}
    for name, others in same_files(files).items():
        whys = [why for each in (name, *others) if (why := waits(min(sent.get(each, []), default=None), day))]
        if whys:
            waiting[name] = NOT_SENT if NOT_SENT in whys else max(whys)
    claims: dict[str, str] = {}
    for finding in known:
        if finding.verdict is not ClaimVerdict.HOLDS and (why := waits(finding.claim.notice.sent, day)):
            claims[finding.claim.id] = why
            waiting |= dict.fromkeys(_files(finding), why)
    for finding in known:
        for name in _files(finding):
            if name in waiting:
                claims.setdefault(finding.claim.id, waiting[name])
    return Embargo(claims, waiting)


NOTHING_WAITS = Embargo()


def same_files(files: Iterable[RegradedFile]) -> dict[str, tuple[str, ...]]:
    """Return the files that other repositories publish as well, byte for byte, each with the others.

    Names are ``source/file``. The digests of the uncompressed bytes decide; who published first is not known.
    """
    by_digest: dict[str, list[RegradedFile]] = defaultdict(list)
    for file in files:
        for digest in set(file.parts.values()):
            by_digest[digest].append(file)
    found: dict[str, set[str]] = defaultdict(set)
    for members in by_digest.values():
        for file in members:
            others = {file_name(each) for each in members if each.repository != file.repository}
            if others:
                found[file_name(file)] |= others
    return {name: tuple(sorted(others)) for name, others in sorted(found.items())}


def _files(finding: RecountedClaim) -> tuple[str, ...]:
    return finding.claim.recount.files if finding.claim.recount is not None else ()


def waits(sent: str | None, day: str | None) -> str | None:
    """Return why a finding waits, given the day of its notice; ``None`` if it is public."""
    if sent is None:
        return NOT_SENT
    public = (date.fromisoformat(sent) + timedelta(days=NOTICE_DAYS)).isoformat()
    return f"public from {public}" if day is None or day < public else None
