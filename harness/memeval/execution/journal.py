"""The journal: rows are on disk before they are counted, and a killed run resumes where it stopped.

Every line has a checksum. A damaged line is refused by number, never skipped.
"""

import contextlib
import threading
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from memeval.execution.contexts import Contexts
from memeval.execution.steps import FinishedItems
from memeval.records.base import Stored
from memeval.records.call import Traffic
from memeval.records.journal import LogLine, Plan
from memeval.records.response import Context, Response
from memeval.storage import (
    append_lines,
    checked_line,
    locked,
    readable,
    row_of,
    unwritable,
    whole_lines,
    writable,
    write_whole,
)

T = TypeVar("T", bound=Stored)

REMEDIES = {
    "responses.jsonl": "Remove the line: its item is asked again.",
    "contexts.jsonl": "Remove the line: the items that need it are asked again.",
    "log.jsonl": "Remove the line: the log goes on without it.",
    "traffic.jsonl": "Remove the line: the record of requests goes on without it.",
}
"""What to do about a damaged line, by file."""


def utc_now(ago: float = 0.0) -> str:
    """Return the UTC time so many seconds ago, ISO 8601, to the millisecond."""
    return (datetime.now(UTC) - timedelta(seconds=ago)).isoformat(timespec="milliseconds")


class Journal:
    """The journal of an unfinished run. Use it as a context manager, which locks the folder against other processes.

    ``folder``: the run's folder; the journal is ``journal/`` in it. Raises BadInput: another memeval is running this
    run, or a row in it is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "journal"
        self.responses: dict[tuple[str, int], Response] = {}
        self.contexts = Contexts()
        self.log_lines: list[LogLine] = []
        self.exchanges: list[Traffic] = []
        self._traffic_lock = threading.Lock()
        self._lock = contextlib.ExitStack()
        self._streams: dict[str, FileIO] = {}

    @staticmethod
    def start(folder: Path, plan: Plan) -> bool:
        """Create the folder of a new run, with its plan; return ``False`` if the folder exists.

        Raises BadInput: the folder cannot be created.
        """
        journal = folder / "journal"
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir()
            journal.mkdir()
        except OSError as error:
            if isinstance(error, FileExistsError) and folder.is_dir():
                return False
            raise unwritable(folder, error) from None
        write_whole(journal / "plan.json", checked_line(plan.to_json()))
        return True

    @staticmethod
    def plan(folder: Path) -> Plan:
        """Return the plan of an unfinished run. Raises BadInput: the plan is missing or damaged."""
        path = folder / "journal" / "plan.json"
        with readable(path, "Remove the folder."):
            line = path.read_bytes().removesuffix(b"\n")
        return Plan.parse(row_of(line, path, "Restore the file. Or remove the folder, and start again."), path)

    def __enter__(self) -> Self:
        self._lock.enter_context(locked(self.path, busy="another memeval process is running this run."))
        try:
            for response in self._reopen("responses.jsonl", Response):
                self.responses[response.question_id, response.attempt] = response
            for context in self._reopen("contexts.jsonl", Context):
                self.contexts.add(context)
            self.log_lines.extend(self._reopen("log.jsonl", LogLine))
            self.exchanges.extend(self._reopen("traffic.jsonl", Traffic))
            # The line of a missing context was damaged and removed, so its item is asked again.
            self.responses = {key: row for key, row in self.responses.items() if self.contexts.has(row)}
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def write(self, finished: Iterable[FinishedItems]) -> None:
        """Store finished items; they are on disk when this returns. Contexts come first, so no row names a missing one.

        Raises BadInput: the disk is full, or the folder cannot be written.
        """
        done = list(finished)
        fresh = [context for each in done for context in each.contexts if self.contexts.add(context)]
        self._append("contexts.jsonl", fresh)
        self._append("responses.jsonl", (row for each in done for row in each.responses))
        for each in done:
            for response in each.responses:
                self.responses[response.question_id, response.attempt] = response

    def log(self, *lines: LogLine) -> None:
        self._append("log.jsonl", lines)
        self.log_lines.extend(lines)

    def exchanged(self, row: Traffic) -> None:
        """Store an exchange with a host; callable from any thread."""
        with self._traffic_lock:
            self._append("traffic.jsonl", (row,))
            self.exchanges.append(row)

    def _reopen(self, name: str, model: type[T]) -> list[T]:
        """Read a file of the journal, remove an incomplete last row, and open it for appending."""
        path = self.path / name
        with writable(path):
            stream = path.open("ab+", buffering=0)
        self._streams[name] = stream
        stream.seek(0)
        data, remedy = stream.read(), REMEDIES[name]
        lines, whole = whole_lines(data, path, remedy)
        places = [f"{path}:{number}" for number in range(1, len(lines) + 1)]
        rows = [row_of(line, where, remedy) for line, where in zip(lines, places, strict=True)]
        if whole < len(data):
            stream.truncate(whole)
        return [model.parse(row, where) for row, where in zip(rows, places, strict=True)]

    def _append(self, name: str, rows: Iterable[Stored]) -> None:
        # In the fields' order, which is four times as fast; sealing writes them in canonical form.
        data = b"".join(checked_line(row.model_dump_json()) for row in rows)
        if not data:
            return
        stream = self._streams[name]
        with writable(self.path / name):
            append_lines(stream, data)

    def _close(self) -> None:
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()
        self._lock.close()
