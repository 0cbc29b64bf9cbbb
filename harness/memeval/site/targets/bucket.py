"""A board in an S3-compatible bucket that is served as a website."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from memeval.site.roots import LATEST_PAGE, latest_page
from memeval.site.targets.base import Entry, NewFile
from memeval.site.targets.stored import StoredTarget


class BucketTarget(StoredTarget):
    """Published files as objects of a bucket. A bucket has no links: ``latest`` is a page.

    Args:
        store: the bucket.
    """

    reads_locally = False

    def check_place(self, results: Path) -> None:
        """Do nothing: a bucket is never inside the results folder."""

    def prepare(self) -> list[str]:
        """Write a probe; see :class:`~memeval.site.targets.base.Target`."""
        if self._store.refuses_overwriting:
            return []
        return [f"warning: {self.url}: this service overwrites objects. Publish from one machine at a time."]

    def entries(self) -> Mapping[str, Entry]:
        """Return what is published now; see :class:`~memeval.site.targets.base.Target`."""
        return {each.key: Entry(each.size, tag=each.etag) for each in self._store.list()}

    def holds(self, file: NewFile, entry: Entry) -> bool:
        """Return whether a file has these bytes; see :class:`~memeval.site.targets.base.Target`."""
        if entry.size != file.size:
            return False
        if entry.tag == hashlib.md5(file.data, usedforsecurity=False).hexdigest():
            return True
        return self._store.read(file.path) == file.data  # the tag of an encrypted object, or of parts, is no MD5

    def point(self, version: str) -> None:
        """Let the page ``latest/`` lead to a version."""
        self._put(NewFile(LATEST_PAGE, latest_page(version), immutable=False))
