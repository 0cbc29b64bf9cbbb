"""Where scenarios run: the interface of executors, the one writer of what they produce, and when a run stops early."""

import contextlib
import queue
import re
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Protocol, TypeVar

from memeval.execution.journal import Journal, utc_now
from memeval.execution.progress import Progress
from memeval.execution.secrets import LineRedactor, redact
from memeval.execution.steps import FinishedItems, ScenarioWork
from memeval.records.errors import CheckFailed
from memeval.records.journal import LogLine
from memeval.records.response import Outcome, Response
from memeval.systems.channel import Log

T = TypeVar("T")

FIRST_ITEMS = 25
"""A run stops if this many first items all fail with the same error."""

SYSTEM_ERRORS = frozenset((Outcome.TIMEOUT, Outcome.NOT_READY, Outcome.ADAPTER_ERROR))
"""Errors of the system itself, not of a reader's model."""

_VARIABLE_PARTS = re.compile(
    r"0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b(?=[0-9a-f]*\d)[0-9a-f]{6,}\b|\d+", re.IGNORECASE
)
"""Parts that differ between two reports of the same error: numbers, addresses, ids."""


class StoppedEarly(CheckFailed):
    """The first items of a run all failed with the same error. Progress is saved, and the run can be resumed."""


class EarlyStop:
    """Watches the items of a run as they finish.

    ``earlier``: the rows of items that finished before and are not retried.
    """

    def __init__(self, planned: int, earlier: Iterable[Response], where: str) -> None:
        self._planned = planned
        self._where = where
        self._first: Response | None = None
        self._equal_errors = 0
        self._over = False
        by_item = sorted(earlier, key=lambda row: row.item_id)
        for _, rows in groupby(by_item, key=lambda row: row.item_id):
            self._count(list(rows))

    def watch(self, finished: Sequence[FinishedItems]) -> None:
        """Count finished items, in the order in which they finished.

        Raises StoppedEarly: all of the first items failed with the same error, and more items are open.
        """
        for each in finished:
            for item_id in each.items:
                if self._over:
                    return
                self._count([row for row in each.responses if row.item_id == item_id])
                if FIRST_ITEMS <= self._equal_errors < self._planned:
                    self._stop()

    def _count(self, rows: Sequence[Response]) -> None:
        error = next((row for row in rows if row.outcome.is_error), None)
        if self._over or error is None or not _same(self._first or error, error):
            self._over, self._equal_errors = True, 0
            return
        self._first = self._first or error
        self._equal_errors += 1

    def _stop(self) -> None:
        assert self._first is not None  # noqa: S101 - set with the first counted error
        raise StoppedEarly(
            f"stopped: the first {self._equal_errors} items all failed with the same error. "
            f"First error: {_error_text(self._first)}",
            where=self._where,
            remedy="Fix the system and run the same command with --retry-errors. "
            "To run all items anyway, add --keep-going.",
        )


def shared_error(rows: Iterable[Response]) -> str | None:
    """Return the first error of a run whose items all failed with the same error; ``None`` for other runs."""
    watch = EarlyStop(0, rows, "")
    return _error_text(watch._first) if watch._first is not None and watch._equal_errors else None


def _error_text(row: Response) -> str:
    error = (row.error or row.outcome.value).strip()
    return error if error.endswith((".", "!", "?")) else f"{error}."


def _same(one: Response, other: Response) -> bool:
    """Return whether two errors of the system have the same kind and message, apart from numbers and ids."""
    if one.outcome is not other.outcome or one.outcome not in SYSTEM_ERRORS:
        return False
    return len({_VARIABLE_PARTS.sub("#", row.error or "") for row in (one, other)}) == 1


GATHER_SECONDS = 0.01
"""How long rows are collected before they are written together."""

LONGEST_DETAIL = 2_000
"""The longest line of a system's output in the log, in characters."""

Arrival = FinishedItems | LogLine | BaseException | None
"""What an executor produces: finished items, lines of the log, what stops the run, and ``None`` at the end."""


class Executor(Protocol):
    def start(self, works: Sequence[ScenarioWork], arrived: Callable[[Arrival], None]) -> None:
        """Start to run scenarios; return at once.

        An element of ``works`` is read when its turn comes, and dropped when it is done.

        ``arrived``: receives what is produced, from any thread. Every open item arrives once. An exception stops the
        run. ``None`` is the last call: everything is done.
        """

    def stop(self) -> None:
        """End everything that runs, within seconds. Items that finish until then still arrive."""


def execute(
    executor: Executor,
    works: Sequence[ScenarioWork],
    journal: Journal,
    progress: Progress,
    *,
    spent: Callable[[], tuple[float | None, int, int]] | None = None,
    watch: Callable[[Sequence[FinishedItems]], None] = lambda finished: None,
) -> None:
    """Run all scenarios; every row is on disk when this returns.

    An interruption (Ctrl-C), or what stops the run, ends all systems, stores the items finished before, and is raised
    again. ``journal``: stores the rows; only the calling thread writes to it. ``spent``: returns the dollars spent so
    far (``None`` if unknown), the model calls made, and the recorded calls reused, for progress. ``watch``: receives
    items once they are on disk, in order of arrival; raises what stops the run. Raises ``MemevalError`` if rows cannot
    be written, or the run must stop. Raises ``SystemFailure`` if the adapter could not be started.
    """
    writer = _Writer(journal, progress, spent, watch)
    try:
        executor.start(works, writer.arrived.put)
        writer.store_until_done()
    except BaseException:
        executor.stop()
        with contextlib.suppress(Exception):
            writer.store_rest()
        raise


def waiting(arrived: queue.SimpleQueue[T]) -> list[T]:
    """Return all that waits in a queue, and remove it."""
    found = []
    with contextlib.suppress(queue.Empty):
        while True:
            found.append(arrived.get_nowait())
    return found


class _Writer:
    def __init__(
        self,
        journal: Journal,
        progress: Progress,
        spent: Callable[[], tuple[float | None, int, int]] | None,
        watch: Callable[[Sequence[FinishedItems]], None],
    ) -> None:
        self._journal, self._progress, self._spent, self._watch = journal, progress, spent, watch
        self.arrived: queue.SimpleQueue[Arrival] = queue.SimpleQueue()
        self._batch: list[Arrival] = []
        """What has arrived and is not stored yet."""

    def store_until_done(self) -> None:
        is_done = False
        while not is_done:
            self._batch.append(self.arrived.get())
            time.sleep(GATHER_SECONDS)
            self._batch += waiting(self.arrived)
            batch = list(self._batch)
            self._store()
            for each in batch:
                if isinstance(each, BaseException):
                    raise each
            is_done = any(each is None for each in batch)

    def store_rest(self) -> None:
        """Store what has arrived, also what was being stored when the run stopped."""
        self._batch += waiting(self.arrived)
        self._store()

    def _store(self) -> None:
        """Write the batch to disk, then count it."""
        finished = [each for each in self._batch if isinstance(each, FinishedItems)]
        self._journal.log(*(each for each in self._batch if isinstance(each, LogLine)))
        self._batch = [*finished]
        self._journal.write(finished)
        self._batch = []
        items = sum(len(each.items) for each in finished)
        if items:
            if self._spent is not None:
                self._progress.spend(*self._spent())
            failed = [{row.item_id for row in each.responses if row.outcome.is_error} for each in finished]
            self._progress.advance(items, sum(map(len, failed)))
            self._watch(finished)


def output_log(put: Callable[[LogLine], None]) -> Log:
    """Return what receives the lines that one system prints, and puts each as a line of the log."""
    redactor = LineRedactor()
    return lambda line: put(LogLine(at=utc_now(), event="printed", detail=redactor.redact(line)[:LONGEST_DETAIL]))


def event_line(event: str, detail: str, scenario_id: str) -> LogLine:
    """Return the line of the log for what happened in a scenario; a blank id stands for none."""
    return LogLine(at=utc_now(), event=event, detail=redact(detail)[:LONGEST_DETAIL], scenario_id=scenario_id or None)
