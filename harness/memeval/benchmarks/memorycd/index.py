"""Large files of JSON lines, read once into an SQLite file that is named by their bytes, then asked piece by piece.

The index lies in memeval's data folder. Its name is a digest of the file's own bytes, so that it cannot be of another
state of the file; where that folder cannot be written, it is made in a temporary one, and goes with this process.
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

Reading = Callable[[sqlite3.Connection, JsonLines], None]
"""Makes the tables of an index, and fills them from the lines of a file."""

_KEPT_NAME = 32


@dataclass(frozen=True)
class Index:
    """A file of JSON lines, as tables."""

    source: Path
    """The file."""
    path: Path
    """The tables."""
    digest: Digest
    """Digest of the file's bytes, unpacked."""
    notes: tuple[str, ...]
    """What is odd about it, as sentences."""
    _tables: sqlite3.Connection = field(repr=False, compare=False)
    _turn: threading.Lock = field(repr=False, compare=False, default_factory=threading.Lock)
    _folder: object = field(repr=False, compare=False, default=None)
    """Keeps a temporary folder for as long as the index is in use."""

    def rows(self, question: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows that answer a question in SQL; from any thread.

        Raises:
            BadInput: the index is gone or damaged.
        """
        try:
            with self._turn:
                return self._tables.execute(question, values).fetchall()
        except sqlite3.Error as error:
            raise BadInput(
                f"the index of {self.source} cannot be read ({error}).",
                where=self.path,
                remedy="Delete it; it is made again.",
            ) from None


def index_of(path: Path, kind: str, reading: Reading, remedy: str) -> Index:
    """Return the index of a file, after one reading where there is none yet.

    Args:
        path: the file: JSON lines, plain or gzip.
        kind: names ``reading`` and its version. An index of another kind is another index.
        reading: makes the tables.
        remedy: what to do about a bad file, as a sentence.

    Raises:
        BadInput: the file is missing or is none of that kind; see :meth:`JsonLines.objects`.
    """
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256")
        packed = is_packed(path)
    except FileNotFoundError:
        raise BadInput("there is no such file.", where=path, remedy=remedy) from None
    except OSError as error:
        raise BadInput(f"the file cannot be read ({error.strerror}).", where=path, remedy=remedy) from None
    found.update(kind.encode())
    name = f"{kind.partition('@')[0]}-{found.hexdigest()[:_KEPT_NAME]}.sqlite"
    misnamed = []
    if packed != (path.suffix == ".gz"):
        misnamed = [f"{path.name} is {'gzip' if packed else 'plain text'}, whatever its name says."]
    folder: object = None
    try:
        kept = data_folder() / "indexes" / name
        kept.parent.mkdir(parents=True, exist_ok=True)
        with locked(kept.parent):
            if not kept.is_file():
                _make(kept, path, reading, remedy)
    except (OSError, sqlite3.OperationalError, BadInput) as error:
        if isinstance(error, BadInput) and error.where == str(path):
            raise
        temporary = tempfile.TemporaryDirectory(prefix="memeval-index-")
        folder, kept = temporary, Path(temporary.name) / name
        try:
            _make(kept, path, reading, remedy)
        except (OSError, sqlite3.OperationalError) as full:
            raise BadInput(
                f"no index of it can be stored ({full}).",
                where=path,
                remedy="Make room, or name another folder with MEMEVAL_DATA.",
            ) from None
    tables = _opened(kept)
    try:
        about = json.loads(tables.execute("SELECT value FROM about").fetchone()[0])
    except (sqlite3.Error, TypeError, ValueError) as error:
        tables.close()
        raise BadInput(
            f"the index of {path} is damaged ({error}).", where=kept, remedy="Delete it; it is made again."
        ) from None
    index = Index(path, kept, about["digest"], (*misnamed, *about["notes"]), tables, _folder=folder)
    weakref.finalize(index, tables.close)
    return index


def _make(kept: Path, path: Path, reading: Reading, remedy: str) -> None:
    """Read a file into an index, which appears whole or not at all."""
    part = kept.with_name(kept.name + ".part")
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
            raise BadInput("the file was changed while it was read.", where=path, remedy="Start again.")
        part.replace(kept)
    finally:
        part.unlink(missing_ok=True)


def _opened(kept: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{kept.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
