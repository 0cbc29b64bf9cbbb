"""What the targets in object stores share."""

from __future__ import annotations

from memeval.objects import ObjectStore
from memeval.site.targets.base import NewFile


class StoredTarget:
    """Published files as objects.

    Args:
        store: the folder or the bucket.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    @property
    def url(self) -> str:
        """The folder, or the bucket with its prefix."""
        return self._store.url

    def read(self, path: str) -> bytes:
        """Return the bytes of a published file; see :class:`~memeval.site.targets.base.Target`."""
        return self._store.read(path)

    def create(self, file: NewFile) -> bool:
        """Publish a file unless its path is taken; see :class:`~memeval.site.targets.base.Target`."""
        return self._store.create(file.path, file.content, file.headers)

    def swap(self, file: NewFile, before: bytes | None) -> bool:
        """Replace a file atomically; see :class:`~memeval.site.targets.base.Target`."""
        if before is None:
            return self.create(file)
        found = self._store.info(file.path)
        try:
            is_same = found is not None and self._store.read(file.path) == before
        except KeyError:
            is_same = False
        if found is None or not is_same:
            return False
        return self._store.replace(file.path, file.content, file.headers, seen=found.etag)

    def finish(self, message: str) -> list[str]:
        """Do nothing: every file is public at once."""
        return []

    def _put(self, file: NewFile) -> None:
        """Replace a file, unless it has these bytes."""
        try:
            if self._store.read(file.path) == file.data:
                return
        except KeyError:
            pass
        self._store.replace(file.path, file.content, file.headers)
