"""Fetches rows that are only in the archive into the cache, where all commands find them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memeval.archive.remote.layout import row_key
from memeval.archive.remote.transfers import in_threads
from memeval.archive.row_cache import cache_path, check_rows
from memeval.archive.runs import ROW_FILES, RunFolder
from memeval.objects import BadStore, ObjectStore
from memeval.records.errors import BadInput, MemevalError
from memeval.records.run import FileDigest
from memeval.storage import unwritable


@dataclass(frozen=True)
class Fetched:
    """The outcome of one file of rows."""

    digest: FileDigest
    size: int = 0
    """Bytes of the downloaded file."""
    error: BadInput | None = None
    """Why it is not there."""


def missing_rows(folders: Iterable[RunFolder]) -> list[FileDigest]:
    """Return the rows that are neither in the folders of their runs nor in the cache, each once."""
    found: dict[FileDigest, None] = {}
    for folder in folders:
        try:
            files = folder.run.files
        except MemevalError:  # verify names it
            continue
        found |= {
            stated: None for name, stated in files.items() if name in ROW_FILES and not folder.file(name).exists()
        }
    return list(found)


def fetch_rows(digests: Iterable[FileDigest], store: ObjectStore) -> Iterator[Fetched]:
    """Download rows into the cache, and yield the outcome of each in their order.

    Args:
        digests: the rows, from ``run.json``.

    Raises:
        BadStore: the archive does not answer.
        BadInput: the cache cannot be written.
    """
    yield from in_threads(lambda stated: _fetch(stated, store), digests)


def _fetch(stated: FileDigest, store: ObjectStore) -> Fetched:
    path = cache_path(stated.digest)
    part = _part_beside(path)
    try:
        download_rows(stated, store, part)
        size = part.stat().st_size
        part.replace(path)
    except BadStore:
        raise
    except RowsRefused as error:
        return Fetched(stated, error=error)
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        part.unlink(missing_ok=True)
    return Fetched(stated, size)


def _part_beside(path: Path) -> Path:
    """Return a new, empty file in the folder of another one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-", suffix=path.suffix)
    except OSError as error:
        raise unwritable(path, error) from None
    os.close(handle)
    return Path(name)


class RowsRefused(BadInput):
    """Rows in the archive that are missing or damaged."""


def download_rows(stated: FileDigest, store: ObjectStore, path: Path) -> None:
    """Download rows into a file, and check them.

    Raises:
        BadStore: the archive does not answer.
        RowsRefused: the archive lacks the rows, or has others under their name.
        BadInput: the file cannot be written.
    """
    key = row_key(stated.digest)
    where = f"{store.url}/{key}"
    try:
        store.download(key, path)
    except KeyError:
        raise RowsRefused(
            "the rows are missing in the archive.", where=where, remedy="Push the run again from a machine that has it."
        ) from None
    try:
        check_rows(path, stated, where)
    except BadInput as error:
        raise RowsRefused(
            f"the rows are damaged: {error.problem}",
            where=where,
            remedy="Delete the object, then push the run again from a machine that has it.",
        ) from None
