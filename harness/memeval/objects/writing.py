"""Writing a downloaded object to a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from memeval.storage import unwritable


@contextmanager
def whole_or_none(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing; an error removes it.

    Raises:
        BadInput: the file cannot be written.
    """
    try:
        with path.open("wb") as stream:
            yield stream
    except BaseException as error:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:  # boto3 has errors of the network without number
            raise unwritable(path, error) from None
        raise
