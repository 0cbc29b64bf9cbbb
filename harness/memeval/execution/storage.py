"""Writing to disk so that nothing is half there, and so that no two processes write at once."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memeval.records.errors import BadInput


def unwritable(path: Path, error: OSError) -> BadInput:
    """Return the sentence for a place that cannot be written."""
    return BadInput(
        f"cannot be written ({error.strerror or error}).",
        where=path,
        remedy="Make room or give another --results folder; what is stored stays, and the same command resumes.",
    )


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it appears whole or not at all.

    Raises:
        BadInput: the place cannot be written.
    """
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except OSError as error:
        raise unwritable(path, error) from None


@contextmanager
def locked(path: Path, *, busy: str, wait: bool) -> Iterator[None]:
    """Hold a lock file against other processes; a process that ends in any way lets go of it.

    Args:
        path: the lock file; made where it is missing.
        busy: the sentence for the case that another process holds it.
        wait: whether to wait for that process instead.

    Raises:
        BadInput: another process holds it, or it cannot be made.
    """
    try:
        stream = path.open("ab")
    except OSError as error:
        raise unwritable(path, error) from None
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise BadInput(busy, where=path.parent, remedy="Wait for it to end.") from None
        yield
