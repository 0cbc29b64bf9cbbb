"""The ledger, ``results/ledger.jsonl``: append-only, each line with the digest of the previous one."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self, TypedDict, Unpack

from memeval.archive.runs import RunFolder
from memeval.archive.signatures import (
    LEDGER_NAMESPACE,
    SignatureResult,
    SignatureState,
    Signers,
    sign,
    signed_bytes,
)
from memeval.records.base import Digest, digest_bytes
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEntry, LedgerEvent, Runner, Sample
from memeval.storage import locked, unwritable


@dataclass(frozen=True)
class _Content:
    lines: tuple[bytes, ...] = ()
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
        return b"".join(line + b"\n" for line in self.lines)


class Details(TypedDict, total=False):
    runner: Runner | None
    other: RunFolder | None
    sample: Sample
    release_version: str
    release_digest: Digest


_EQUAL_BY: Mapping[LedgerEvent, tuple[str, ...]] = {
    LedgerEvent.ACCEPTED: ("runner",),
    LedgerEvent.REPEATED: ("other_run_id",),
    LedgerEvent.SUPERSEDED: ("other_run_id",),
    LedgerEvent.RELEASED: ("release_version", "release_digest"),
}
"""The fields that make two entries about one run equal, by event."""


class Ledger:
    """The ledger of a results folder.

    A writer that is interrupted can leave an incomplete last line. Readers ignore it, and the next append removes it.

    Args:
        results: the results folder; the ledger is ``ledger.jsonl`` in it, and may not exist yet.
        key: file of an SSH key that signs new entries; ``None`` to append without signatures.
    """

    def __init__(self, results: Path, key: Path | None = None) -> None:
        self.path = results / "ledger.jsonl"
        self.key = key
        self._until: int | None = None

    def entries(self) -> list[LedgerEntry]:
        return self._parsed(self._content())

    def digest(self) -> Digest | None:
        """Return the digest of the complete lines; ``None`` if the ledger is empty.

        Raises BadInput: the ledger cannot be read.
        """
        content = self._content()
        return digest_bytes(content.data) if content.lines else None

    def states(self) -> frozenset[Digest]:
        """Return the value of :meth:`digest` after each line: all past states.

        Raises BadInput: the ledger cannot be read.
        """
        so_far = hashlib.sha256()
        found = set()
        for line in self._content().lines:
            so_far.update(line + b"\n")
            found.add("sha256:" + so_far.hexdigest())
        return frozenset(found)

    def incomplete(self) -> str | None:
        """Return a warning about an incomplete last line; ``None`` if the last line is complete.

        Raises BadInput: the ledger cannot be read.
        """
        content = self._content()
        if not content.tail:
            return None
        return f"{self.path}:{len(content.lines) + 1}: the last line is incomplete ({len(content.tail)} bytes)."

    def earlier(
        self, event: LedgerEvent, folder: RunFolder | None, *, by: str, reason: str, **details: Unpack[Details]
    ) -> LedgerEntry | None:
        """Return an equal entry that exists already; ``None`` if there is none.

        Acceptances are equal if they name the same runner; repetitions and replacements, if they name the same other
        run; releases, if they name the same file. Other entries are also compared by author and reason.

        Raises BadInput: the ledger is damaged.
        """
        wanted = _draft(event, folder, by, reason, details)
        names = ("event", "run_id", "run_digest", *_EQUAL_BY.get(event, ("by", "reason", "sample")))
        for entry in self.entries():
            if all(getattr(entry, name) == getattr(wanted, name) for name in names):
                return entry
        return None

    def append(
        self, event: LedgerEvent, folder: RunFolder | None, *, by: str, reason: str, **details: Unpack[Details]
    ) -> LedgerEntry:
        """Append an entry, flushed to disk before returning; an incomplete last line is removed first.

        Args:
            folder: the run it happened to; ``None`` for ``released`` and ``started``.
            details: fields of some events; see :class:`Details`.

        Raises:
            BadInput: the ledger is damaged or cannot be written, no reason was given, the fields do not fit the event,
                or the key cannot sign.
        """
        if not reason.strip():
            raise BadInput("a ledger entry needs a reason.", remedy="Add --reason TEXT.")
        draft = _draft(event, folder, by, reason, details)
        if (problem := _misfit(draft)) is not None:
            raise BadInput(problem, where=self.path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with locked(self.path.parent):
                content = self._content()
                if self._parsed(content) and event is LedgerEvent.STARTED:
                    raise BadInput("the ledger has lines already, so it cannot start here.", where=self.path)
                previous = digest_bytes(content.lines[-1]) if content.lines else None
                entry = draft.model_copy(update={"at": _now(), "previous": previous})
                if self.key is not None:
                    signature = sign(signed_bytes(entry.data()), self.key, LEDGER_NAMESPACE)
                    entry = entry.model_copy(update={"signature": signature})
                with self.path.open("ab") as stream:
                    stream.truncate(stream.tell() - len(content.tail))
                    stream.write(content.joint + (entry.to_json() + "\n").encode())
                    stream.flush()
                    os.fsync(stream.fileno())
        except OSError as error:
            raise unwritable(self.path, error) from None
        return entry

    def signatures(self, signers: Signers) -> list[SignatureResult]:
        """Return the state of each entry's signature.

        Raises BadInput: the ledger is damaged, or the signers file is not valid.
        """
        content = self._content()
        entries = self._parsed(content)
        if any(entry.signature is not None for entry in entries):
            signers.refuse_syntax_errors()
        results, latest = [], ""
        for line, entry in zip(content.lines, entries, strict=True):
            result = signers.check(signed_bytes(json.loads(line)), entry.signature, LEDGER_NAMESPACE, entry.at)
            if result.state is SignatureState.GOOD and entry.at < latest:
                result = SignatureResult(SignatureState.BAD, "its time is before that of an earlier line")
            results.append(result)
            latest = max(latest, entry.at)
        return results

    def until(self, digest: Digest | None) -> Ledger:
        """Return the ledger as it was when its digest was ``digest``. It is read-only.

        Raises BadInput: the ledger never had this digest.
        """
        so_far, count = hashlib.sha256(), 0
        earlier = Ledger(self.path.parent)
        lines = self._content().lines
        while digest is not None and "sha256:" + so_far.hexdigest() != digest:
            if count == len(lines):
                raise BadInput(
                    "lines were changed or removed.", where=self.path, remedy="Restore the ledger from version control."
                )
            so_far.update(lines[count] + b"\n")
            count += 1
        earlier._until = count
        return earlier

    def _content(self) -> _Content:
        try:
            content = _Content.of(self.path.read_bytes())
            return content if self._until is None else _Content(content.lines[: self._until])
        except FileNotFoundError:
            return _Content()
        except OSError as error:
            raise BadInput(
                f"the file cannot be read ({error.strerror}).", where=self.path, remedy="Check its permissions."
            ) from None

    def _parsed(self, content: _Content) -> list[LedgerEntry]:
        """Return the entries of complete lines. The chain covers the stored bytes."""
        entries: list[LedgerEntry] = []
        previous: Digest | None = None
        for number, line in enumerate(content.lines, start=1):
            where = f"{self.path}:{number}"
            entry = LedgerEntry.parse(line, where)
            if entry.event is LedgerEvent.STARTED and entries:
                problem: str | None = "an entry 'started' is not the first line."
            else:
                problem = _misfit(entry)
            if problem is not None:
                raise BadInput(problem, where=where, remedy="Restore the ledger from version control.")
            if entry.previous != previous:
                raise BadInput(
                    "the line does not follow from the one before it: a line was changed or removed.",
                    where=where,
                    remedy="Restore the ledger from version control.",
                )
            entries.append(entry)
            previous = digest_bytes(line)
        return entries


def _draft(event: LedgerEvent, folder: RunFolder | None, by: str, reason: str, details: Details) -> LedgerEntry:
    other = details.get("other")
    return LedgerEntry(
        event=event,
        run_id=folder.run.run_id if folder else None,
        run_digest=folder.digest if folder else None,
        at=_now(),
        by=by,
        reason=reason,
        runner=details.get("runner"),
        other_run_id=other.run.run_id if other else None,
        sample=details.get("sample"),
        release_version=details.get("release_version"),
        release_digest=details.get("release_digest"),
        previous=None,
    )


def _misfit(entry: LedgerEntry) -> str | None:
    """Return the problem of an entry whose fields do not fit its event; ``None`` if they fit."""
    released = entry.event is LedgerEvent.RELEASED
    of_run = entry.event not in (LedgerEvent.RELEASED, LedgerEvent.STARTED)
    if any((value is None) is of_run for value in (entry.run_id, entry.run_digest)):
        return f"an entry '{entry.event}' {'needs run_id and run_digest' if of_run else 'names no run'}."
    if any((value is None) is released for value in (entry.release_version, entry.release_digest)):
        fields = "release_version and release_digest"
        return f"an entry '{entry.event}' {f'needs {fields}' if released else f'has no {fields}'}."
    sampled = entry.event in (LedgerEvent.RE_ASKED, LedgerEvent.RERUN)
    if (entry.sample is None) is sampled:
        return f"an entry '{entry.event}' {'needs' if sampled else 'has no'} 'sample'."
    if entry.sample is not None and entry.sample.agreed + len(entry.sample.differing) != entry.sample.asked:
        return "the items of 'sample' that agreed and that differ are not the items asked."
    return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
