"""Large data files: a JSON array of objects, read once as a stream, then opened element by element.

The first reading parses one element at a time, and digests the bytes in a second thread meanwhile. What it found (where
each element lies, what the benchmark keeps of it, the digest) is kept as an index in memeval's data folder, and serves
for as long as the file is the same one by size, times and inode. Where that folder cannot be written, nothing is kept,
and the file is read anew every time.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from pydantic_core import from_json

from memeval.benchmarks.data import data_folder
from memeval.records.base import Digest
from memeval.records.errors import BadInput
from memeval.storage import locked, write_whole

Head = Callable[[Any], dict[str, Any]]
"""Given an element, returns what is kept of it, as plain JSON data; may raise ``BadInput``."""

WINDOW_BYTES = 4 << 20
"""How much is read at a time; more where an element is larger. Each time the thread that digests may have to wait for
this one's parser, so there should not be many."""

WINDOWS_AHEAD = 3
"""How many windows may wait to be digested."""

LARGEST_ELEMENT_BYTES = 256 << 20
"""A larger element is refused: those of the largest known file have some 6 MB."""

MOST_ELEMENTS = 100_000
"""A file of more elements is refused."""

KEPT_FROM_BYTES = 1 << 20
"""Smaller files are read anew each time, which takes milliseconds."""

INDEX_VERSION = 1

_BLANK = re.compile(rb"[ \t\n\r]*")
_SEAM = re.compile(rb"\}\s*,\s*\{\s*\Z")
_LONGEST_SEAM = 64
_DECODE = json.JSONDecoder().raw_decode
_LONGEST_WORD = 16
"""A constant or an escape that is cut off begins at most so many characters before the cut."""

_Stamp = tuple[int, int, int, int]
"""Size, times of the last change of the bytes and of the inode, and inode: what tells a file from another."""


@dataclass(frozen=True)
class Indexed:
    """A JSON array of objects, indexed once, opened element by element."""

    path: Path
    """The file."""
    digest: Digest
    """Digest of its bytes."""
    heads: tuple[dict[str, Any], ...] = field(repr=False)
    """What was kept of each element, as plain JSON data."""
    _places: tuple[tuple[int, int], ...] = field(repr=False)
    """The first byte of each element, and how many it has."""
    _stamp: _Stamp = field(repr=False)

    def element(self, place: int) -> bytes:
        """Return the JSON text of an element; from any thread.

        Args:
            place: which, counted from 0.

        Raises:
            BadInput: the file is gone, or is not the one that was indexed.
        """
        start, size = self._places[place]
        try:
            with self.path.open("rb", buffering=0) as file:
                found = os.pread(file.fileno(), size, start)
                same = _stamp(file.fileno()) == self._stamp
        except OSError as error:
            raise BadInput(f"the file cannot be read ({error.strerror}).", where=self.path) from None
        if not same or len(found) != size:
            raise BadInput("the file was changed while it was in use.", where=self.path, remedy="Start again.")
        return found


def indexed(path: Path, head: Head, *, kind: str, remedy: str) -> Indexed:
    """Return a file's elements, from the index that is kept of it, or after one reading.

    Args:
        path: the file: a JSON array of objects.
        head: what is to be kept of each element; the same for the same ``kind``.
        kind: names ``head`` and its version. An index of another kind is another index.
        remedy: what to do about a bad file, as a sentence.

    Raises:
        BadInput: the file is missing, empty or cut off, is not a JSON array of objects in UTF-8, has an element over
            256 MB, or changed meanwhile; or ``head`` refused an element.
    """
    try:
        with path.open("rb", buffering=0) as file:
            before = _stamp(file.fileno())
            kept = _kept(path, kind) if before[0] >= KEPT_FROM_BYTES else None
            found = kept and _read_index(kept, path, kind, before)
            if found:
                return found
            made = _read(_IndexingPass(file.fileno(), path, remedy), head)
            if _stamp(file.fileno()) != before:
                raise BadInput("the file was changed while it was read.", where=path, remedy="Start again.")
    except FileNotFoundError:
        raise BadInput("there is no such file.", where=path, remedy=remedy) from None
    except OSError as error:
        raise BadInput(f"the file cannot be read ({error.strerror}).", where=path, remedy=remedy) from None
    digest, body = made
    if kept:
        _keep(kept, _header(path, kind, before, digest, body) + body)
    return _opened(path, before, digest, body)


class _IndexingPass:
    """One pass over a file: elements with their places, and the digest.

    Most elements end where a comma and an object with the same first key follow. That is only a guess, and parsing the
    bytes up to there shows whether it is right, for no JSON object begins with another. Where it is not, the end is
    found by parsing the window as if it were Latin-1, in which a character is a byte and structure, being ASCII, is
    what it is in UTF-8; that takes thrice as long.

    Args:
        handle: the open file.
        path: what it is called.
        remedy: what to do about a bad file.
    """

    def __init__(self, handle: int, path: Path, remedy: str) -> None:
        self._handle, self._path, self._remedy = handle, path, remedy
        self._window, self._at = b"", 0
        self._before = 0  # bytes of the file before the window
        self._ended = False
        self._number = 0
        self._expected = 0  # bytes of the next element, about
        self._first_key = b""  # of the element before, as it is written
        self._hash = hashlib.sha256()
        self._hashed: deque[Future[None]] = deque()

    @property
    def digest(self) -> Digest:
        """Digest of all bytes, once :meth:`elements` is exhausted."""
        return "sha256:" + self._hash.hexdigest()

    def elements(self) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """Yield the first byte and the size of each element, and the element."""
        with ThreadPoolExecutor(1) as self._hashing:
            first = self._next_sign()
            if not first:
                self._refuse("the file is empty.")
            if first != b"[":
                self._refuse("expected a JSON array of objects.")
            self._at += 1
            while (sign := self._sign_of_element()) == b"{":
                yield self._element()
            if sign != b"]":
                self._refuse(f"element {self._number + 1} is no object.")
            self._at += 1
            if self._next_sign():
                self._refuse(f"there is more after the end of the array, at byte {self._before + self._at + 1:,}.")

    def _sign_of_element(self) -> bytes:
        """Go to the next element, or to the end of the array, and return the sign there."""
        sign = self._next_sign()
        if self._number and sign == b",":
            self._at += 1
            sign = self._next_sign()
            if sign == b"]":
                self._refuse(f"there is a comma but no element after element {self._number}.")
        elif self._number and sign not in (b"]", b""):
            self._refuse(f"expected a comma or the end of the array after element {self._number}.")
        if not sign:
            self._refuse(f"the file is cut off: it ends after {self._here:,} bytes and {self._number:,} elements.")
        return sign

    def _element(self) -> tuple[int, int, dict[str, Any]]:
        self._number += 1
        if self._number > MOST_ELEMENTS:
            self._refuse(f"the file has more than {MOST_ELEMENTS:,} elements.")
        while (found := self._whole()) is None:
            if self._ended:
                self._refuse(f"the file is cut off: it ends after {self._here:,} bytes, within element {self._number}.")
            if len(self._window) - self._at > LARGEST_ELEMENT_BYTES:
                self._refuse(f"element {self._number} has more than {LARGEST_ELEMENT_BYTES:,} bytes.")
            self._more()
        value, end = found
        start, size = self._before + self._at, end - self._at
        self._at, self._expected = end, size + size // 4
        self._first_key = json.dumps(next(iter(value), ""), ensure_ascii=False).encode()
        return start, size, value

    def _whole(self) -> tuple[dict[str, Any], int] | None:
        """Return the element, and where in the window it ends; ``None`` where the window may end before it."""
        if len(self._window) - self._at < self._expected and not self._ended:
            return None  # an attempt that fails costs as much as one that succeeds
        end = self._guessed_end()
        if end is not None:
            try:
                return from_json(self._window[self._at : end], allow_inf_nan=False), end
            except ValueError:
                pass
        size = self._size()
        return None if size is None else (self._parsed(self._window[self._at : self._at + size]), self._at + size)

    def _guessed_end(self) -> int | None:
        """Return where the element ends if it is not much smaller than the last, and the next has its first key."""
        own = self._window.find(self._first_key, self._at)
        near = max(own + 1, self._at + self._expected * 3 // 5)
        following = -1 if own < 0 else self._window.find(self._first_key, near)
        if following < 0:
            return None
        nearby = max(self._at, following - _LONGEST_SEAM)
        seam = _SEAM.search(self._window[nearby:following])
        return seam and nearby + seam.start() + 1

    def _size(self) -> int | None:
        """Return how many bytes the element has; ``None`` where the window may end before it."""
        text = self._window[self._at :].decode("latin-1")
        try:
            return _DECODE(text)[1]
        except json.JSONDecodeError as error:
            if not _may_be_cut(error, len(text)):
                self._refuse(f"element {self._number} is not valid JSON ({error.msg}).")
        except RecursionError:
            self._refuse(f"element {self._number} is nested too deeply.")
        except ValueError as error:
            self._refuse(f"element {self._number} is not valid JSON ({error}).")
        return None

    def _parsed(self, element: bytes) -> dict[str, Any]:
        try:
            return from_json(element, allow_inf_nan=False)  # type: ignore[no-any-return]
        except ValueError as error:
            problem = f"is not valid JSON ({error})"
        try:
            element.decode()
        except UnicodeDecodeError as error:
            problem = f"is not UTF-8, at byte {self._before + self._at + error.start + 1:,} of the file"
        self._refuse(f"element {self._number} {problem}.")

    def _next_sign(self) -> bytes:
        """Pass blanks, and return the byte that follows; nothing at the end of the file."""
        while True:
            blank = _BLANK.match(self._window, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._window) or self._ended:
                return self._window[self._at : self._at + 1]
            self._more()

    @property
    def _here(self) -> int:
        """Bytes of the file that were read."""
        return self._before + len(self._window)

    def _more(self) -> None:
        """Read a window on; at least as much as is still in work, so that the time stays linear."""
        rest = self._window[self._at :]
        self._before += self._at
        chunk = os.read(self._handle, max(WINDOW_BYTES, len(rest), self._expected))
        self._ended = not chunk
        if len(self._hashed) >= WINDOWS_AHEAD:
            self._hashed.popleft().result()
        self._hashed.append(self._hashing.submit(self._hash.update, chunk))
        self._window, self._at = rest + chunk, 0

    def _refuse(self, problem: str) -> NoReturn:
        raise BadInput(problem, where=self._path, remedy=self._remedy)


def _may_be_cut(error: json.JSONDecodeError, length: int) -> bool:
    """Return whether a text that cannot be parsed may only lack its end."""
    return error.msg.startswith("Unterminated string") or error.pos >= length - _LONGEST_WORD


def _read(reading: _IndexingPass, head: Head) -> tuple[Digest, bytes]:
    """Return a file's digest, and its elements as the body of an index."""
    rows = []
    for start, size, value in reading.elements():
        rows.append(json.dumps([start, size, head(value)], separators=(",", ":")).encode())
    return reading.digest, b"[" + b",\n".join(rows) + b"]\n"


def _stamp(handle: int) -> _Stamp:
    found = os.fstat(handle)
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _kept(path: Path, kind: str) -> Path:
    """Return where the index of a file is kept: one a file and kind, so that a changed file's replaces the old one."""
    name = hashlib.sha256(f"{kind}\0{path.resolve()}".encode()).hexdigest()[:32]
    return data_folder() / "indexes" / f"{name}.jsonl"


def _header(path: Path, kind: str, stamp: _Stamp, digest: Digest, body: bytes) -> bytes:
    """Return an index's first line: what it is of, and the digest of what follows."""
    header = {
        "schema_version": INDEX_VERSION,
        "kind": kind,
        "path": str(path.resolve()),
        "stamp": stamp,
        "digest": digest,
        "body": hashlib.sha256(body).hexdigest(),
    }
    return json.dumps(header).encode() + b"\n"


def _read_index(kept: Path, path: Path, kind: str, stamp: _Stamp) -> Indexed | None:
    """Return what an index says; ``None`` where there is none, or it is of another state of the file, or is damaged."""
    try:
        line, _, body = kept.read_bytes().partition(b"\n")
        digest = json.loads(line)["digest"]
        if line + b"\n" != _header(path, kind, stamp, digest, body):
            return None
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return _opened(path, stamp, digest, body)


def _opened(path: Path, stamp: _Stamp, digest: Digest, body: bytes) -> Indexed:
    rows = json.loads(body)
    return Indexed(
        path=path,
        digest=digest,
        heads=tuple(row[2] for row in rows),
        _places=tuple((row[0], row[1]) for row in rows),
        _stamp=stamp,
    )


def _keep(kept: Path, index: bytes) -> None:
    """Write an index, whole or not at all; where that cannot be done, there is none."""
    with suppress(OSError, BadInput):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with locked(kept.parent):
            try:
                write_whole(kept, index)
            except BadInput:  # no room: a part of it helps nobody
                kept.with_name(kept.name + ".part").unlink(missing_ok=True)
