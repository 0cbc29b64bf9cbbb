"""Where scenarios run: the interface of executors, and the one writer that stores what they produce."""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from memeval.execution.journal import Journal, utc_now
from memeval.execution.progress import Progress
from memeval.execution.secrets import redact
from memeval.execution.work import FinishedItems, ScenarioWork
from memeval.records.journal import LogLine
from memeval.records.response import Response

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

        Args:
            arrived: receives what is produced, from any thread. Every open item arrives once. An exception stops the
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
    again.

    Args:
        journal: stores the rows; only the calling thread writes to it.
        spent: returns the dollars spent so far (``None`` if unknown), the model calls made, and the recorded calls
            reused, for progress.
        watch: receives items once they are on disk, in order of arrival; raises what stops the run.

    Raises:
        MemevalError: rows cannot be written, or the run must stop.
        SystemFailure: the adapter could not be started.
    """
    writer = _Writer(journal, progress, spent, watch)
    try:
        executor.start(works, writer.arrived.put)
        writer.store_until_done()
    except BaseException:
        executor.stop()
        with contextlib.suppress(Exception):
            writer.store(writer.drained())
        raise


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

    def store_until_done(self) -> None:
        is_done = False
        while not is_done:
            batch = [self.arrived.get()]
            time.sleep(GATHER_SECONDS)
            batch += self.drained()
            self.store(batch)
            for each in batch:
                if isinstance(each, BaseException):
                    raise each
            is_done = any(each is None for each in batch)

    def drained(self) -> list[Arrival]:
        drained = []
        with contextlib.suppress(queue.Empty):
            while True:
                drained.append(self.arrived.get_nowait())
        return drained

    def store(self, batch: Iterable[Arrival]) -> None:
        """Write a batch to disk, then count it."""
        batch = list(batch)
        finished = [each for each in batch if isinstance(each, FinishedItems)]
        self._journal.log(*(each for each in batch if isinstance(each, LogLine)))
        self._journal.write(finished)
        items = sum(len(each.items) for each in finished)
        if items:
            if self._spent is not None:
                self._progress.spend(*self._spent())
            self._progress.advance(items, sum(_failed(each.responses) for each in finished))
            self._watch(finished)


def output_line(line: str) -> LogLine:
    return LogLine(at=utc_now(), event="printed", detail=redact(line)[:LONGEST_DETAIL])


def event_line(event: str, detail: str, scenario_id: str) -> LogLine:
    """Return the line of the log for what happened in a scenario; a blank id stands for none."""
    return LogLine(at=utc_now(), event=event, detail=redact(detail)[:LONGEST_DETAIL], scenario_id=scenario_id or None)


def _failed(responses: Iterable[Response]) -> int:
    return len({response.item_id for response in responses if response.outcome.is_error})
