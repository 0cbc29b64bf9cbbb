"""An object store in a folder."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from memeval.objects.base import NO_HEADERS, BadStore, Headers, ObjectInfo, whole_or_none
from memeval.records.errors import BadInput
from memeval.storage import locked

PART = ".part-"
"""The start of the name of a file that is being written; it is no object."""


class FolderStore:
    """Objects as files. A link counts as what it leads to, so a part of the folder can be on another disk.

    ``root``: the folder; it is created with the first object.
    """

    refuses_overwriting = True

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def url(self) -> str:
        return str(self.root)

    def create(self, key: str, content: bytes | Path, headers: Headers = NO_HEADERS) -> bool:
        path = self._path(key)
        if path.exists():
            return False
        with self._part(path, content) as part:
            try:
                os.link(part, path)  # fails if another writer was faster
            except FileExistsError:
                return False
            except OSError:  # a file system without links
                with locked(self.root):
                    if path.exists():
                        return False
                    part.replace(path)
        return True

    def replace(
        self, key: str, content: bytes | Path, headers: Headers = NO_HEADERS, *, seen: str | None = None
    ) -> bool:
        path = self._path(key)
        with self._part(path, content) as part, locked(self.root):
            if seen is not None and seen != self._tag(key):
                return False
            part.replace(path)
        return True

    def read(self, key: str) -> bytes:
        with self._opened(key) as source:
            return source.read()

    def download(self, key: str, path: Path) -> None:
        with self._opened(key) as source, whole_or_none(path) as stream:
            shutil.copyfileobj(source, stream)

    def info(self, key: str) -> ObjectInfo | None:
        tag = self._tag(key)
        return None if tag is None else _info(key, self._path(key), tag)

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """Yield the objects whose keys begin with a prefix, sorted by key, without entity tags.

        Raises BadStore: a folder or a file cannot be read, or a link leads nowhere. So no object is left out.
        """
        found = []
        top = self.root / prefix.rpartition("/")[0]
        for folder, _folders, files in os.walk(top, onerror=self._refuse_unless_gone, followlinks=True):
            for name in files:
                path = Path(folder, name)
                key = path.relative_to(self.root).as_posix()
                if key.startswith(prefix) and not name.startswith(PART):
                    try:
                        found.append(_info(key, path, None))
                    except OSError as error:
                        self._refuse_unless_gone(error)
        yield from sorted(found, key=lambda each: each.key)

    def delete(self, key: str) -> None:
        path = self._path(key)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise _unwritable(path, error) from None

    def _refuse_unless_gone(self, error: OSError) -> None:
        """Return for a path that another process deleted meanwhile, or that never existed."""
        path = Path(error.filename or self.root)
        if path.is_symlink() or not isinstance(error, (FileNotFoundError, NotADirectoryError)):
            raise _unreadable(path, error) from None

    def _path(self, key: str) -> Path:
        parts = PurePosixPath(key).parts
        if not parts or ".." in parts or key.startswith("/") or "\0" in key:
            raise BadInput(f"{key!r} is not a key.", where=self.root, remedy="Use a relative path.")
        return self.root.joinpath(*parts)

    @contextmanager
    def _opened(self, key: str) -> Iterator[BinaryIO]:
        path = self._path(key)
        try:
            with path.open("rb") as stream:
                yield stream
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            raise KeyError(key) from None
        except OSError as error:
            raise _unreadable(path, error) from None

    def _tag(self, key: str) -> str | None:
        with suppress(KeyError):
            return hashlib.md5(self.read(key), usedforsecurity=False).hexdigest()
        return None

    @contextmanager
    def _part(self, path: Path, content: bytes | Path) -> Iterator[Path]:
        """Yield a file with some content beside a path; it is removed afterwards, unless it was moved."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=PART)
            part = Path(name)
            try:
                with os.fdopen(handle, "wb") as stream:
                    if isinstance(content, Path):
                        with content.open("rb") as source:
                            shutil.copyfileobj(source, stream)
                    else:
                        stream.write(content)
                    stream.flush()
                    os.fsync(stream.fileno())
                part.chmod(0o644)
                yield part
            finally:
                part.unlink(missing_ok=True)
        except OSError as error:
            raise _unwritable(path, error) from None


def _info(key: str, path: Path, tag: str | None) -> ObjectInfo:
    state = path.stat()
    return ObjectInfo(key, state.st_size, tag, datetime.fromtimestamp(state.st_mtime, UTC))


def _unreadable(path: Path, error: OSError) -> BadStore:
    return BadStore(f"cannot be read ({error.strerror or error}).", where=path)


def _unwritable(path: Path, error: OSError) -> BadStore:
    return BadStore(
        f"cannot be written ({error.strerror or error}).",
        where=path,
        remedy="Free space there, or name another folder. Then run the same command again: it goes on.",
    )
