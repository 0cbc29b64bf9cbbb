"""Large data files: a JSON array of objects, read once as a stream, then loaded element by element.

The first pass parses one element at a time while a second thread computes the digest. The result is stored as an index
in the data folder: the position and a summary of each element, and the digest of the file. The index is valid while
size, times and inode of the file stay the same. If the data folder is not writable, the file is read again every time.
"""

import hashlib
import json
import os
import re
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from pydantic_core import from_json

from memeval.records.base import Digest
from memeval.records.errors import BadInput
from memeval.storage import cache_home, locked, write_whole

Head = Callable[[Any], dict[str, Any]]
"""Returns the summary of an element, as plain JSON data; may raise ``BadInput``."""

WINDOW_BYTES = 4 << 20
"""Bytes per read; more for a larger element. Large, because the digest thread may wait for the parser after each."""

WINDOWS_AHEAD = 3
"""Maximum number of windows that wait for the digest thread."""

LARGEST_ELEMENT_BYTES = 256 << 20
"""Largest accepted element. Elements of the largest known file have about 6 MB."""

MOST_ELEMENTS = 100_000

KEPT_FROM_BYTES = 1 << 20
"""Files below this size have no index: reading them takes milliseconds."""

INDEX_VERSION = 1

_BLANK = re.compile(rb"[ \t\n\r]*")
_SEAM = re.compile(rb"\}\s*,\s*\{\s*\Z")
_LONGEST_SEAM = 64
_DECODE = json.JSONDecoder().raw_decode
_LONGEST_WORD = 16
"""Maximum length of a constant or an escape that the end of the window can cut."""

_Stamp = tuple[int, int, int, int]
"""Size, times of the last change of content and inode, and inode number: identifies the state of a file."""


@dataclass(frozen=True)
class Indexed:
    path: Path
    digest: Digest
    heads: tuple[dict[str, Any], ...] = field(repr=False)
    """Summary of each element, as plain JSON data."""
    _places: tuple[tuple[int, int], ...] = field(repr=False)
    """Position of the first byte and size in bytes of each element."""
    _stamp: _Stamp = field(repr=False)

    def element(self, place: int) -> bytes:
        """Return the JSON text of an element. Thread-safe.

        ``place``: index of the element, from 0. Raises ``BadInput``: the file is missing or has changed since it was
        indexed.
        """
        start, size = self._places[place]
        try:
            with self.path.open("rb", buffering=0) as file:
                found = os.pread(file.fileno(), size, start)
                same = _stamp(file.fileno()) == self._stamp
        except OSError as error:
            raise BadInput(f"cannot read the file ({error.strerror}).", where=self.path) from None
        if not same or len(found) != size:
            raise BadInput("the file changed during the run.", where=self.path, remedy="Start again.")
        return found


def indexed(path: Path, head: Head, *, kind: str, remedy: str) -> Indexed:
    """Return the elements of a file, from its stored index or after one pass.

    Raises ``BadInput``: the file is missing, empty or truncated, is not a JSON array of objects in UTF-8, has an
    element over 256 MB, or changed during the pass; or ``head`` refused an element. ``head``: returns the summary of an
    element; always the same function for the same ``kind``. ``kind``: name and version of ``head``. Each kind has its
    own index.
    """
    try:
        with path.open("rb", buffering=0) as file:
            before = _stamp(file.fileno())
            index_path = _index_path(path, kind) if before[0] >= KEPT_FROM_BYTES else None
            found = index_path and _read_index(index_path, path, kind, before)
            if found:
                return found
            made = _read(_IndexingPass(file.fileno(), path, remedy), head)
            if _stamp(file.fileno()) != before:
                raise BadInput("the file changed while memeval read it.", where=path, remedy="Start again.")
    except FileNotFoundError:
        raise BadInput("file not found.", where=path, remedy=remedy) from None
    except OSError as error:
        raise BadInput(f"cannot read the file ({error.strerror}).", where=path, remedy=remedy) from None
    digest, body = made
    if index_path:
        _store_index(index_path, _header(path, kind, before, digest, body) + body)
    return _opened(path, before, digest, body)


class _IndexingPass:
    """One pass over a file: elements with their positions, and the digest.

    To find the end of an element, guess first: a comma and an object with the same first key usually follow it. Parsing
    the bytes up to there proves the guess, because no JSON object is the start of another. If the guess is wrong, parse
    the window as Latin-1, which takes three times as long. In Latin-1 a character is a byte, and JSON structure is
    ASCII, so positions are the same as in UTF-8.
    """

    def __init__(self, handle: int, path: Path, remedy: str) -> None:
        self._handle, self._path, self._remedy = handle, path, remedy
        self._window, self._at = b"", 0
        self._before = 0  # bytes of the file before the window
        self._ended = False
        self._number = 0
        self._expected = 0  # estimated bytes of the next element
        self._first_key = b""  # of the previous element, as JSON
        self._hash = hashlib.sha256()
        self._hashed: deque[Future[None]] = deque()

    @property
    def digest(self) -> Digest:
        return "sha256:" + self._hash.hexdigest()

    def elements(self) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """Yield the position of the first byte, the size, and the value of each element."""
        with ThreadPoolExecutor(1) as self._hashing:
            first = self._next_byte()
            if self._window.startswith(BOM_UTF8):
                self._at = len(BOM_UTF8)
                first = self._next_byte()
            if not first:
                self._refuse("the file is empty.")
            if first != b"[":
                self._refuse("expected a JSON array of objects.")
            self._at += 1
            byte, comma = self._next_byte(), False
            while byte == b"{" and (comma or not self._number):
                yield self._element()
                byte = self._next_byte()
                comma = byte == b","
                if comma:
                    self._at += 1
                    byte = self._next_byte()
            if not byte:
                self._refuse(
                    f"the file is truncated: it ends after {self._read_bytes:,} bytes and {self._number:,} elements."
                )
            if byte != b"]" or comma:
                self._refuse(f"after element {self._number}, expected another object or the end of the array.")
            self._at += 1
            if self._next_byte():
                self._refuse(f"unexpected data after the end of the array, at byte {self._before + self._at + 1:,}.")

    def _element(self) -> tuple[int, int, dict[str, Any]]:
        self._number += 1
        if self._number > MOST_ELEMENTS:
            self._refuse(f"the file has more than {MOST_ELEMENTS:,} elements.")
        while (found := self._whole()) is None:
            if self._ended:
                self._refuse(
                    f"the file is truncated: it ends after {self._read_bytes:,} bytes, in element {self._number}."
                )
            if len(self._window) - self._at > LARGEST_ELEMENT_BYTES:
                self._refuse(f"element {self._number} has more than {LARGEST_ELEMENT_BYTES:,} bytes.")
            self._more()
        value, end = found
        start, size = self._before + self._at, end - self._at
        self._at, self._expected = end, size + size // 4
        self._first_key = json.dumps(next(iter(value), ""), ensure_ascii=False).encode()
        return start, size, value

    def _whole(self) -> tuple[dict[str, Any], int] | None:
        """Return the element and its end in the window; ``None`` if the window may end before it."""
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
        """Return the probable end of the element: before the next object with the same first key, or ``None``."""
        own = self._window.find(self._first_key, self._at)
        near = max(own + 1, self._at + self._expected * 3 // 5)
        following = -1 if own < 0 else self._window.find(self._first_key, near)
        if following < 0:
            return None
        nearby = max(self._at, following - _LONGEST_SEAM)
        seam = _SEAM.search(self._window[nearby:following])
        return seam and nearby + seam.start() + 1

    def _size(self) -> int | None:
        """Return the size of the element in bytes; ``None`` if the window may end before it."""
        text = self._window[self._at :].decode("latin-1")
        try:
            return _DECODE(text)[1]
        except json.JSONDecodeError as error:
            if not error.msg.startswith("Unterminated string") and error.pos < len(text) - _LONGEST_WORD:
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
            self._refuse(f"element {self._number} is not valid JSON in UTF-8 ({error}).")

    def _next_byte(self) -> bytes:
        while True:
            blank = _BLANK.match(self._window, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._window) or self._ended:
                return self._window[self._at : self._at + 1]
            self._more()

    @property
    def _read_bytes(self) -> int:
        """Bytes of the file that were read so far."""
        return self._before + len(self._window)

    def _more(self) -> None:
        """Read the next window, at least as large as the unparsed rest, so that the total time stays linear."""
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


def _read(reading: _IndexingPass, head: Head) -> tuple[Digest, bytes]:
    rows = []
    for start, size, value in reading.elements():
        rows.append(json.dumps([start, size, head(value)], separators=(",", ":")).encode())
    return reading.digest, b"[" + b",\n".join(rows) + b"]\n"


def _stamp(handle: int) -> _Stamp:
    found = os.fstat(handle)
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _index_path(path: Path, kind: str) -> Path:
    """Return the path of an index: one per file and kind, so the index of a changed file replaces the old one."""
    name = hashlib.sha256(f"{kind}\0{path.resolve()}".encode()).hexdigest()[:32]
    return cache_home() / "indexes" / f"{name}.jsonl"


def _header(path: Path, kind: str, stamp: _Stamp, digest: Digest, body: bytes) -> bytes:
    header = {
        "schema_version": INDEX_VERSION,
        "kind": kind,
        "path": str(path.resolve()),
        "stamp": stamp,
        "digest": digest,
        "body": hashlib.sha256(body).hexdigest(),
    }
    return json.dumps(header).encode() + b"\n"


def _read_index(index_path: Path, path: Path, kind: str, stamp: _Stamp) -> Indexed | None:
    """Return the stored index; ``None`` if it is missing, outdated or damaged."""
    try:
        line, _, body = index_path.read_bytes().partition(b"\n")
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


def _store_index(index_path: Path, index: bytes) -> None:
    """Write an index completely or not at all; ignore a full or read-only disk."""
    with suppress(OSError, BadInput):
        index_path.parent.mkdir(parents=True, exist_ok=True)
        with locked(index_path.parent):
            try:
                write_whole(index_path, index)
            except BadInput:  # the disk is full: a partial index is useless
                index_path.with_name(index_path.name + ".part").unlink(missing_ok=True)
