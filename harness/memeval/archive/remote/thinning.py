"""Removes rows from the folder of a run, once the archive has them."""

from __future__ import annotations

from memeval.archive.remote.fetching import fetch_rows
from memeval.archive.runs import RunFolder
from memeval.objects import ObjectStore
from memeval.storage import unwritable


def local_bytes(folder: RunFolder) -> int:
    """Return the size of a run's row files in its folder, in bytes."""
    paths = (folder.path / f"{name}.gz" for name in folder.run.files)
    return sum(path.stat().st_size for path in paths if path.is_file())


def thin(folder: RunFolder, store: ObjectStore) -> int:
    """Remove the row files from a run's folder, and return their size in bytes.

    Before, all rows are downloaded from the archive into the cache, and checked.

    Args:
        folder: an archived run.
        store: the archive.

    Raises:
        BadStore: the archive does not answer.
        BadInput: the archive lacks rows, or has damaged ones; the folder stays as it is.
    """
    size = local_bytes(folder)
    for fetched in fetch_rows(list(folder.run.files.values()), store):
        if fetched.error is not None:
            raise fetched.error
    for name in folder.run.files:
        path = folder.path / f"{name}.gz"
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(path, error) from None
    return size
