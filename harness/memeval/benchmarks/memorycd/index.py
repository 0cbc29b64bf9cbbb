"""Large files of JSON lines, read once into an SQLite index, then queried.

The index is in the data folder. Its name is a digest of the file, so it never belongs to another state of the file. If
the data folder is not writable, the index is temporary and deleted when the process ends.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tempfile
import threading
import weakref
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memeval.benchmarks.data import data_folder
from memeval.benchmarks.memorycd.lines import JsonLines, is_packed
from memeval.records.base import Digest
from memeval.records.errors import BadInput
from memeval.storage import locked

FillTables = Callable[[sqlite3.Connection, JsonLines], None]
"""Creates the tables of an index and fills them from the lines of a file."""

_KEPT_NAME = 32


@dataclass(frozen=True)
class Index:
    """A file of JSON lines as SQLite tables."""

    source: Path
    """The file."""
    path: Path
    """The SQLite file."""
    digest: Digest
    """Digest of the unpacked bytes of the file."""
    notes: tuple[str, ...]
    """Warnings about the file, as sentences."""
    _tables: sqlite3.Connection = field(repr=False, compare=False)
    _lock: threading.Lock = field(repr=False, compare=False, default_factory=threading.Lock)
    _folder: object = field(repr=False, compare=False, default=None)
    """A temporary folder that must exist as long as the index is used, or ``None``."""

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of an SQL query. Thread-safe.

        Raises:
            BadInput: the index is missing or damaged.
        """
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
    """Return the index of a file; create it if there is none.

    Args:
        path: the file: JSON lines, plain or gzip.
        kind: name and version of ``reading``. Each kind has its own index.
        reading: creates and fills the tables.
        remedy: how to fix an invalid file, as a sentence.

    Raises:
        BadInput: the file is missing or invalid; see :meth:`JsonLines.objects`.
    """
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256")
        packed = is_packed(path)
    except FileNotFoundError:
        raise BadInput("file not found.", where=path, remedy=remedy) from None
    except OSError as error:
        raise BadInput(f"cannot read the file ({error.strerror}).", where=path, remedy=remedy) from None
    found.update(kind.encode())
    name = f"{kind.partition('@')[0]}-{found.hexdigest()[:_KEPT_NAME]}.sqlite"
    misnamed = []
    if packed != (path.suffix == ".gz"):
        misnamed = [f"{path.name} is {'gzip' if packed else 'plain text'}, unlike its name."]
    folder: object = None
    try:
        index_path = data_folder() / "indexes" / name
        index_path.parent.mkdir(parents=True, exist_ok=True)
        with locked(index_path.parent):
            if not index_path.is_file():
                _make(index_path, path, reading, remedy)
    except (OSError, sqlite3.OperationalError, BadInput) as error:
        if isinstance(error, BadInput) and error.where == str(path):
            raise
        temporary = tempfile.TemporaryDirectory(prefix="memeval-index-")
        folder, index_path = temporary, Path(temporary.name) / name
        try:
            _make(index_path, path, reading, remedy)
        except (OSError, sqlite3.OperationalError) as full:
            raise BadInput(
                f"cannot store an index of the file ({full}).",
                where=path,
                remedy="Free some space, or set MEMEVAL_DATA to another folder.",
            ) from None
    tables = _opened(index_path)
    try:
        about = json.loads(tables.execute("SELECT value FROM about").fetchone()[0])
    except (sqlite3.Error, TypeError, ValueError) as error:
        tables.close()
        raise BadInput(
            f"the index of {path} is damaged ({error}).",
            where=index_path,
            remedy="Delete it. memeval creates it again.",
        ) from None
    index = Index(path, index_path, about["digest"], (*misnamed, *about["notes"]), tables, _folder=folder)
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


def _opened(index_path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{index_path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
