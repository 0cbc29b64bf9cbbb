"""The interface of an object store, its name, and what all stores need."""

import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar

from memeval.records.errors import BadInput
from memeval.storage import unwritable

_S3 = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(?P<prefix>[^?#]*))?")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(//)?[^\\]")


@dataclass(frozen=True)
class Place:
    folder: Path | None = None
    bucket: str | None = None
    prefix: str = ""
    """The start of every key in the bucket, without slashes at its ends."""
    endpoint: str | None = None
    """Address of the service; ``None`` for that of the environment, or AWS."""
    region: str | None = None
    """Region of the bucket; ``None`` for that of the environment."""


def parse_place(named: str, *, endpoint: str | None = None, region: str | None = None) -> Place:
    if found := _S3.fullmatch(named):
        prefix = (found["prefix"] or "").strip("/")
        if any(part in ("", ".", "..") for part in prefix.split("/")) and prefix:
            raise BadInput(f"{named!r} has an empty, '.' or '..' part.", remedy="Write s3://BUCKET/PREFIX.")
        return Place(bucket=found["bucket"], prefix=prefix, endpoint=endpoint, region=region)
    if named.startswith("s3:"):
        raise BadInput(
            f"{named!r} is not a bucket.",
            remedy="Write s3://BUCKET/PREFIX. A bucket's name has 3 to 63 lower-case letters, digits, dots and dashes.",
        )
    if not named.strip() or _URL.match(named):
        raise BadInput(f"{named!r} is neither a folder nor a bucket.", remedy="Write a folder, or s3://BUCKET/PREFIX.")
    return Place(folder=Path(named))


class BadStore(BadInput):
    """A store that is missing, refuses access, or does not answer. Trying again later may help."""


@dataclass(frozen=True)
class ObjectInfo:
    key: str
    size: int
    etag: str | None
    """The entity tag of a bucket without quotes; for an object sent in one part, usually the MD5 of its bytes."""
    modified: datetime | None = None
    """UTC time when it was stored; ``None`` if the store does not tell."""


@dataclass(frozen=True)
class Headers:
    content_type: str = "application/octet-stream"
    cache: str | None = None
    """The value of ``Cache-Control``; ``None`` to send none."""


NO_HEADERS = Headers()


class ObjectStore(Protocol):
    """Objects by key. A key is a relative path with slashes: ``runs/beliefs@2/bm25/…``.

    Every method raises :class:`BadStore` if the store is missing, refuses, or does not answer after several tries.
    """

    @property
    def url(self) -> str:
        """The store, as a user names it; without secrets."""
        ...

    @property
    def refuses_overwriting(self) -> bool:
        """Whether the store itself makes :meth:`create` atomic. The first call may send a probe."""
        ...

    def create(self, key: str, content: bytes | Path, headers: Headers = NO_HEADERS) -> bool:
        """Store an object, unless the key is taken: False. A cut transfer stores nothing.

        A store that overwrites silently is asked first, so that two writers at the same time can both succeed. Use keys
        that name their content, and both write the same bytes.
        """
        ...

    def replace(
        self, key: str, content: bytes | Path, headers: Headers = NO_HEADERS, *, seen: str | None = None
    ) -> bool:
        """Store an object whether or not the key is taken; a cut transfer leaves the former object.

        ``seen``: the entity tag that the caller read; ``None`` to replace whatever is there. Returns False if the store
        has another object than the caller read.
        """
        ...

    def read(self, key: str) -> bytes: ...

    def download(self, key: str, path: Path) -> None:
        """Write the bytes of an object to a file, without holding them in memory. An error leaves no file.

        Raises KeyError: the store has no such object. BadInput: the file cannot be written.
        """
        ...

    def info(self, key: str) -> ObjectInfo | None: ...

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]: ...

    def delete(self, key: str) -> None: ...


@contextmanager
def whole_or_none(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing; an error removes it. Raises BadInput: the file cannot be written."""
    try:
        with path.open("wb") as stream:
            yield stream
    except BaseException as error:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:  # boto3 has errors of the network without number
            raise unwritable(path, error) from None
        raise


T = TypeVar("T")
R = TypeVar("R")

THREADS = 8


def in_threads(work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
    """Yield the results of tasks in their order. The first error ends the tasks that have not begun."""
    pool = ThreadPoolExecutor(THREADS)
    try:
        yield from pool.map(work, tasks)
    finally:
        pool.shutdown(cancel_futures=True)
