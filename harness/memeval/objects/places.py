"""The name of a store: a folder, or ``s3://BUCKET/PREFIX``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from memeval.records.errors import BadInput

_S3 = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(?P<prefix>[^?#]*))?")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(//)?[^\\]")


@dataclass(frozen=True)
class Place:
    """Where objects are."""

    folder: Path | None = None
    bucket: str | None = None
    prefix: str = ""
    """The start of every key in the bucket, without slashes at its ends."""
    endpoint: str | None = None
    """Address of the service; ``None`` for that of the environment, or AWS."""
    region: str | None = None
    """Region of the bucket; ``None`` for that of the environment."""


def parse_place(named: str, *, endpoint: str | None = None, region: str | None = None) -> Place:
    """Return the place that a user names.

    Args:
        named: a folder, or ``s3://BUCKET/PREFIX``.
        endpoint: address of an S3-compatible service.
        region: region of the bucket.

    Raises:
        BadInput: the name is neither a folder nor a bucket.
    """
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
