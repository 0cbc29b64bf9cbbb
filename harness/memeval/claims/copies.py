"""Copies of published files on this machine, downloaded and checked against their digests."""

import urllib.error
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path

from memeval.benchmarks.data import data_folder, unpacked
from memeval.download import opener
from memeval.records.base import Digest, digest_bytes
from memeval.records.errors import BadInput
from memeval.records.source import FilePart, PublishedSource
from memeval.storage import writable, write_whole

LARGEST = 200_000_000
"""The maximum size of a published file, in bytes, uncompressed."""

FETCH_AGAIN = "Fetch the file again."

PUBLISHED = "published"
"""Folder of pulled files inside the data folder."""


class Copies:
    """Finds published files in a folder.

    The file ``path`` of ``owner/name`` is at ``owner__name/path``, ``owner/name/path``, ``name/path`` or ``path``, or
    there with ``__`` in place of ``/``; each with or without ``.gz``. So a clone of the repository and a folder of
    clones both work. Of several copies, the first with the right digest counts. ``folder``: the folder; ``None`` for
    the files that ``memeval sources pull`` fetched.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or data_folder() / PUBLISHED

    def has(self, source: PublishedSource, part: FilePart) -> bool:
        return any(path.is_file() for path in self._places(source, part))

    def target(self, source: PublishedSource, part: FilePart) -> Path:
        return self.folder / source.repository.replace("/", "__") / part.path

    def find(self, source: PublishedSource, part: FilePart) -> tuple[Path, bytes]:
        """Return where a file is, and its bytes, uncompressed.

        Raises ``BadInput`` if there is no copy, it is too large, cannot be read, or has another digest; or the source
        states no digest.
        """
        paths = [path for path in self._places(source, part) if path.is_file()]
        if not paths:
            raise BadInput(
                f"there is no copy of {source.repository}/{part.path}.",
                where=self.folder,
                remedy=f"Fetch it: memeval sources pull {source.name}. Or name a folder that has it with --from.",
            )
        others: list[tuple[Path, Digest]] = []
        for path in paths:
            data = unpacked(path, LARGEST, FETCH_AGAIN)
            found = digest_bytes(data)
            _refuse_unstated(part, found, path)
            if found == part.digest:
                return path, data
            others.append((path, found))
        path, found = others[0]
        raise BadInput(
            f"its digest is {found}, expected {part.digest}.",
            where=path,
            remedy=f"It is not the file of commit {source.commit or 'unknown'}. Check that commit out in the clone, "
            "fetch the file again, or describe a new source.",
        )

    def _places(self, source: PublishedSource, part: FilePart) -> Iterator[Path]:
        flat = part.path.replace("/", "__")
        owner, _slash, name = source.repository.partition("/")
        for folder in (f"{owner}__{name}", source.repository, name, "."):
            for file in (part.path, flat):
                yield self.folder / folder / file
                yield self.folder / folder / f"{file}.gz"


TIMEOUT_SECONDS = 60.0


def pull_file(source: PublishedSource, part: FilePart, copies: Copies, address: str | None = None) -> Path:
    """Download a file, unless it is here, and return where it is. A stale or damaged download is replaced.

    ``address``: another address than GitHub's. Raises ``BadInput`` if it is not there, the connection failed, it is too
    large, or it has another digest. Nothing is stored.
    """
    target = copies.target(source, part)
    if copies.has(source, part):
        try:
            return copies.find(source, part)[0]
        except BadInput:
            if not target.is_file():
                raise
    url = address or source.address(part)
    try:
        with opener().open(url, timeout=TIMEOUT_SECONDS) as reply:
            data = reply.read(LARGEST + 1)
    except urllib.error.HTTPError as error:
        problem = "the file was moved or deleted" if error.code == 404 else f"the server answered {error.code}"
        raise BadInput(f"{problem}.", where=url, remedy="Look for it in the repository's history.") from None
    except (OSError, HTTPException) as error:
        raise BadInput(f"cannot be fetched ({error}).", where=url, remedy="Run the same command again.") from None
    if len(data) > LARGEST:
        raise BadInput(f"has more than {LARGEST:,} bytes.", where=url)
    found = digest_bytes(unpacked(target, LARGEST, FETCH_AGAIN, data))
    _refuse_unstated(part, found, url)
    if found != part.digest:
        page = "It is an HTML page. " if data.lstrip()[:1] == b"<" else ""
        raise BadInput(
            f"its digest is {found}, expected {part.digest}.",
            where=url,
            remedy=f"{page}The file was changed. Describe the new one as a new source.",
        )
    with writable(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, data)
    return target


def _refuse_unstated(part: FilePart, found: Digest, where: object) -> None:
    if part.digest is None:
        raise BadInput(
            "the source states no digest for this file.",
            where=where,
            remedy=f"Look at the file, then add the digest to the source: {found}.",
        )
