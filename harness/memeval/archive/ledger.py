"""The ledger, ``results/ledger.jsonl``: append-only, each line with the digest of the previous one.

Two clones can both append lines. Merged, the file has two ends, and the next line follows both: its ``joins`` name the
other ends. No line is changed by that, so signatures stay valid. The order of lines follows from the lines alone: first
all that a line follows, the ends of clones in order of their digests, then the line. So merging either way gives one
ledger with one digest.
"""

from __future__ import annotations

import getpass
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack

from memeval.archive.runs import RunFolder
from memeval.archive.signatures import LEDGER_NAMESPACE, SignatureResult, SignatureState, Signers, sign, signed_bytes
from memeval.records.base import Digest, digest_bytes
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEntry, LedgerEvent, Runner, Sample
from memeval.storage import append_lines, locked, readable, writable, write_whole


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


class _History:
    """What each line follows, by digest of the line.

    ``lines``: the lines in an order in which each stands after all that it follows.
    """

    def __init__(self, lines: Iterable[tuple[bytes, LedgerEntry]] = ()) -> None:
        self._ends: dict[Digest, None] = {}
        self._before: dict[Digest, tuple[list[bytes], int]] = {}
        """All that a line follows and the line itself, as the start of a list that lines share."""
        self._states: dict[Digest, tuple[list[bytes], int]] = {}
        """The same by digest of the bytes, as each clone had them."""
        self._hashes: dict[Digest, Any] = {}
        for line, entry in lines:
            self.add(line, entry)

    @property
    def ends(self) -> list[Digest]:
        return sorted(self._ends)

    def problem(self, line: bytes, entry: LedgerEntry) -> str | None:
        """Return why a line cannot come next, as a sentence; ``None`` if it can."""
        if digest_bytes(line) in self._before:
            return "the line does not follow from the one before it: it is there already."
        follows = _follows(entry)
        if (not follows and self._before) or any(each not in self._before for each in follows):
            return "the line does not follow from the one before it: a line was changed or removed."
        if len({*follows}) < len(follows) or (entry.joins and self._is_within(follows)):
            return "the line joins a line that is not the last of a clone."
        return None

    def _is_within(self, follows: Sequence[Digest]) -> bool:
        """Whether one of several lines is among those that another of them follows."""
        before = [self._before[each] for each in follows]
        within = [set(lines[: count - 1]) for lines, count in before]
        return any(lines[count - 1] in known for lines, count in before for known in within)

    def add(self, line: bytes, entry: LedgerEntry) -> None:
        follows = _follows(entry)
        lines, count, so_far = self._joined(follows)
        if len(follows) > 1:
            self._states["sha256:" + so_far.hexdigest()] = lines, count
        if len(lines) > count:  # a line of another clone stands there
            lines = lines[:count]
        lines.append(line)
        so_far.update(line + b"\n")
        digest = digest_bytes(line)
        self._before[digest], self._hashes[digest] = (lines, count + 1), so_far
        self._states["sha256:" + so_far.hexdigest()] = lines, count + 1
        for each in follows:
            self._ends.pop(each, None)
        self._ends[digest] = None

    def states(self) -> dict[Digest, tuple[list[bytes], int]]:
        """Return the lines and their number, by digest of the bytes, after each line and after a merge."""
        if len(self._ends) < 2:
            return self._states
        lines, count, so_far = self._joined(self.ends)
        return {**self._states, "sha256:" + so_far.hexdigest(): (lines, count)}

    def lines(self) -> list[bytes]:
        lines, count, _so_far = self._joined(self.ends)
        return lines[:count]

    def _joined(self, follows: Iterable[Digest]) -> tuple[list[bytes], int, Any]:
        """Return the lines up to some ends, how many of a list they are, and the hash of their bytes."""
        ends = sorted(follows)
        if not ends:
            return [], 0, hashlib.sha256()
        first, *others = ends
        (lines, count), so_far = self._before[first], self._hashes[first].copy()
        if others:
            lines = lines[:count]
        known = set(lines) if others else set()
        for each in others:
            more, number = self._before[each]
            new = [line for line in more[:number] if line not in known]
            lines += new
            known.update(new)
            for line in new:
                so_far.update(line + b"\n")
        return lines, len(lines) if others else count, so_far


def _follows(entry: LedgerEntry) -> tuple[Digest, ...]:
    return (*(() if entry.previous is None else (entry.previous,)), *entry.joins)


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


class Ledger:
    """The ledger of a results folder.

    A writer that is interrupted can leave an incomplete last line. Readers ignore it, and the next append removes it.

    ``results``: the results folder; the ledger is ``ledger.jsonl`` in it, and may not exist yet. ``key``: file of an
    SSH key that signs new entries; ``None`` to append without signatures.
    """

    def __init__(self, results: Path, key: Path | None = None) -> None:
        self.path = results / "ledger.jsonl"
        self.key = key
        self._until: list[bytes] | None = None

    def entries(self) -> list[LedgerEntry]:
        """Return all entries, oldest first. Raises BadInput: a line is damaged, was changed, or was removed."""
        found = self._parsed(self._content())
        return [found[line] for line in _History(found.items()).lines()]

    def digest(self) -> Digest | None:
        """Return the digest of the lines in their order; ``None`` if the ledger is empty."""
        lines = _History(self._parsed(self._content()).items()).lines()
        return digest_bytes(b"".join(line + b"\n" for line in lines)) if lines else None

    def states(self) -> frozenset[Digest]:
        """Return each value that :meth:`digest` had: after each line, as the clone had it that wrote it, and now."""
        return frozenset(_History(self._parsed(self._content()).items()).states())

    def incomplete(self) -> str | None:
        """Return a warning about an incomplete last line; ``None`` if the last line is complete.

        Raises BadInput: the ledger cannot be read.
        """
        content = self._content()
        where = f"{self.path}:{len(content.lines) + 1}"
        return f"{where}: the last line is incomplete ({len(content.tail)} bytes)." if content.tail else None

    def earlier(
        self, event: LedgerEvent, folder: RunFolder | None, *, by: str, reason: str, **details: Unpack[Details]
    ) -> LedgerEntry | None:
        """Return an equal entry that exists already; ``None`` if absent.

        Acceptances are equal if they name the same runner; repetitions and replacements, if they name the same other
        run; releases, if they name the same file. Other entries are also compared by author and reason.

        Raises BadInput: the ledger is damaged.
        """
        equal_by = ("event", "run_id", "run_digest", *_EQUAL_BY.get(event, ("by", "reason", "sample")))
        parts = attrgetter(*equal_by)
        wanted = parts(_draft(event, folder, by, reason, details))
        return next((entry for entry in self.entries() if parts(entry) == wanted), None)

    def append(
        self, event: LedgerEvent, folder: RunFolder | None, *, by: str, reason: str, **details: Unpack[Details]
    ) -> LedgerEntry:
        """Append an entry, flushed to disk before returning; an incomplete last line is removed first.

        ``folder``: the run it happened to; ``None`` for ``released`` and ``started``. ``details``: fields of some
        events; see :class:`Details`. Raises BadInput: the ledger is damaged or cannot be written, no reason was given,
        the fields do not fit the event, or the key cannot sign: a signed entry is never earlier than those before it.
        """
        if not reason.strip():
            raise BadInput("a ledger entry needs a reason.", remedy="Add --reason TEXT.")
        draft = _draft(event, folder, by, reason, details)
        if (problem := _misfit(draft)) is not None:
            raise BadInput(problem, where=self.path)
        with writable(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with locked(self.path.parent):
                content = self._content()
                entries = self._parsed(content)
                history = _History(entries.items())
                if content.lines and event is LedgerEvent.STARTED:
                    raise BadInput("the ledger has lines already, so it cannot start here.", where=self.path)
                ends = history.ends
                follows = {"previous": ends[-1] if ends else None, "joins": tuple(ends[:-1])}
                entry = draft.model_copy(update={"at": _now(), **follows})
                if self.key is not None:
                    self._refuse_early(entry, entries.values())
                    signature = sign(signed_bytes(entry.data()), self.key, LEDGER_NAMESPACE)
                    entry = entry.model_copy(update={"signature": signature})
                with self.path.open("ab", buffering=0) as stream:
                    stream.truncate(stream.tell() - len(content.tail))
                    append_lines(stream, content.joint + (entry.to_json() + "\n").encode())
        return entry

    def _refuse_early(self, entry: LedgerEntry, earlier: Iterable[LedgerEntry]) -> None:
        latest = max((each.at for each in earlier), default="")
        if entry.at < latest:
            raise BadInput(
                f"this machine's clock ({entry.at}) is behind the time of an earlier line ({latest}), so a signature "
                "would not be valid.",
                where=self.path,
                remedy="Set the clock, and run the same command again.",
            )

    def signatures(self, signers: Signers) -> list[SignatureResult]:
        """Return the state of each entry's signature.

        Raises BadInput: the ledger is damaged, or the signers file is not valid.
        """
        content = self._content()
        entries = self._parsed(content)
        if any(entry.signature is not None for entry in entries.values()):
            signers.refuse_syntax_errors()
        results: dict[bytes, SignatureResult] = {}
        latest: dict[Digest, str] = {}
        for line, entry in entries.items():
            result = signers.check(signed_bytes(json.loads(line)), entry.signature, LEDGER_NAMESPACE, entry.at)
            before = max((latest[each] for each in _follows(entry)), default="")
            if result.state is SignatureState.GOOD and entry.at < before:
                result = SignatureResult(SignatureState.BAD, "its time is before that of an earlier line")
            results[line] = result
            latest[digest_bytes(line)] = max(before, entry.at)
        return [results[line] for line in _History(entries.items()).lines()]

    def merge(self, other: Ledger) -> int:
        """Add the lines of another clone's ledger that this one lacks, and return their number. No line is changed.

        Raises BadInput: one of them is damaged, they have no line in common, or the other one has a line of this one
        with another content.
        """
        with writable(self.path), locked(self.path.parent):
            content = self._content()
            ours, theirs = self._parsed(content), other._parsed(other._content())
            if ours and theirs and not ours.keys() & theirs.keys():
                raise BadInput(
                    "has no line in common with the ledger here.",
                    where=other.path,
                    remedy="Name the ledger of a clone of this board.",
                )
            known = {_event(entry) for entry in ours.values()}
            for number, (line, entry) in enumerate(theirs.items(), start=1):
                if line not in ours and _event(entry) in known:
                    raise BadInput(
                        "is a line of the ledger here with another content.",
                        where=f"{other.path}:{number}",
                        remedy="Restore the other ledger from version control.",
                    )
            merged = _History((ours | theirs).items()).lines()
            if len(merged) > len(ours):
                write_whole(self.path, b"".join(line + b"\n" for line in merged))
        return len(merged) - len(ours)

    def until(self, digest: Digest | None) -> Ledger:
        """Return the ledger as it was when its digest was ``digest``. It is read-only.

        Raises BadInput: the ledger never had this digest.
        """
        earlier = Ledger(self.path.parent)
        earlier._until = []
        if digest is not None:
            states = _History(self._parsed(self._content()).items()).states()
            if digest not in states:
                raise BadInput(
                    "lines were changed or removed.", where=self.path, remedy="Restore the ledger from version control."
                )
            lines, count = states[digest]
            earlier._until = lines[:count]
        return earlier

    def _content(self) -> _Content:
        if self._until is not None:
            return _Content(tuple(self._until))
        with readable(self.path, "Check its permissions."), suppress(FileNotFoundError):
            return _Content.of(self.path.read_bytes())
        return _Content()

    def _parsed(self, content: _Content) -> dict[bytes, LedgerEntry]:
        """Return the complete lines with their entries, in the order of the file. The chain covers the stored bytes."""
        entries: dict[bytes, LedgerEntry] = {}
        history = _History()
        for number, line in enumerate(content.lines, start=1):
            where = f"{self.path}:{number}"
            entry = LedgerEntry.parse(line, where)
            problem = _misfit(entry) or history.problem(line, entry)
            if entry.event is LedgerEvent.STARTED and entries:
                problem = "an entry 'started' is not the first line."
            if problem is not None:
                raise BadInput(problem, where=where, remedy="Restore the ledger from version control.")
            history.add(line, entry)
            entries[line] = entry
        return entries


def author_of(by: str | None) -> str:
    """Return the author of new entries: ``by``, else the login name. Raises BadInput: there is no login name."""
    try:
        return by or getpass.getuser()
    except (KeyError, OSError):  # such as in a container whose user has no name
        raise BadInput("this user has no login name.", remedy="Name the author with --by.") from None


def _event(entry: LedgerEntry) -> tuple[str | None, ...]:
    """Return what two lines about one decision share, whatever else was changed."""
    return entry.event.value, entry.run_id, entry.at, entry.by, entry.release_version


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
