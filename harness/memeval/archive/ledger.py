"""The ledger, ``results/ledger.jsonl``: append-only, each line chained to the one before. Trust follows from it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock

from memeval.archive.rows import read_rows
from memeval.archive.runs import RunFolder
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.ledger import AnswerTrust, Deed, GradeTrust, LedgerEntry, Runner
from memeval.records.run import SystemKind


@dataclass(frozen=True)
class Trust:
    """How far a run can be trusted, on both axes. Derived, never typed in."""

    grades: GradeTrust
    answers: AnswerTrust


class Ledger:
    """The ledger of a results folder.

    Args:
        results: the results folder; the ledger is ``ledger.jsonl`` in it, and may not exist yet.
    """

    def __init__(self, results: Path) -> None:
        self.path = results / "ledger.jsonl"

    def entries(self) -> list[LedgerEntry]:
        """Return all entries, oldest first.

        Raises:
            BadInput: a line is damaged, was changed, or was taken out.
        """
        if not self.path.exists():
            return []
        entries = list(read_rows(self.path, LedgerEntry))
        previous = None
        for number, entry in enumerate(entries, start=1):
            if entry.previous != previous:
                raise BadInput(
                    "the line does not follow from the one before it: a line was changed or taken out.",
                    where=f"{self.path}:{number}",
                    remedy="Restore the ledger from version control.",
                )
            previous = digest_bytes(entry.to_json().encode())
        return entries

    def append(
        self,
        deed: Deed,
        folder: RunFolder,
        *,
        by: str,
        reason: str,
        runner: Runner | None = None,
        other: RunFolder | None = None,
    ) -> LedgerEntry:
        """Append an entry about a run, flushed to disk before returning.

        Args:
            deed: what happened.
            folder: the run it happened to.
            by: who says so.
            reason: why, or how.
            runner: for ``accepted``, who made the answers.
            other: for ``repeated`` and ``superseded``, the other run.

        Raises:
            BadInput: the ledger is damaged, or no reason was given.
        """
        if not reason.strip():
            raise BadInput("the ledger takes no entry without a reason.", remedy="Say why with --reason.")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self.path.with_suffix(".lock")):
            entries = self.entries()
            entry = LedgerEntry(
                deed=deed,
                run_id=folder.run.run_id,
                run_digest=folder.digest,
                at=datetime.now(UTC).isoformat(timespec="seconds"),
                by=by,
                reason=reason,
                runner=runner,
                other_run_id=other.run.run_id if other else None,
                previous=digest_bytes(entries[-1].to_json().encode()) if entries else None,
            )
            with self.path.open("ab") as stream:
                stream.write((entry.to_json() + "\n").encode())
                stream.flush()
                os.fsync(stream.fileno())
        return entry


def trust_of(folder: RunFolder, entries: Iterable[LedgerEntry]) -> Trust:
    """Derive how far a run can be trusted from its files and what the ledger says of them.

    An entry speaks for a run only while ``run.json`` has the bytes it had when the entry was made.

    Args:
        folder: the run.
        entries: the ledger's entries.
    """
    mine = [entry for entry in entries if entry.run_id == folder.run.run_id and entry.run_digest == folder.digest]
    deeds = {entry.deed for entry in mine}
    grades = GradeTrust.RECOMPUTED if Deed.REPRODUCED in deeds else GradeTrust.CLAIMED
    if folder.run.system.kind is SystemKind.CONTROL:
        answers = AnswerTrust.CONTROL
    elif Deed.REPEATED in deeds:
        answers = AnswerTrust.REPEATED
    elif any(entry.deed is Deed.ACCEPTED and entry.runner is Runner.MAINTAINER for entry in mine):
        answers = AnswerTrust.MAINTAINER_RUN
    else:
        answers = AnswerTrust.SELF_RUN
    return Trust(grades=grades, answers=answers)
