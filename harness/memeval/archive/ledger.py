"""The ledger, ``results/ledger.jsonl``: append-only, each line chained to the one before. Trust follows from it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memeval.archive.rows import read_lines
from memeval.archive.runs import RunFolder
from memeval.records.base import Digest, digest_bytes
from memeval.records.errors import BadInput
from memeval.records.ledger import AnswerTrust, Deed, GradeTrust, LedgerEntry, Runner
from memeval.records.run import Isolation, SystemKind
from memeval.storage import locked, unwritable


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
        return self._read()[0]

    def states(self) -> frozenset[Digest]:
        """Return the digest of the ledger's bytes after each of its lines: all that it has ever been.

        Raises:
            BadInput: the ledger cannot be read.
        """
        so_far = hashlib.sha256()
        found = set()
        for _number, line in read_lines(self.path) if self.path.exists() else ():
            so_far.update(line)
            found.add("sha256:" + so_far.hexdigest())
        return frozenset(found)

    def _read(self) -> tuple[list[LedgerEntry], Digest | None]:
        """Return all entries, and the digest of the last line.

        The chain goes over the bytes of the lines: a line that an older memeval wrote is never written again, and the
        entry it is read as has other bytes.
        """
        entries: list[LedgerEntry] = []
        previous: Digest | None = None
        for number, line in read_lines(self.path) if self.path.exists() else ():
            where = f"{self.path}:{number}"
            entry = LedgerEntry.parse(line, where)
            if entry.previous != previous:
                raise BadInput(
                    "the line does not follow from the one before it: a line was changed or taken out.",
                    where=where,
                    remedy="Restore the ledger from version control.",
                )
            entries.append(entry)
            previous = digest_bytes(line.removesuffix(b"\n"))
        return entries, previous

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
            BadInput: the ledger is damaged or cannot be written, or no reason was given.
        """
        if not reason.strip():
            raise BadInput("the ledger takes no entry without a reason.", remedy="Say why with --reason.")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with locked(self.path.parent):
                entry = LedgerEntry(
                    deed=deed,
                    run_id=folder.run.run_id,
                    run_digest=folder.digest,
                    at=datetime.now(UTC).isoformat(timespec="seconds"),
                    by=by,
                    reason=reason,
                    runner=runner,
                    other_run_id=other.run.run_id if other else None,
                    previous=self._read()[1],
                )
                with self.path.open("ab") as stream:
                    stream.write((entry.to_json() + "\n").encode())
                    stream.flush()
                    os.fsync(stream.fileno())
        except OSError as error:
            raise unwritable(self.path, error) from None
        return entry


def trust_of(folder: RunFolder, entries: Iterable[LedgerEntry]) -> Trust:
    """Derive how far a run can be trusted from its files and what the ledger says of them.

    An entry speaks for a run only while ``run.json`` has the bytes it had when the entry was made. A system that could
    reach files may have found the same answers twice, so without a sandbox no run is ``repeated``.

    Args:
        folder: the run.
        entries: the ledger's entries.
    """
    mine = [entry for entry in entries if entry.run_id == folder.run.run_id and entry.run_digest == folder.digest]
    deeds = {entry.deed for entry in mine}
    grades = GradeTrust.RECOMPUTED if Deed.REPRODUCED in deeds else GradeTrust.CLAIMED
    if folder.run.system.kind is SystemKind.CONTROL:
        answers = AnswerTrust.CONTROL
    elif folder.run.system.kind is SystemKind.IMPORTED:
        answers = AnswerTrust.IMPORTED
    elif Deed.REPEATED in deeds and folder.run.isolation is Isolation.SANDBOXED:
        answers = AnswerTrust.REPEATED
    elif any(entry.deed is Deed.ACCEPTED and entry.runner is Runner.MAINTAINER for entry in mine):
        answers = AnswerTrust.MAINTAINER_RUN
    else:
        answers = AnswerTrust.SELF_RUN
    return Trust(grades=grades, answers=answers)
