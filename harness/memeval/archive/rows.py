"""Reading and writing row files: one canonical JSON object per line, gzipped in sealed runs."""

import csv
import gzip
import hashlib
import io
import json
import stat
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

from pydantic import ValidationError

from memeval.records.base import Digest, Stored, misfit
from memeval.records.errors import BadInput
from memeval.records.run import FileDigest
from memeval.storage import cache_home, readable, writable, write_whole

T = TypeVar("T", bound=Stored)

LONGEST_LINE = 64_000_000

LARGEST_HEAD = 64_000_000

BUFFER = 1 << 17
"""Bytes of a gzipped row file that are unpacked at once, fewer than a line may have."""

SHARED_BYTES = 8_000_000
"""Uncompressed bytes of the files whose rows stay in memory for other runs; as records they need ten times as much."""

REMEDY = "Restore the file, or record a new run."


def read_head(path: Path, missing: str) -> bytes:
    """Return the bytes of the file that describes a folder.

    ``missing``: what to do if the folder lacks it. Raises BadInput: it is missing, too large or not a regular file, or
    cannot be read.
    """
    with readable(path, REMEDY):
        try:
            state = path.stat()
            if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST_HEAD:
                problem = f"is not a regular file of at most {LARGEST_HEAD:,} bytes."
                raise BadInput(problem, where=path, remedy=REMEDY)
            return path.read_bytes()
        except FileNotFoundError:
            raise BadInput(f"there is no {path.name} here.", where=path.parent, remedy=missing) from None


def read_rows(path: Path, model: type[T]) -> Iterator[T]:
    """Yield the rows of ``path``: plain, or gzipped if its name ends in ``.gz``.

    Raises BadInput: the file is missing or truncated, or a line is not a valid row. The message names file and line.
    """
    for number, line in read_lines(path):
        where = f"{path}:{number}"
        yield _row(model, line, where)


@dataclass(frozen=True)
class ReadFile(Generic[T]):
    rows: list[T]
    digest: FileDigest
    size: int


def read_file(path: Path, model: type[T], most: int | None = None) -> ReadFile[T]:
    """Return the rows of ``path`` and their digest, reading it once; see :func:`read_rows`.

    ``most``: its number of rows according to ``run.json``; reading stops with ``BadInput`` at one more.
    """
    rows: list[T] = []
    inside, size = hashlib.sha256(), 0
    for number, line in read_lines(path):
        if most is not None and number > most:
            raise TooManyRows(path, most)
        inside.update(line)
        size += len(line)
        rows.append(_row(model, line, f"{path}:{number}"))
    return ReadFile(rows, FileDigest(digest="sha256:" + inside.hexdigest(), rows=len(rows)), size)


class SharedRows:
    """Reads files of rows. Of files with equal bytes, only the first is parsed: runs may have equal contexts or grades.

    ``most``: maximum uncompressed bytes of the files whose rows stay in memory.
    """

    def __init__(self, most: int = SHARED_BYTES) -> None:
        self._most, self._size = most, 0
        self._kept: OrderedDict[tuple[type[Stored], str], ReadFile[Any]] = OrderedDict()

    def read(self, path: Path, model: type[T], stated: FileDigest | None) -> ReadFile[T]:
        known = None if stated is None else self._kept.get((model, stated.digest))
        if known is not None and _has_digest(path, known.digest):
            return known
        read = read_file(path, model, None if stated is None else stated.rows)
        if (key := (model, read.digest.digest)) not in self._kept and read.size <= self._most:
            self._kept[key] = read
            self._size += read.size
            while self._size > self._most:
                self._size -= self._kept.popitem(last=False)[1].size
        return read


def _has_digest(path: Path, digest: FileDigest) -> bool:
    try:
        return inner_digest(path, digest.rows) == digest
    except BadInput:  # reading its rows says it
        return False


def _row(model: type[T], line: bytes, where: str) -> T:
    # Validates the JSON text directly, for speed. A repeated key is not detected: its last value counts, as in
    # common JSON readers. The digest in run.json covers the bytes.
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

    Raises BadInput: the file is missing, truncated, or not a row file.
    """
    with _row_file(path) as stream:
        number = 0
        while line := stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise _too_long(f"{path}:{number}")
            if not line.endswith(b"\n"):
                raise BadInput("the last line is cut off.", where=f"{path}:{number}", remedy=REMEDY)
            yield number, line


class TooManyRows(BadInput):
    """A file has more rows than its ``run.json`` says."""

    def __init__(self, path: Path, most: int) -> None:
        super().__init__(f"has more than {most:,} rows, but run.json says {most:,}.", where=path, remedy=REMEDY)


def _too_long(where: str) -> BadInput:
    return BadInput("a line is too long to be a row.", where=where, remedy=REMEDY)


@contextmanager
def _row_file(path: Path) -> Iterator[BinaryIO | io.BufferedReader]:
    """Open a row file. A buffer around ``GzipFile`` needs no call of Python code for each line."""
    is_packed = path.suffix == ".gz"
    with readable(path, REMEDY):
        try:
            if not stat.S_ISREG(path.stat().st_mode):  # to open a named pipe would wait for ever
                raise BadInput("is not a regular file.", where=path, remedy=REMEDY)
            with io.BufferedReader(gzip.GzipFile(path, "rb"), BUFFER) if is_packed else path.open("rb") as stream:
                if is_packed and path.stat().st_size == 0:
                    raise EOFError("it is empty")  # gzip reads an empty file as a file without rows
                yield stream
        except FileNotFoundError:
            raise BadInput("the file is missing.", where=path, remedy=REMEDY) from None
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise BadInput(f"the file is damaged ({error}).", where=path, remedy=REMEDY) from None


def indented(data: Mapping[str, Any] | Sequence[Any]) -> bytes:
    return (json.dumps(data, sort_keys=True, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()


FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Prefixes by which a spreadsheet recognises a formula."""


def neutral(cell: object) -> object:
    """Return a cell for a CSV file: text that a spreadsheet would take for a formula gets an apostrophe."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def csv_text(columns: Iterable[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows as CSV, with a line of names. Unknown and missing cells are empty, and no cell is a formula."""
    out, names = io.StringIO(), list(columns)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(neutral, names))
    writer.writerows([neutral(row.get(name)) for name in names] for row in rows)
    return out.getvalue()


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write files in their order, each atomically, with their folders. Raises BadInput: one cannot be written."""
    for path, content in files.items():
        with writable(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)


def pack(rows: Iterable[Stored]) -> tuple[bytes, FileDigest]:
    """Return rows as gzipped bytes, equal for equal rows, with the digest of the uncompressed bytes."""
    packed = io.BytesIO()
    inside = hashlib.sha256()
    count = 0
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="", compresslevel=9) as stream:
        for row in rows:
            line = (row.to_json() + "\n").encode()
            inside.update(line)
            stream.write(line)
            count += 1
    return packed.getvalue(), FileDigest(digest="sha256:" + inside.hexdigest(), rows=count)


def inner_digest(path: Path, most: int | None = None) -> FileDigest:
    """Return the digest of the uncompressed bytes of a gzipped file, and its number of lines.

    ``most``: its number of rows according to ``run.json``. Raises BadInput: the file is missing, damaged, or has more.
    """
    inside = hashlib.sha256()
    count = length = 0  # lines, and bytes since the last newline
    with _row_file(path) as stream:
        while piece := stream.read(BUFFER):
            inside.update(piece)
            first, last = piece.find(b"\n"), piece.rfind(b"\n")
            length += len(piece) if first < 0 else first + 1
            if length > LONGEST_LINE:
                raise _too_long(f"{path}:{count + 1}")
            if last >= 0:
                count, length = count + piece.count(b"\n"), len(piece) - last - 1
            if most is not None and count > most:
                raise TooManyRows(path, most)
    if length:
        raise BadInput("the last line is cut off.", where=f"{path}:{count + 1}", remedy=REMEDY)
    return FileDigest(digest="sha256:" + inside.hexdigest(), rows=count)


def cache_path(digest: Digest) -> Path:
    return cache_home() / "rows" / f"{digest.removeprefix('sha256:')}.jsonl.gz"


def cached_rows(stated: FileDigest) -> Path | None:
    """Return the file with these rows in the cache; ``None`` if it is not there, or has other rows.

    ``stated``: the digest and number of rows, from ``run.json``.
    """
    path = cache_path(stated.digest)
    with suppress(OSError):
        state = path.stat()
        if _is_checked(path, stated, state.st_mtime_ns, state.st_size):
            return path
    return None


@lru_cache(maxsize=65536)
def _is_checked(path: Path, stated: FileDigest, _modified: int, _size: int) -> bool:
    return _has_digest(path, stated)


def check_rows(path: Path, stated: FileDigest, shown: object | None = None) -> None:
    """Check that a gzipped file has the stated rows. It reads no further than one row too many.

    Errors call the file ``shown``, or name its path. Raises BadInput: it is missing, damaged, or has other rows.
    """
    try:
        found = inner_digest(path, stated.rows)
    except TooManyRows:
        found = None
    except BadInput as error:
        raise BadInput(error.problem, where=shown or error.where, remedy=error.remedy) from None
    if found != stated:
        raise BadInput("does not match its digest in run.json.", where=shown or path, remedy=REMEDY)
