"""Reads files of JSON lines as a stream, plain or gzip by their first bytes, and notes skipped lines."""

import gzip
import hashlib
import json
import sqlite3
import threading
import weakref
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from memeval.records.base import Digest, misfit
from memeval.records.errors import BadInput
from memeval.storage import cache_home, locked

LARGEST_LINE_BYTES = 256 << 20
"""Largest accepted line. The longest known history has a few MB."""

LARGEST_FILE_BYTES = 16 << 30

MOST_NOTES = 20
"""Maximum number of notes on skipped lines; the others are counted."""

_GZIP = b"\x1f\x8b"


class JsonLines:
    """The objects of a file of JSON lines, in order. Skips other lines and notes them."""

    def __init__(self, path: Path, remedy: str) -> None:
        self.path, self._remedy = path, remedy
        self._hash = hashlib.sha256()
        self.count = 0
        self.skipped = 0
        self._notes: list[str] = []
        self.odd: Counter[str] = Counter()
        """Oddities that the notes report with their numbers: ``ratings outside 1 to 5 count as missing``."""

    @property
    def digest(self) -> Digest:
        """Digest of the unpacked bytes, once :meth:`objects` is exhausted."""
        return "sha256:" + self._hash.hexdigest()

    @property
    def notes(self) -> list[str]:
        """Warnings as sentences: the first twenty skipped lines, the number of others, and counts of oddities."""
        more = self.skipped - len(self._notes)
        counted = [f"{count:,} {what}." for what, count in self.odd.items() if count]
        return [*self._notes, *([f"{more:,} more lines were skipped."] if more else []), *counted]

    def objects(self, read: Callable[[dict[str, Any]], None]) -> None:
        """Call ``read`` for every object.

        ``read``: receives each object; may raise ``ValidationError`` to skip its line. Raises ``BadInput``: the file is
        unreadable, empty, truncated or damaged gzip, exceeds a size limit, or has no valid line.
        """
        number = 0
        last = b""
        problem = ""
        for line in self._raw():
            number += 1
            last = line
            if not line.strip():
                continue
            self.count += 1
            problem = self._misfit(line, read)
            if problem:
                self.skipped += 1
                if len(self._notes) < MOST_NOTES:
                    self._notes.append(f"Line {number} was skipped: {problem}.")
        if not self.count:
            raise self._refused("the file is empty.")
        if self.skipped == self.count:
            raise self._refused(f"none of its {self.count:,} lines is valid. {self._notes[0]}")
        if problem and not last.endswith(b"\n"):
            raise self._refused(f"the file is truncated in its last line, {number}: {problem}.")

    def _misfit(self, line: bytes, read: Callable[[dict[str, Any]], None]) -> str:
        try:
            found = from_json(line)
            if not isinstance(found, dict):
                return "it is not a JSON object"
            read(found)
        except ValidationError as error:
            return misfit(BaseModel, error).removesuffix(".")
        except (ValueError, RecursionError):
            return "it is not valid JSON in UTF-8"
        return ""

    def _raw(self) -> Iterator[bytes]:
        total = 0
        try:
            with self.path.open("rb") as file:
                packed = file.peek(2)[:2] == _GZIP
                stream = gzip.GzipFile(fileobj=file) if packed else file
                while line := stream.readline(LARGEST_LINE_BYTES + 1):
                    total += len(line)
                    if len(line) > LARGEST_LINE_BYTES:
                        raise self._refused(f"a line has more than {LARGEST_LINE_BYTES:,} bytes.")
                    if total > LARGEST_FILE_BYTES:
                        raise self._refused(f"the unpacked file has more than {LARGEST_FILE_BYTES:,} bytes.")
                    self._hash.update(line)
                    yield line
        except EOFError:
            raise self._refused(
                f"the file is truncated: the gzip stream ends after {total:,} unpacked bytes."
            ) from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise self._refused(f"the gzip file is damaged ({error}).") from None
        except OSError as error:
            raise self._refused(f"cannot read the file ({error.strerror or error}).") from None

    def _refused(self, problem: str) -> BadInput:
        return BadInput(problem, where=self.path, remedy=self._remedy)


FillTables = Callable[[sqlite3.Connection, JsonLines], None]

_KEPT_NAME = 32


@dataclass(frozen=True)
class Index:
    source: Path
    path: Path
    digest: Digest
    notes: tuple[str, ...]
    _tables: sqlite3.Connection = field(repr=False, compare=False)
    _lock: threading.Lock = field(repr=False, compare=False, default_factory=threading.Lock)

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._tables.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise BadInput(
                f"the index of {self.source} cannot be read ({error}).",
                where=self.path,
                remedy="Delete it. memeval creates it again.",
            ) from None


def index_of(path: Path, kind: str, reading: FillTables, remedy: str) -> Index:
    """Return the index of a file; create it if absent.

    Raises ``BadInput``: the file is missing or invalid; see :meth:`JsonLines.objects`. ``kind``: name and version of
    ``reading``. Each kind has its own index.
    """
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256")
    except FileNotFoundError:
        raise BadInput("file not found.", where=path, remedy=remedy) from None
    except OSError as error:
        raise BadInput(f"cannot read the file ({error.strerror}).", where=path, remedy=remedy) from None
    found.update(kind.encode())
    name = f"{kind.partition('@')[0]}-{found.hexdigest()[:_KEPT_NAME]}.sqlite"
    index_path = cache_home() / "indexes" / name
    try:
        index_path.parent.mkdir(parents=True, exist_ok=True)
        with locked(index_path.parent):
            if not index_path.is_file():
                _make(index_path, path, reading, remedy)
    except (OSError, sqlite3.OperationalError) as error:
        raise BadInput(
            f"cannot store an index of the file ({error}).",
            where=path,
            remedy="Free some space, or set MEMEVAL_CACHE to another folder.",
        ) from None
    address = f"{index_path.resolve().as_uri()}?mode=ro&immutable=1"
    tables = sqlite3.connect(address, uri=True, check_same_thread=False)
    try:
        about = json.loads(tables.execute("SELECT value FROM about").fetchone()[0])
    except (sqlite3.Error, TypeError, ValueError) as error:
        tables.close()
        raise BadInput(
            f"the index of {path} is damaged ({error}).",
            where=index_path,
            remedy="Delete it. memeval creates it again.",
        ) from None
    index = Index(path, index_path, about["digest"], tuple(about["notes"]), tables)
    weakref.finalize(index, tables.close)
    return index


def _make(index_path: Path, path: Path, reading: FillTables, remedy: str) -> None:
    """Read a file into an index. The index appears completely or not at all."""
    part = index_path.with_name(index_path.name + ".part")
    part.unlink(missing_ok=True)
    lines = JsonLines(path, remedy)
    before = path.stat()
    try:
        with closing(sqlite3.connect(part)) as tables:
            tables.execute("PRAGMA journal_mode = OFF")
            tables.execute("PRAGMA synchronous = OFF")
            with tables:
                reading(tables, lines)
                tables.execute("CREATE TABLE about (value TEXT)")
                about = json.dumps({"digest": lines.digest, "notes": lines.notes})
                tables.execute("INSERT INTO about VALUES (?)", (about,))
        after = path.stat()
        if (before.st_size, before.st_mtime_ns, before.st_ino) != (after.st_size, after.st_mtime_ns, after.st_ino):
            raise BadInput("the file changed while memeval read it.", where=path, remedy="Start again.")
        part.replace(index_path)
    finally:
        part.unlink(missing_ok=True)
