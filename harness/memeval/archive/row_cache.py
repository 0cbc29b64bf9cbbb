"""Rows of runs whose files are not in their folder: a cache by digest, checked when read."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from memeval.archive.rows import read_lines
from memeval.records.base import Digest
from memeval.records.errors import BadInput
from memeval.records.run import FileDigest
from memeval.storage import cache_home


def cache_path(digest: Digest) -> Path:
    """Return the file of rows in the cache: ``rows`` below ``MEMEVAL_CACHE``, or below the user's cache folder."""
    return cache_home() / "rows" / f"{digest.removeprefix('sha256:')}.jsonl.gz"


def cached_rows(stated: FileDigest) -> Path | None:
    """Return the file with these rows in the cache; ``None`` if it is not there, or has other rows.

    Args:
        stated: the digest and number of rows, from ``run.json``.
    """
    path = cache_path(stated.digest)
    try:
        state = path.stat()
    except OSError:
        return None
    return path if _is_checked(path, stated, state.st_mtime_ns, state.st_size) else None


@lru_cache(maxsize=65536)
def _is_checked(path: Path, stated: FileDigest, _modified: int, _size: int) -> bool:
    """Return whether a file has its rows; it is read once, unless it changes."""
    try:
        check_rows(path, stated)
    except BadInput:
        return False
    return True


def check_rows(path: Path, stated: FileDigest, shown: object | None = None) -> None:
    """Check that a gzipped file has the stated rows. It reads no further than one row too many.

    Args:
        stated: the digest of its uncompressed bytes, and its number of rows.
        shown: what errors call the file; ``None`` for its path.

    Raises:
        BadInput: the file is missing, damaged, or has other rows.
    """
    inside, count = hashlib.sha256(), 0
    try:
        for count, line in read_lines(path):
            if count > stated.rows:
                break
            inside.update(line)
    except BadInput as error:
        raise BadInput(error.problem, where=shown or error.where, remedy=error.remedy) from None
    if count != stated.rows or "sha256:" + inside.hexdigest() != stated.digest:
        raise BadInput(
            "does not match its digest in run.json.",
            where=shown or path,
            remedy="Restore the file, or record a new run.",
        )
