"""The interface of a target (a folder, a bucket or a Git branch), and how a web server delivers its files."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Protocol

from memeval.objects import Headers

CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".gz": "application/gzip",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
    ".xml": "application/xml",
}
"""The content type by the end of the name. The table of the operating system differs between machines."""

FOREVER = "public, max-age=31536000, immutable"
"""For files whose bytes never change: those of a version, and those that are named by their digest."""

BRIEFLY = "public, max-age=60"


class EntryKind(StrEnum):
    FILE = "file"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True)
class Entry:
    """What a target tells about a path without sending its content."""

    size: int
    kind: EntryKind = EntryKind.FILE
    tag: str | None = None
    """A value that changes with the bytes: the entity tag of a bucket, the object id of Git; ``None`` in a folder."""
    points_at: str | None = None
    """Where a symlink points; ``None`` for other kinds."""


@dataclass(frozen=True)
class NewFile:
    path: str
    content: bytes | Path
    immutable: bool = True

    @property
    def data(self) -> bytes:
        return self.content if isinstance(self.content, bytes) else self.content.read_bytes()

    @property
    def size(self) -> int:
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size

    @property
    def headers(self) -> Headers:
        kind = CONTENT_TYPES.get(PurePosixPath(self.path).suffix.lower(), "application/octet-stream")
        return Headers(kind, FOREVER if self.immutable else BRIEFLY)


class Target(Protocol):
    """Published files by path, relative to the root of the board. Several threads may read and create files.

    Every method raises :class:`~memeval.records.errors.BadInput` if the target is missing, refuses, or does not answer.
    """

    reads_locally: bool
    """Whether reading costs no network: then every file is compared before something counts as published."""

    @property
    def url(self) -> str: ...

    def check_place(self, results: Path) -> None:
        """Check that a board may be published here. Writes nothing.

        Raises ``BadInput`` if the place is inside the results folder, or contains something else.
        """
        ...

    def prepare(self) -> list[str]:
        """Check that the target can be written to; return warnings for the user."""
        ...

    def entries(self) -> Mapping[str, Entry]: ...

    def read(self, path: str) -> bytes:
        """Return the bytes of a published file. Raises ``KeyError`` if there is no such file."""
        ...

    def create(self, file: NewFile) -> bool:
        """Publish a file unless its path is taken; a cut transfer publishes nothing.

        Returns:
            False if the path was taken.
        """
        ...

    def holds(self, file: NewFile, entry: Entry) -> bool: ...

    def swap(self, file: NewFile, before: bytes | None) -> bool:
        """Replace a file atomically.

        Args:
            before: the bytes that the caller read; ``None`` for no file.

        Returns:
            False if the target has other bytes than the caller read.
        """
        ...

    def point(self, version: str) -> None:
        """Let ``latest`` lead to a version, atomically."""
        ...

    def finish(self, message: str) -> list[str]:
        """Make everything public that is not public yet; return what was done, as lines for the user."""
        ...
