"""Downloads published files, each checked against its digest."""

from __future__ import annotations

import io
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path

from memeval.claims.copies import LARGEST, Copies, unpacked
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.source import FilePart, PublishedSource
from memeval.storage import unwritable, write_whole

TIMEOUT_SECONDS = 60.0


def pull_file(source: PublishedSource, part: FilePart, copies: Copies, address: str | None = None) -> Path:
    """Download a file, unless it is here.

    Args:
        address: another address than GitHub's.

    Raises:
        BadInput: it is not there, the connection failed, it is too large, or it has another digest. Nothing is stored.
    """
    target = copies.target(source, part)
    if copies.has(source, part):
        copies.read(source, part)
        return target
    url = address or source.address(part)
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as reply:  # noqa: S310 - always https, or a test's server
            data = reply.read(LARGEST + 1)
    except urllib.error.HTTPError as error:
        problem = "the file was moved or deleted" if error.code == 404 else f"the server answered {error.code}"
        raise BadInput(f"{problem}.", where=url, remedy="Look for it in the repository's history.") from None
    except (OSError, HTTPException) as error:
        raise BadInput(f"cannot be fetched ({error}).", where=url, remedy="Run the same command again.") from None
    if len(data) > LARGEST:
        raise BadInput(f"has more than {LARGEST:,} bytes.", where=url)
    found = digest_bytes(unpacked(io.BytesIO(data), url))
    if part.digest is None:
        raise BadInput(
            "the source states no digest for this file.",
            where=url,
            remedy=f"Look at the file, then add the digest to the source: {found}.",
        )
    if found != part.digest:
        page = "It is an HTML page. " if data.lstrip()[:1] == b"<" else ""
        raise BadInput(
            f"its digest is {found}, expected {part.digest}.",
            where=url,
            remedy=f"{page}The file was changed. Describe the new one as a new source.",
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, data)
    except OSError as error:
        raise unwritable(target, error) from None
    return target
