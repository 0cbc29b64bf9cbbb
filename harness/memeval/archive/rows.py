"""Reading and writing files of rows: one canonical JSON object a line, gzipped once sealed."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from memeval.records.base import Stored, misfit
from memeval.records.errors import BadInput
from memeval.records.run import FileDigest

T = TypeVar("T", bound=Stored)

LONGEST_LINE = 64_000_000
"""No row is longer than this many bytes; a longer line is not one of ours."""


def read_rows(path: Path, model: type[T]) -> Iterator[T]:
    """Yield the rows of ``path`` (plain, or gzipped where its name ends in ``.gz``).

    Args:
        path: the file.
        model: what its rows are.

    Raises:
        BadInput: the file is missing, cut, or holds a line that is no such row; file and line are named.
    """
    for number, line in read_lines(path):
        where = f"{path}:{number}"
        yield _row(model, line, where)


def _row(model: type[T], line: bytes, where: str) -> T:
    # Without a detour through Python objects, so a key that stands twice is not noticed here: the last one counts, as
    # it does for every common reader of JSON, and the digest in run.json covers the bytes.
    try:
        row = model.model_validate_json(line)
    except ValidationError as error:
        try:
            version = json.loads(line).get("schema_version")
        except (ValueError, AttributeError, RecursionError):
            version = None
        if type(version) is int and version == model.SCHEMA:
            raise BadInput(misfit(model, error), where=where) from None
        return model.parse(line, where)
    if row.schema_version != model.SCHEMA or "schema_version" not in row.model_fields_set:
        return model.parse(line, where)
    return row


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of ``path`` with their numbers from 1, each with its newline.

    Raises:
        BadInput: the file is missing, cut, or no file of rows.
    """
    remedy = "Restore the file, or record a new run."
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            if path.suffix == ".gz" and path.stat().st_size == 0:
                raise EOFError("it is empty")  # gzip would take it for a file with no rows
            number = 0
            while line := stream.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    raise BadInput("a line is too long to be a row.", where=f"{path}:{number}", remedy=remedy)
                if not line.endswith(b"\n"):
                    raise BadInput("the last line is cut off.", where=f"{path}:{number}", remedy=remedy)
                yield number, line
    except FileNotFoundError:
        raise BadInput("the file is missing.", where=path, remedy=remedy) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadInput(f"the file is damaged ({error}).", where=path, remedy=remedy) from None
    except OSError as error:
        raise BadInput(f"the file cannot be read ({error.strerror}).", where=path, remedy=remedy) from None


def pack(rows: Iterable[Stored]) -> tuple[bytes, FileDigest]:
    """Return rows as gzipped bytes, equal for equal rows, with the digest of what is inside."""
    packed = io.BytesIO()
    inside = hashlib.sha256()
    count = 0
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="", compresslevel=6) as stream:
        for row in rows:
            line = (row.to_json() + "\n").encode()
            inside.update(line)
            stream.write(line)
            count += 1
    return packed.getvalue(), FileDigest(digest="sha256:" + inside.hexdigest(), rows=count)


def inner_digest(path: Path) -> FileDigest:
    """Return digest and number of lines of what is inside a gzipped file.

    Raises:
        BadInput: the file is missing or damaged.
    """
    inside = hashlib.sha256()
    count = 0
    for _number, line in read_lines(path):
        inside.update(line)
        count += 1
    return FileDigest(digest="sha256:" + inside.hexdigest(), rows=count)
