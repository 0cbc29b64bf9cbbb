"""A columnar index of runs: a Parquet file in the cache, to which only the rows of new runs are added.

The name of the file holds the digest of its bytes, and the file names the runs in it by the digests of their
``run.json``. A damaged file is therefore noticed, and every file can be built again from the runs.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from memeval.archive.runs import RunFolder
from memeval.exchange.parquet import Kind, Row, all_names, arrow_table, has_pyarrow, pyarrow_modules
from memeval.records.base import Digest, digest_of
from memeval.records.errors import BadInput
from memeval.storage import cache_home, locked, unwritable, write_whole

LAYOUT = 1
"""Version of the index. Raise it when the meaning of a column changes; a file of another version is built again."""

RUN = "run_digest"

MOST_ROWS = 20_000

_KEY = b"memeval"


class FramesWarning(UserWarning):
    """Something is left out of a data frame, or its index had to be built again."""


ReadRuns = Callable[[Sequence[RunFolder]], Iterator[tuple[Digest, Iterable[Row]]]]
"""Yields the rows of runs, by digest of the run; runs that it does not yield are left out."""


@dataclass(frozen=True)
class IndexedRows:
    """Rows of runs, as a ``pyarrow.Table`` or, without pyarrow, as Python objects."""

    table: Any
    plain: list[Row]

    def rows(self) -> list[Row]:
        return self.plain if self.table is None else self.table.to_pylist()


@dataclass(frozen=True)
class RunIndex:
    """One table of the index. Without pyarrow, nothing is stored, and every use reads all runs.

    The files are in a folder of the cache that belongs to the results folder. ``columns`` are always there; ``other``
    returns the type of a column that only some runs have.
    """

    results: Path
    name: str
    columns: Mapping[str, Kind]
    other: Callable[[str], Kind]

    @property
    def folder(self) -> Path:
        place = hashlib.sha256(str(self.results.resolve()).encode()).hexdigest()
        return cache_home() / "frames" / place[:16]

    def update(self, runs: Mapping[Digest, RunFolder], read: ReadRuns, *, rebuild: bool = False) -> IndexedRows:
        """Return the rows of runs; only runs that are not in the index are read, and then added to it.

        Raises BadInput: a run cannot be read. The runs before it are in the index.
        """
        if not has_pyarrow():
            rows = [{**row, RUN: digest} for digest, found in read(list(runs.values())) for row in found]
            return IndexedRows(None, rows)
        held = _Held() if rebuild else self._load()
        new = [folder for digest, folder in runs.items() if digest not in held.runs]
        added = _Added(self.columns, self.other)
        try:
            for digest, found in read(new):
                added.add(digest, found)
        finally:
            table = self._joined(held, added, runs)
            kept = [digest for digest in (*held.runs, *added.runs) if digest in runs]
            if added.runs or len(kept) < len(held.runs):
                self._save(table, kept)
        return IndexedRows(table, [])

    def _joined(self, held: _Held, added: _Added, runs: Mapping[Digest, RunFolder]) -> Any:
        pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
        parts = added.tables()
        if held.table is not None:
            old = held.table
            if not held.runs <= runs.keys():
                wanted = pyarrow.array(list(runs), type=pyarrow.string())
                old = old.filter(compute.is_in(old[RUN].cast(pyarrow.string()), value_set=wanted))
            parts = [old, *parts]
        joined = pyarrow.concat_tables(parts, promote_options="default") if len(parts) > 1 else parts[0]
        return joined.unify_dictionaries()

    def _load(self) -> _Held:
        """Return what the index has; nothing if absent, it is damaged, or another memeval wrote it."""
        pyarrow, parquet = pyarrow_modules()
        for path in self._files():
            try:
                content = path.read_bytes()
                if file_name(self.name, content) != path.name:
                    raise ValueError("the digest in its name is another one")
                table = parquet.read_table(pyarrow.BufferReader(content))
                told = json.loads(table.schema.metadata[_KEY])
                layout, runs = told["layout"], frozenset(told["runs"])
            except FileNotFoundError:
                continue  # another process wrote a newer one
            except (OSError, ValueError, LookupError, TypeError) as error:
                warn(f"{path}: the index is damaged ({error}). It is built again from the runs.")
                continue
            if layout == self._layout:
                return _Held(table, runs)
        return _Held()

    def _save(self, table: Any, runs: Sequence[Digest]) -> None:
        """Write the index again, and delete the files before it. If that fails, the next use reads the runs again."""
        pyarrow, parquet = pyarrow_modules()
        told = {_KEY: json.dumps({"layout": self._layout, "runs": runs}).encode()}
        stream = pyarrow.BufferOutputStream()
        parquet.write_table(table.replace_schema_metadata(told), stream, compression="zstd")
        content = stream.getvalue().to_pybytes()
        path = self.folder / file_name(self.name, content)
        try:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                with locked(self.folder):
                    before = [other for other in self._files() if other != path]
                    write_whole(path, content)
                    for other in before:
                        other.unlink(missing_ok=True)
            except OSError as error:
                raise unwritable(self.folder, error) from None
        except BadInput as error:
            warn(f"the index is not saved: {error.where}: {error.problem}")

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob(f"{self.name}-*.parquet"))

    @property
    def _layout(self) -> Digest:
        return digest_of({"version": LAYOUT, "columns": {name: kind.value for name, kind in self.columns.items()}})


@dataclass(frozen=True)
class _Held:
    table: Any = None
    runs: frozenset[Digest] = frozenset()


@dataclass
class _Added:
    columns: Mapping[str, Kind]
    other: Callable[[str], Kind]
    runs: list[Digest] = field(default_factory=list)
    _rows: list[Row] = field(default_factory=list)
    _tables: list[Any] = field(default_factory=list)

    def add(self, digest: Digest, rows: Iterable[Row]) -> None:
        found = [{**row, RUN: digest} for row in rows]
        self._rows += found
        self.runs.append(digest)
        if len(self._rows) >= MOST_ROWS:
            self._pack()

    def tables(self) -> list[Any]:
        if self._rows or not self._tables:
            self._pack()
        return self._tables

    def _pack(self) -> None:
        more = sorted(all_names(self._rows) - self.columns.keys() - {RUN})
        kinds = {RUN: Kind.REPEATED, **self.columns, **{name: self.other(name) for name in more}}
        self._tables.append(arrow_table(kinds, self._rows))
        self._rows = []


def file_name(name: str, content: bytes) -> str:
    """Return ``NAME-HASH.parquet``, with the first 32 digits of the SHA-256 of the content."""
    return f"{name}-{hashlib.sha256(content).hexdigest()[:32]}.parquet"


def warn(message: str) -> None:
    warnings.warn(message, FramesWarning, stacklevel=2)
