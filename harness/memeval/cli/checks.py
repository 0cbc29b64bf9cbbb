"""Prints the checks of ``memeval verify``: one line a check, over all runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memeval.cli.shared import counted

if TYPE_CHECKING:
    from memeval.evaluation.verify.findings import Check

NOUNS = {
    "audits": "audit",
    "conformance": "report",
    "ledger": "ledger",
    "matrices": "matrix",
    "sources": "folder of sources",
    "labels": "labelled sample",
    "regraded": "file of published answers",
    "release": "set of releases",
    "signature": "ledger",
}
"""What a check is of, by its name; all others are of a run."""

WIDTH = 13
"""Width of the column of names, in characters."""


def lines_of(checks: Iterable[Check]) -> Iterator[str]:
    """Yield a line for each kind of check: how many are ok, failed, or not checked and why.

    A check that was not made has its own line, and is never counted as ok.
    """
    for name, same in _by_name(checks).items():
        noun = NOUNS.get(name, "run")
        ok, failed, reasons = _counts(same)
        parts = [f"FAILED: {_of(failed, noun)}"] if failed else []
        if ok:
            parts.append(f"ok: {_of(ok, noun)}")
        parts += [f"not checked in {_of(count, noun)}: {reason}" for reason, count in reasons.items()]
        for number, part in enumerate(parts):
            yield f"{name if number == 0 else '':{WIDTH}}{part}"


def data_of(checks: Iterable[Check]) -> list[dict[str, Any]]:
    """Return the counts of each kind of check as plain JSON data."""
    found = []
    for name, same in _by_name(checks).items():
        ok, failed, reasons = _counts(same)
        found.append({"name": name, "ok": ok, "failed": failed, "not_checked": dict(reasons)})
    return found


def _by_name(checks: Iterable[Check]) -> dict[str, list[Check]]:
    named: dict[str, list[Check]] = {}
    for check in checks:
        named.setdefault(check.name, []).append(check)
    return named


def _counts(checks: Sequence[Check]) -> tuple[int, int, Counter[str]]:
    """Return how many checks are ok and failed, and the reasons of those that were not made."""
    from memeval.evaluation.verify.findings import CheckStatus

    statuses = Counter(check.status for check in checks)
    reasons = Counter(check.not_checked for check in checks if check.not_checked is not None)
    return statuses[CheckStatus.OK], statuses[CheckStatus.FAILED], reasons


def _of(number: int, noun: str) -> str:
    if noun == "matrix" and number != 1:
        return f"{number:,} matrices"
    if noun.startswith("file of") and number != 1:
        return f"{number:,} files of published answers"
    return counted(number, noun)
