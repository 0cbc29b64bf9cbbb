"""Digests of files, kept from build to build: a file is read again only if its state has changed, as in Git's index."""

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from memeval.archive.run_cache import keep_by_name, kept_by_name
from memeval.records.base import Digest, digest_bytes

SMALL = 1 << 20
"""Size in bytes below which a file is read at once."""

JUST_BEFORE = 3_000_000_000
"""Nanoseconds: a file that was changed so recently can change again without another time, on any file system."""

STATE = ("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")
"""The state of a file: with another one, it is read again. No program can set the time of the last change of state."""

DIGESTS = "digests"

_digests: ContextVar[tuple[dict[str, Digest], dict[str, Digest]] | None] = ContextVar("_digests", default=None)
"""The digests of files by their state: those of earlier builds, and those of this one, while it lasts."""


@contextmanager
def files_read_once() -> Iterator[None]:
    """Read no file for its digest that this build or the one before has read, unless its state is another one.

    As in Git's index, the state is place on the disk, size and times. A file that was changed just before is read
    again: it could change once more without another time.
    """
    before: dict[str, Digest] = json.loads(kept_by_name(DIGESTS, DIGESTS, "", lambda: b"{}"))
    now: dict[str, Digest] = {}
    token = _digests.set((before, now))
    try:
        yield
    finally:
        _digests.reset(token)
        if now != before:
            keep_by_name(DIGESTS, DIGESTS, json.dumps(now, sort_keys=True).encode())


def digest_file(path: Path) -> Digest:
    known = _digests.get()
    if known is None:
        return _digest(path)
    before, now = known
    state = path.stat()
    key = " ".join(str(getattr(state, name)) for name in STATE)
    found = now.get(key) or before.get(key)
    if found is None:
        found = _digest(path)
        if time.time_ns() - state.st_ctime_ns <= JUST_BEFORE:
            return found
    now[key] = found
    return found


def _digest(path: Path) -> Digest:
    with path.open("rb") as stream:
        if os.fstat(stream.fileno()).st_size < SMALL:
            return digest_bytes(stream.read())
        return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()
