"""The record of calls: on disk before a reply counts, shared by processes, intact after a killed process."""

import asyncio
import fcntl
import json
import os
import threading
from collections.abc import Iterator, Sequence
from io import FileIO
from pathlib import Path
from typing import Self

from memeval.records.base import Digest
from memeval.records.call import Call
from memeval.records.errors import BadInput
from memeval.storage import append_lines, checked_line, row_of, whole_lines, writable

_REMEDY = "Remove the line: its call is made again."

_CLAIMS = 1 << 40
"""Claims are locks on single bytes of the file, at offsets far beyond its end."""


class CallRecord:
    """An append-only file of calls, in order of arrival.

    Several processes may append to one file. Each reads the rows of the others when it appends. Calls that arrive
    during a write share the next write and its fsync.

    ``path``: the file; it and its folder are created if missing. ``None`` keeps calls in memory only. Raises BadInput:
    the file cannot be written, or one of its rows is damaged. An incomplete last line is removed: its call never
    counted.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._rows: list[Call | bytes] = []
        self._usable: dict[Digest, int] = {}
        self._pending: list[tuple[Call, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._guard = threading.Lock()
        self._stream: FileIO | None = None
        self._end = 0
        self._writing_to = 0
        if path is not None:
            with writable(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                self._stream = path.open("ab+", buffering=0)
            self.append_all(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def find(self, key: Digest) -> Call | None:
        """Return the last call under ``key`` that has a reply and no error, or ``None``."""
        index = self._usable.get(key)
        return None if index is None else self._call(index)

    def claim(self, key: Digest) -> bool:
        """Claim a call for this process; return ``False`` while another process holds the claim.

        The process with the claim looks for the call again first (see :meth:`ingest`), since another process may have
        made it. The claims of a process end with the process.
        """
        try:
            if self._stream is not None:
                fcntl.lockf(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _claim_of(key))
        except (BlockingIOError, PermissionError):
            return False
        return True

    def release(self, key: Digest) -> None:
        if self._stream is not None:
            fcntl.lockf(self._stream, fcntl.LOCK_UN, 1, _claim_of(key))

    async def ingest(self) -> None:
        """Read the calls that other processes stored meanwhile."""
        if self._stream is not None and os.fstat(self._stream.fileno()).st_size > self._writing_to:
            await asyncio.to_thread(self.append_all, ())

    def rows_of(self, run_id: str) -> Iterator[Call]:
        """Yield the calls that a run paid for, in order of arrival."""
        name = json.dumps(run_id).encode()
        for index, row in enumerate(self._rows):
            if not isinstance(row, bytes) or name in row:
                call = self._call(index)
                if call.run_id == run_id:
                    yield call

    def rows(self) -> Iterator[Call]:
        """Yield all calls, failed ones too, in order of arrival."""
        return (self._call(index) for index in range(len(self._rows)))

    async def append(self, call: Call) -> None:
        """Store a call; it is on disk when this returns. An error of a write is raised for all calls that shared it.

        A cancelled caller does not stop the write, see :meth:`drain`.
        """
        if self._stream is None:
            self.append_all([call])
            return
        stored = asyncio.get_running_loop().create_future()
        self._pending.append((call, stored))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_pending())
        await asyncio.shield(stored)

    async def drain(self) -> None:
        """Wait until all calls given to :meth:`append` are on disk."""
        while self._writing is not None:
            await asyncio.shield(self._writing)

    def append_all(self, calls: Sequence[Call]) -> None:
        """Store calls at once, and read the calls that other processes stored."""
        with self._guard:
            if self._stream is None or self.path is None:
                for call in calls:
                    self._add_row(call, call.key, call.error is None)
                return
            with writable(self.path):
                fcntl.flock(self._stream, fcntl.LOCK_EX)
                try:
                    self._catch_up(self._stream, self.path)
                    self._write(self._stream, calls)
                finally:
                    fcntl.flock(self._stream, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file; stored calls can still be found."""
        with self._guard:
            if self._stream is not None:
                self._stream.close()
                self._stream = None

    async def _write_pending(self) -> None:
        try:
            while self._pending:
                batch, self._pending = self._pending, []
                failure: BaseException | None = None
                try:
                    calls = [call for call, _stored in batch]
                    await asyncio.to_thread(self.append_all, calls)
                except Exception as error:
                    failure = error
                for _call, stored in batch:
                    if stored.done():
                        continue
                    if failure is None:
                        stored.set_result(None)
                    else:
                        stored.set_exception(failure)
                        stored.exception()  # the caller may be gone
        finally:
            self._writing = None

    def _write(self, stream: FileIO, calls: Sequence[Call]) -> None:
        if not calls:
            return
        data = b"".join(checked_line(call.model_dump_json()) for call in calls)
        self._writing_to = self._end + len(data)
        try:
            append_lines(stream, data)
        except OSError:
            self._writing_to = self._end
            raise
        self._end += len(data)
        for call in calls:
            self._add_row(call, call.key, call.error is None)

    def _catch_up(self, stream: FileIO, path: Path) -> None:
        """Read rows of other processes, and cut off an incomplete line of a killed process."""
        size = os.fstat(stream.fileno()).st_size
        if size == self._end:
            return
        stream.seek(self._end)
        data = stream.read(size - self._end)
        lines, whole = whole_lines(data, path, _REMEDY, len(self._rows) + 1)
        if whole < len(data):
            os.ftruncate(stream.fileno(), self._end + whole)
        for line in lines:
            where = f"{path}:{len(self._rows) + 1}"
            stored = row_of(line, where, _REMEDY)
            try:
                row = json.loads(stored)
                self._add_row(stored, str(row["key"]), row.get("error") is None and row.get("reply") is not None)
            except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
                raise BadInput("not a recorded call.", where=where, remedy=_REMEDY) from None
        self._end += whole
        self._writing_to = self._end

    def _add_row(self, row: Call | bytes, key: Digest, usable: bool) -> None:
        if usable:
            self._usable[key] = len(self._rows)
        self._rows.append(row)

    def _call(self, index: int) -> Call:
        row = self._rows[index]
        if isinstance(row, bytes):
            row = self._rows[index] = Call.parse(row, f"{self.path}:{index + 1}")
        return row


def _claim_of(key: Digest) -> int:
    return _CLAIMS + int(key[-10:], 16)
