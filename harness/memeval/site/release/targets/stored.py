"""Targets in object stores: what they share, and a board in an S3-compatible bucket that is served as a website."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from memeval.objects import ObjectStore
from memeval.site.release.roots import LATEST_PAGE, latest_page
from memeval.site.release.targets.base import Entry, NewFile


class StoredTarget:
    """Published files as objects."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    @property
    def url(self) -> str:
        return self._store.url

    def read(self, path: str) -> bytes:
        return self._store.read(path)

    def create(self, file: NewFile) -> bool:
        return self._store.create(file.path, file.content, file.headers)

    def swap(self, file: NewFile, before: bytes | None) -> bool:
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
        return []

    def _put(self, file: NewFile) -> None:
        """Replace a file, unless it has these bytes."""
        try:
            if self._store.read(file.path) == file.data:
                return
        except KeyError:
            pass
        self._store.replace(file.path, file.content, file.headers)


class BucketTarget(StoredTarget):
    """Published files as objects of a bucket. A bucket has no links: ``latest`` is a page."""

    reads_locally = False

    def check_place(self, results: Path) -> None:
        """Do nothing: a bucket is never inside the results folder."""

    def prepare(self) -> list[str]:
        if self._store.refuses_overwriting:
            return []
        return [f"warning: {self.url}: this service overwrites objects. Publish from one machine at a time."]

    def entries(self) -> Mapping[str, Entry]:
        return {each.key: Entry(each.size, tag=each.etag) for each in self._store.list()}

    def holds(self, file: NewFile, entry: Entry) -> bool:
        if entry.size != file.size:
            return False
        if entry.tag == hashlib.md5(file.data, usedforsecurity=False).hexdigest():
            return True
        return self._store.read(file.path) == file.data  # the tag of an encrypted object, or of parts, is no MD5

    def point(self, version: str) -> None:
        """Let the page ``latest/`` lead to a version."""
        self._put(NewFile(LATEST_PAGE, latest_page(version), immutable=False))
