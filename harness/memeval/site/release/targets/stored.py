"""Targets in object stores: a board in a folder, and one in an S3-compatible bucket that is served as a website."""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from memeval.objects import ObjectStore
from memeval.objects.folder import PART, FolderStore
from memeval.records.errors import BadInput
from memeval.site.release.roots import INDEX, LATEST, LATEST_PAGE, latest_page
from memeval.site.release.targets.base import Entry, EntryKind, NewFile


class StoredTarget:
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


class FolderTarget(StoredTarget):
    """Published files in a folder. ``latest`` is a symlink, or a page where the file system has no symlinks.

    ``root``: the folder; it is created with the first file.
    """

    reads_locally = True

    def __init__(self, root: Path) -> None:
        super().__init__(FolderStore(root))
        self._root = root

    def check_place(self, results: Path) -> None:
        if self._root.resolve().is_relative_to(results.resolve()):
            raise BadInput(
                "this is inside the results folder.", where=self._root, remedy="Name a folder outside of it."
            )
        latest = self._root / LATEST
        if latest.is_symlink() or not latest.exists() or (latest.is_dir() and _is_page(latest)):
            return
        raise BadInput(f"'{LATEST}' exists and is not a symlink.", where=latest, remedy="Name another folder.")

    def prepare(self) -> list[str]:
        try:
            self._root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(
                f"the folder cannot be created ({error.strerror}).", where=self._root, remedy="Name another folder."
            ) from None
        return []

    def entries(self) -> Mapping[str, Entry]:
        if not self._root.exists():
            return {}
        if not self._root.is_dir():
            raise BadInput("this is a file.", where=self._root, remedy="Name a folder.")
        return dict(_walk(self._root))

    def holds(self, file: NewFile, entry: Entry) -> bool:
        return entry.kind is EntryKind.FILE and entry.size == file.size and self.read(file.path) == file.data

    def point(self, version: str) -> None:
        """Switch ``latest`` to a version: create a relative link under another name, then rename it."""
        latest, aside = self._root / LATEST, self._root / f"{PART}{LATEST}"
        if not latest.is_symlink() and latest.is_dir():
            self._put(NewFile(LATEST_PAGE, latest_page(version), immutable=False))
            return
        aside.unlink(missing_ok=True)
        try:
            aside.symlink_to(version, target_is_directory=True)
            aside.replace(latest)
        except OSError:  # a file system without symlinks
            self._put(NewFile(LATEST_PAGE, latest_page(version), immutable=False))


def _is_page(latest: Path) -> bool:
    return {path.name for path in latest.iterdir() if not path.name.startswith(PART)} == {INDEX}


def _walk(root: Path) -> Iterator[tuple[str, Entry]]:
    """Yield each file, link and special file below a folder, and each empty folder directly in it, with its path."""
    for parent, folders, names in os.walk(root):
        folders.sort()
        inner = Path(parent)
        links = [name for name in folders if (inner / name).is_symlink()]
        for name in sorted([*names, *links]):
            if not name.startswith(PART) and not (parent == str(root) and name == ".git"):
                path = inner / name
                yield path.relative_to(root).as_posix(), _entry(path)
        if parent == str(root):
            folders[:] = [name for name in folders if name != ".git"]
            yield from ((name, Entry(0, EntryKind.OTHER)) for name in folders if not any((root / name).iterdir()))


def _entry(path: Path) -> Entry:
    state = path.lstat()
    if stat.S_ISLNK(state.st_mode):
        return Entry(state.st_size, EntryKind.LINK, points_at=str(path.readlink()))
    return Entry(state.st_size, EntryKind.FILE if stat.S_ISREG(state.st_mode) else EntryKind.OTHER)
