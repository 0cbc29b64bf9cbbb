"""Verifies runs, grades them again, and records equal results in the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.records.errors import CheckFailed
from memeval.records.ledger import LedgerEvent

if TYPE_CHECKING:
    from memeval.evaluation.verify.checks.subject import Sessions


def verify_and_record(results: Path, folders: Sequence[RunFolder], by: str, sessions: Sessions | None = None) -> None:
    """Verify runs, grade them again, and record each equal result once in the ledger.

    Args:
        folders: the runs. Those that the ledger calls reproduced are not checked again.

    Raises:
        CheckFailed: a run failed verification or reproduction.
    """
    from memeval import api
    from memeval.evaluation.run.provenance import memeval_version
    from memeval.evaluation.verify.checks.subject import Sessions
    from memeval.evaluation.verify.verification import verify_run

    ledger, sessions = Ledger(results), sessions or Sessions()
    known = recorded(ledger, LedgerEvent.REPRODUCED)
    for folder in folders:
        if (folder.run.run_id, folder.digest) in known:
            continue
        findings = verify_run(folder, sessions) or list(api.reproduce(folder).findings)
        if findings:
            raise CheckFailed(str(findings[0]))
        reason = f"{folder.run.coverage.done} grades equal, by memeval {memeval_version()}"
        ledger.append(LedgerEvent.REPRODUCED, folder, by=by, reason=reason)


def recorded(ledger: Ledger, event: LedgerEvent) -> set[tuple[str | None, str | None]]:
    """Return id and digest of each run with an event in the ledger."""
    return {(entry.run_id, entry.run_digest) for entry in ledger.entries() if entry.event is event}
