"""The ledger, ``results/ledger.jsonl``: append-only, each line with the digest of the previous one."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from memeval.archive.runs import RunFolder
from memeval.records.base import Digest, digest_bytes
from memeval.records.errors import BadInput
from memeval.records.ledger import AnswerTrust, GradeTrust, LedgerEntry, LedgerEvent, Runner
from memeval.records.run import Isolation, SystemKind
from memeval.storage import locked, unwritable


@dataclass(frozen=True)
class Trust:
    """The trust in a run's grades and answers, derived from the ledger and the files."""

    grades: GradeTrust
    answers: AnswerTrust


@dataclass(frozen=True)
class _Content:
    """The bytes of a ledger: complete lines, and an incomplete tail."""

    lines: tuple[bytes, ...] = ()
    """The complete lines, without their newlines."""
    tail: bytes = b""
    """The incomplete last line of an interrupted writer; usually empty."""
    joint: bytes = b""
    """The newline missing after the last complete line; usually empty."""

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Split the bytes of a ledger.

        A truncated JSON object is never valid JSON. A last line that parses therefore lacks only its newline.
        """
        *lines, tail = data.split(b"\n")
        try:
            json.loads(tail.decode())
        except (ValueError, RecursionError):
            return cls(tuple(lines), tail)
        return cls((*lines, tail), joint=b"\n")

    @property
    def data(self) -> bytes:
        """The complete lines, each with its newline."""
        return b"".join(line + b"\n" for line in self.lines)


class Ledger:
    """The ledger of a results folder.

    A writer that is interrupted can leave an incomplete last line. Readers ignore it, and the next append removes it.

    Args:
        results: the results folder; the ledger is ``ledger.jsonl`` in it, and may not exist yet.
    """

    def __init__(self, results: Path) -> None:
        self.path = results / "ledger.jsonl"

    def entries(self) -> list[LedgerEntry]:
        """Return all entries, oldest first.

        Raises:
            BadInput: a line is damaged, was changed, or was removed.
        """
        return self._parsed(self._content())

    def digest(self) -> Digest | None:
        """Return the digest of the complete lines; ``None`` if the ledger is empty.

        Raises:
            BadInput: the ledger cannot be read.
        """
        content = self._content()
        return digest_bytes(content.data) if content.lines else None

    def states(self) -> frozenset[Digest]:
        """Return the value of :meth:`digest` after each line: all past states.

        Raises:
            BadInput: the ledger cannot be read.
        """
        so_far = hashlib.sha256()
        found = set()
        for line in self._content().lines:
            so_far.update(line + b"\n")
            found.add("sha256:" + so_far.hexdigest())
        return frozenset(found)

    def incomplete(self) -> str | None:
        """Return a warning about an incomplete last line; ``None`` if the last line is complete.

        Raises:
            BadInput: the ledger cannot be read.
        """
        content = self._content()
        if not content.tail:
            return None
        return f"{self.path}:{len(content.lines) + 1}: the last line is incomplete ({len(content.tail)} bytes)."

    def earlier(
        self,
        deed: LedgerEvent,
        folder: RunFolder,
        *,
        by: str,
        reason: str,
        runner: Runner | None = None,
        other: RunFolder | None = None,
    ) -> LedgerEntry | None:
        """Return an equal entry that exists already; ``None`` if there is none.

        Acceptances are equal if they name the same runner; repetitions and replacements, if they name the same other
        run. Other entries are also compared by author and reason.

        Raises:
            BadInput: the ledger is damaged.
        """
        other_id = other.run.run_id if other else None
        for entry in self.entries():
            if (entry.deed, entry.run_id, entry.run_digest) != (deed, folder.run.run_id, folder.digest):
                continue
            if deed is LedgerEvent.ACCEPTED:
                same = entry.runner is runner
            elif deed in (LedgerEvent.REPEATED, LedgerEvent.SUPERSEDED):
                same = entry.other_run_id == other_id
            else:
                same = (entry.by, entry.reason) == (by, reason)
            if same:
                return entry
        return None

    def append(
        self,
        deed: LedgerEvent,
        folder: RunFolder,
        *,
        by: str,
        reason: str,
        runner: Runner | None = None,
        other: RunFolder | None = None,
    ) -> LedgerEntry:
        """Append an entry about a run, flushed to disk before returning; an incomplete last line is removed first.

        Args:
            deed: what happened.
            folder: the run it happened to.
            by: author of the entry.
            reason: the reason, or the method.
            runner: for ``accepted``, who made the answers.
            other: for ``repeated`` and ``superseded``, the other run.

        Raises:
            BadInput: the ledger is damaged or cannot be written, or no reason was given.
        """
        if not reason.strip():
            raise BadInput("a ledger entry needs a reason.", remedy="Add --reason TEXT.")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with locked(self.path.parent):
                content = self._content()
                self._parsed(content)
                entry = LedgerEntry(
                    deed=deed,
                    run_id=folder.run.run_id,
                    run_digest=folder.digest,
                    at=datetime.now(UTC).isoformat(timespec="seconds"),
                    by=by,
                    reason=reason,
                    runner=runner,
                    other_run_id=other.run.run_id if other else None,
                    previous=digest_bytes(content.lines[-1]) if content.lines else None,
                )
                with self.path.open("ab") as stream:
                    stream.truncate(stream.tell() - len(content.tail))
                    stream.write(content.joint + (entry.to_json() + "\n").encode())
                    stream.flush()
                    os.fsync(stream.fileno())
        except OSError as error:
            raise unwritable(self.path, error) from None
        return entry

    def _content(self) -> _Content:
        try:
            return _Content.of(self.path.read_bytes())
        except FileNotFoundError:
            return _Content()
        except OSError as error:
            raise BadInput(
                f"the file cannot be read ({error.strerror}).", where=self.path, remedy="Check its permissions."
            ) from None

    def _parsed(self, content: _Content) -> list[LedgerEntry]:
        """Return the entries of complete lines.

        The chain covers the stored bytes, since an upgraded entry of an older memeval has other bytes than its line.
        """
        entries: list[LedgerEntry] = []
        previous: Digest | None = None
        for number, line in enumerate(content.lines, start=1):
            where = f"{self.path}:{number}"
            entry = LedgerEntry.parse(line, where)
            if entry.previous != previous:
                raise BadInput(
                    "the line does not follow from the one before it: a line was changed or removed.",
                    where=where,
                    remedy="Restore the ledger from version control.",
                )
            entries.append(entry)
            previous = digest_bytes(line)
        return entries


def trust_of(folder: RunFolder, entries: Iterable[LedgerEntry]) -> Trust:
    """Derive the trust in a run from its files and the ledger.

    An entry is valid only while ``run.json`` has the same bytes as at the time of the entry. A system that can reach
    files may copy earlier answers, so without a sandbox no run is ``repeated``.

    Args:
        folder: the run.
        entries: the ledger's entries.
    """
    mine = [entry for entry in entries if entry.run_id == folder.run.run_id and entry.run_digest == folder.digest]
    deeds = {entry.deed for entry in mine}
    grades = GradeTrust.RECOMPUTED if LedgerEvent.REPRODUCED in deeds else GradeTrust.CLAIMED
    if folder.run.system.kind is SystemKind.CONTROL:
        answers = AnswerTrust.CONTROL
    elif folder.run.system.kind is SystemKind.IMPORTED:
        answers = AnswerTrust.IMPORTED
    elif LedgerEvent.REPEATED in deeds and folder.run.isolation is Isolation.SANDBOXED:
        answers = AnswerTrust.REPEATED
    elif any(entry.deed is LedgerEvent.ACCEPTED and entry.runner is Runner.MAINTAINER for entry in mine):
        answers = AnswerTrust.MAINTAINER_RUN
    else:
        answers = AnswerTrust.SELF_RUN
    return Trust(grades=grades, answers=answers)
