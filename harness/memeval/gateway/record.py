"""The record of calls: on disk before a reply counts, shared by processes, whole after any kill."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from memeval.records.base import Digest
from memeval.records.call import Call
from memeval.records.errors import BadInput
from memeval.storage import unwritable

_CLAIMS = 1 << 40
"""Claims are locks on single bytes of the file, far behind all that will ever stand in it."""


class CallRecord:
    """An append-only file of calls, in order of arrival.

    Several processes may append to one file: each takes in what the others wrote whenever it appends. Calls that arrive
    while a write is under way share the next one, and its fsync.

    Args:
        path: the file, made with its folder where it is not there; ``None`` keeps calls in memory only.

    Raises:
        BadInput: the file cannot be written, or a row of it is damaged. A last line that was cut off is removed: its
            call never counted.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._rows: list[Call | bytes] = []
        self._usable: dict[Digest, int] = {}
        self._pending: list[tuple[Call, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._guard = threading.Lock()
        self._stream: IO[bytes] | None = None
        self._end = 0
        self._writing_to = 0
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._stream = path.open("ab+", buffering=0)
            except OSError as error:
                raise unwritable(path, error) from None
            self.append_all(())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def find(self, key: Digest) -> Call | None:
        """Return the last call under ``key`` that has a usable reply."""
        place = self._usable.get(key)
        return None if place is None else self._call(place)

    def claim(self, key: Digest) -> bool:
        """Try to become the one process that makes a call; ``False`` while another one does.

        Who has the claim looks again for the call first (see :meth:`ingest`): another process may have made it. A
        process that ends in any way lets go of its claims.
        """
        try:
            if self._stream is not None:
                fcntl.lockf(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _claim_of(key))
        except (BlockingIOError, PermissionError):
            return False
        return True

    def release(self, key: Digest) -> None:
        """Let go of a claim."""
        if self._stream is not None:
            fcntl.lockf(self._stream, fcntl.LOCK_UN, 1, _claim_of(key))

    async def ingest(self) -> None:
        """Take in what other processes stored meanwhile, where they did."""
        if self._stream is not None and os.fstat(self._stream.fileno()).st_size > self._writing_to:
            await asyncio.to_thread(self.append_all, ())

    def rows_of(self, run_id: str) -> Iterator[Call]:
        """Give the calls that a run paid for, in order of arrival."""
        name = json.dumps(run_id).encode()
        for place, row in enumerate(self._rows):
            if not isinstance(row, bytes) or name in row:
                call = self._call(place)
                if call.run_id == run_id:
                    yield call

    def rows(self) -> Iterator[Call]:
        """Give all calls, failed ones too, in order of arrival."""
        return (self._call(place) for place in range(len(self._rows)))

    async def append(self, call: Call) -> None:
        """Store a call; it is on disk when this returns.

        Whoever waits may be cancelled: the call is stored all the same, see :meth:`drain`.

        Raises:
            BadInput: the disk is full, or the file cannot be written.
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
        """Wait until all that was given to :meth:`append` is on disk."""
        while self._writing is not None:
            await asyncio.shield(self._writing)

    def append_all(self, calls: Sequence[Call]) -> None:
        """Store calls at once, and take in what other processes stored.

        Raises:
            BadInput: the disk is full, the file cannot be written, or a row in it is damaged.
        """
        with self._guard:
            if self._stream is None or self.path is None:
                for call in calls:
                    self._take(call, call.key, call.error is None)
                return
            try:
                fcntl.flock(self._stream, fcntl.LOCK_EX)
                try:
                    self._catch_up(self._stream, self.path)
                    self._write(self._stream, calls)
                finally:
                    fcntl.flock(self._stream, fcntl.LOCK_UN)
            except OSError as error:
                raise unwritable(self.path, error) from None

    def close(self) -> None:
        """Let go of the file; what was stored can still be found."""
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
                except BadInput as error:
                    failure = error
                for _call, stored in batch:
                    if stored.done():
                        continue
                    if failure is None:
                        stored.set_result(None)
                    else:
                        stored.set_exception(failure)
                        stored.exception()  # whoever waited may be gone
        finally:
            self._writing = None

    def _write(self, stream: IO[bytes], calls: Sequence[Call]) -> None:
        if not calls:
            return
        data = b"".join(call.model_dump_json().encode() + b"\n" for call in calls)
        self._writing_to = self._end + len(data)
        try:
            view = memoryview(data)
            while view:
                view = view[stream.write(view) :]
            os.fsync(stream.fileno())
        except OSError:
            os.ftruncate(stream.fileno(), self._end)
            self._writing_to = self._end
            raise
        self._end += len(data)
        for call in calls:
            self._take(call, call.key, call.error is None)

    def _catch_up(self, stream: IO[bytes], path: Path) -> None:
        """Read what was written since, and cut off a line that was being written when its process was killed."""
        size = os.fstat(stream.fileno()).st_size
        if size == self._end:
            return
        stream.seek(self._end)
        data = stream.read(size - self._end)
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(stream.fileno(), self._end + whole)
        for line in data[:whole].split(b"\n")[:-1]:
            number = len(self._rows) + 1
            try:
                row = json.loads(line)
                self._take(line, str(row["key"]), row.get("error") is None and row.get("reply") is not None)
            except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
                raise BadInput(
                    "not a recorded call.", where=f"{path}:{number}", remedy="Remove the line: its call is made again."
                ) from None
        self._end += whole
        self._writing_to = self._end

    def _take(self, row: Call | bytes, key: Digest, usable: bool) -> None:
        if usable:
            self._usable[key] = len(self._rows)
        self._rows.append(row)

    def _call(self, place: int) -> Call:
        row = self._rows[place]
        if isinstance(row, bytes):
            row = self._rows[place] = Call.parse(row, f"{self.path}:{place + 1}")
        return row


def _claim_of(key: Digest) -> int:
    """Return the byte that stands for a key."""
    return _CLAIMS + int(key[-10:], 16)
