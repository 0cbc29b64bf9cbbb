"""Writing to disk so that nothing is half there, and so that no two processes write at once."""

from __future__ import annotations

import fcntl
import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from memeval.records.errors import BadInput


def unwritable(path: Path, error: OSError) -> BadInput:
    """Return the sentence for a place that cannot be written."""
    return BadInput(
        f"cannot be written ({error.strerror or error}).",
        where=path,
        remedy="Make room or name another folder, with --results or --to; what is stored stays, and the same "
        "command resumes.",
    )


def listed(folder: Path, pattern: str) -> list[Path]:
    """Return the paths in a folder that match a pattern, sorted.

    Unlike ``Path.glob``, a folder that another process deletes meanwhile is no error: what is in it is left out.
    """
    return sorted(folder / name for name in glob.iglob(pattern, root_dir=folder, include_hidden=True))  # noqa: PTH207


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it appears whole or not at all.

    Raises:
        BadInput: the place cannot be written.
    """
    with writing_whole(path) as stream:
        stream.write(data)


@contextmanager
def writing_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears whole when all of it is written, or not at all.

    Raises:
        BadInput: the place cannot be written.
    """
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except BaseException as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise unwritable(path, error) from None
        raise


@contextmanager
def locked(folder: Path, *, busy: str | None = None) -> Iterator[None]:
    """Hold a folder against other processes of memeval; a process that ends in any way lets go of it.

    Args:
        folder: the folder; it stays as it is, for the lock is on the folder itself.
        busy: the sentence for the case that another process holds it; ``None`` waits for that process instead.

    Raises:
        BadInput: another process holds it, or it is not there.
    """
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise unwritable(folder, error) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if busy is None else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise BadInput(str(busy), where=folder, remedy="Wait until it has finished.") from None
    try:
        yield
    finally:
        os.close(handle)
