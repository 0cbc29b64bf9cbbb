"""Atomic writes, lines with checksums, and locks that exclude concurrent processes."""

import fcntl
import glob
import hashlib
import os
import platform
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from memeval.records.errors import BadInput


def cache_home() -> Path:
    """Return the cache folder: ``MEMEVAL_CACHE``, else the user's. Everything in it can be deleted at any time."""
    import platformdirs

    named = os.environ.get("MEMEVAL_CACHE")
    return Path(named).expanduser().absolute() if named else platformdirs.user_cache_path("memeval")


@cache
def code_digest() -> str:
    """Return a digest of memeval's code with its data, and of the version of Python, which caches depend on."""
    return _files_digest(platform.python_version(), without=("__pycache__",))


@cache
def package_digest() -> str:
    """Return ``sha256:`` and the digest of memeval's own files, equal in a checkout and an installed wheel.

    The files that a wheel adds for the site, such as its templates, do not count.
    """
    return f"sha256:{_files_digest('', without=('__pycache__', '_assets'))}"


def _files_digest(start: str, without: tuple[str, ...]) -> str:
    """Return a digest of a text and of all files of the package, by path.

    ``without``: names of folders that do not count. Python writes its bytecode to ``__pycache__`` under other names,
    which are gone at once.
    """
    root = str(Path(__file__).parent)
    digest = hashlib.sha256(start.encode())
    files: list[str] = []
    for folder, inside, names in os.walk(root):
        inside[:] = (name for name in inside if name not in without)
        files += (f"{folder}/{name}" for name in names)
    for file in sorted(files):  # plain strings: every process does this, and paths take three times as long
        with open(file, "rb", buffering=0) as stream:  # noqa: PTH123
            content = stream.read()
        digest.update(f"\0{file.removeprefix(root)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


_RESUME = (
    "Free disk space, or name another folder with --results or --to. Progress is saved: run the same command to resume."
)


def unwritable(path: Path, error: OSError, remedy: str = _RESUME) -> BadInput:
    """Return the error for a path that cannot be written."""
    return BadInput(f"cannot be written ({error.strerror or error}).", where=path, remedy=remedy)


@contextmanager
def writable(path: Path, remedy: str = _RESUME) -> Iterator[None]:
    """Turn an error of the file system while a path is written into a sentence. Raises ``BadInput``."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, error, remedy) from None


@contextmanager
def readable(path: object, remedy: str | None = None) -> Iterator[None]:
    """Turn an error of the file system while a path is read into a sentence. Raises ``BadInput``."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror or error}).", where=path, remedy=remedy) from None


def checked_line(row: str) -> bytes:
    """Return a row as a line with a checksum: the CRC-32 of the row as 8 hexadecimal digits, a space, the row."""
    data = row.encode()
    return b"%08x %s\n" % (zlib.crc32(data), data)


def row_of(line: bytes, where: object, remedy: str) -> bytes:
    """Return the row of a line of :func:`checked_line`, given without its newline.

    ``where``: its source, ``file:line``; named in errors. Raises ``BadInput`` if the line does not match its checksum.
    """
    if not _matches(line):
        raise BadInput("the line is damaged: it does not match its checksum.", where=where, remedy=remedy)
    return line[9:]


def whole_lines(data: bytes, where: Path, remedy: str, first: int = 1) -> tuple[list[bytes], int]:
    """Return the complete lines of a file without their newlines, and the number of bytes up to the last newline.

    The rest was being written when a process was killed, and does not count. Raises ``BadInput`` if the last line is
    complete except for its newline, which is damaged.
    """
    end = data.rfind(b"\n") + 1
    lines = data[:end].split(b"\n")[:-1]
    if _matches(data[end:-1]):
        row_of(data[end:], f"{where}:{first + len(lines)}", remedy)
    return lines, end


def _matches(line: bytes) -> bool:
    return line[:9] == b"%08x " % zlib.crc32(line[9:])


def append_lines(stream: FileIO, data: bytes) -> None:
    """Append lines to a file opened for appending; they are on disk when this returns.

    Raises OSError: they cannot be written, for example on a full disk. Then the whole lines before the one that found
    no room stay, and no part of another; none stays where it is uncertain what is on disk.
    """
    end, written = os.fstat(stream.fileno()).st_size, 0
    try:
        while written < len(data):
            written += stream.write(memoryview(data)[written:])
        os.fsync(stream.fileno())
    except OSError:
        stream.truncate(end + (data.rfind(b"\n", 0, written) + 1 if written < len(data) else 0))
        raise


def listed(folder: Path, pattern: str) -> list[Path]:
    """Return the paths in a folder that match a pattern, sorted.

    Unlike ``Path.glob``, it skips folders that another process deletes meanwhile.
    """
    return sorted(folder / name for name in glob.iglob(pattern, root_dir=folder, include_hidden=True))  # noqa: PTH207


def write_whole(path: Path, data: bytes, *, synced: bool = True) -> None:
    """Write a file atomically; see :func:`writing_whole`. Raises ``BadInput`` if the path cannot be written."""
    with writing_whole(path, synced=synced) as stream:
        stream.write(data)


@contextmanager
def writing_whole(path: Path, *, synced: bool = True) -> Iterator[BinaryIO]:
    """Open a file for atomic writing: it appears after all data is written.

    ``synced``: whether the data is on disk first, so that it outlives a power failure. A cache whose files are checked
    when they are read does not need that, and writes thousands of files. Raises ``BadInput`` if the path cannot be
    written.
    """
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as stream:
            yield stream
            stream.flush()
            if synced:
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
    """Lock a folder against other memeval processes. The end of the process always releases the lock.

    ``folder``: the folder. The lock is on the folder itself, without a lock file. ``busy``: the error message if
    another process holds the lock; ``None`` to wait for it. Raises ``BadInput`` if another process holds the lock, or
    the folder does not exist.
    """
    with writable(folder):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if busy is None else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise BadInput(str(busy), where=folder, remedy="Wait until it has finished.") from None
    try:
        yield
    finally:
        os.close(handle)
