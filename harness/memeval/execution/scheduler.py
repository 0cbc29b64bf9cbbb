"""Runs scenarios concurrently: threads that each own an adapter instance, and one writer that stores rows."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from memeval.execution.journal import Journal, utc_now
from memeval.execution.model_access import SystemInstance
from memeval.execution.progress import Progress
from memeval.execution.runner import ScenarioRunner
from memeval.execution.secrets import redact
from memeval.execution.work import FinishedItems, ScenarioWork
from memeval.reading import Reader
from memeval.records.journal import LogLine
from memeval.records.response import Response
from memeval.systems.process import SystemProcess

STAGGER_SECONDS = 0.1
"""Delay between the starts of two threads: a very short run needs no second process."""

GATHER_SECONDS = 0.01
"""How long rows are collected before they are written together."""

LONGEST_DETAIL = 2_000
"""The longest line of a system's output in the log, in characters."""


class Scheduler:
    """Runs several scenarios concurrently.

    Args:
        first: the first instance, its process started; the scheduler closes it.
        new_instance: returns another one, not started, given the function that receives its output lines.
        reader: answers for systems that only retrieve.
        search_items: how many items to request from ``search``.
        concurrency: how many scenarios run at a time.
        journal: stores the rows; only the calling thread writes to it.
        progress: receives every item that is on disk.
        check: raises what stops the run; see :class:`ScenarioRunner`.
        spent: returns the dollars spent so far (``None`` if unknown), the model calls made, and the recorded calls
            reused, for progress.
        watch: receives items once they are on disk, in order of arrival; raises what stops the run.
    """

    def __init__(
        self,
        first: SystemInstance,
        new_instance: Callable[[Callable[[str], None]], SystemInstance],
        reader: Reader | None,
        search_items: int,
        concurrency: int,
        journal: Journal,
        progress: Progress,
        *,
        check: Callable[[], None] = lambda: None,
        spent: Callable[[], tuple[float | None, int, int]] | None = None,
        watch: Callable[[Sequence[FinishedItems]], None] = lambda finished: None,
    ) -> None:
        self._watch = watch
        self._spare = [first]
        self._new_instance = new_instance
        self._check = check
        self._spent = spent
        self._reader = reader
        self._search_items = search_items
        self._concurrency = concurrency
        self._journal = journal
        self._progress = progress
        self._works: Sequence[ScenarioWork] = ()
        self._todo: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[FinishedItems | LogLine | BaseException | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._systems: list[SystemProcess] = []

    def run(self, works: Sequence[ScenarioWork]) -> None:
        """Run all scenarios; every row is on disk when this returns.

        An element of ``works`` is read when its turn comes, and dropped when it is done.

        An interruption (Ctrl-C), or a stop raised by ``check``, ``watch`` or the reader, ends all processes, stores
        the items finished before, and is raised again.

        Raises:
            MemevalError: rows cannot be written, or the run must stop.
            SystemFailure: the adapter could not be started.
        """
        self._works = works
        for index in range(len(works)):
            self._todo.put(index)
        threads = [
            threading.Thread(target=self._serve, args=(slot,), name=f"memeval-slot-{slot}", daemon=True)
            for slot in range(min(self._concurrency, len(works)))
        ]
        for thread in threads:
            thread.start()
        try:
            self._store_until_done(len(threads))
        except BaseException:
            self._stop.set()
            for system in list(self._systems):
                system.kill()
            for thread in threads:
                thread.join(timeout=5)
            with contextlib.suppress(Exception):
                self._store(self._drain())
            raise
        for thread in threads:
            thread.join()

    def _serve(self, slot: int) -> None:
        """Run scenarios until the queue is empty; the body of one thread."""
        try:
            if self._stop.wait(slot * STAGGER_SECONDS) or (slot and self._todo.empty()):
                return
            instance = self._take_instance()
            self._systems.append(instance.process)
            with instance.process:
                runner = self._runner(instance)
                while not self._stop.is_set():
                    try:
                        index = self._todo.get_nowait()
                    except queue.Empty:
                        break
                    for finished in runner.run(self._works[index]):
                        self._done.put(finished)
        except BaseException as error:  # the calling thread raises it
            self._done.put(error)
        finally:
            self._done.put(None)

    def _take_instance(self) -> SystemInstance:
        try:
            instance = self._spare.pop()
        except IndexError:
            return self._new_instance(self._log_output)
        instance.process.log = self._log_output
        return instance

    def _runner(self, instance: SystemInstance) -> ScenarioRunner:
        return ScenarioRunner(
            instance.process,
            self._reader,
            self._search_items,
            self._log_event,
            self._stop.is_set,
            instance.endpoint,
            self._check,
        )

    def _store_until_done(self, threads: int) -> None:
        while threads:
            batch = [self._done.get()]
            time.sleep(GATHER_SECONDS)
            batch += self._drain()
            self._store(batch)
            threads -= sum(1 for each in batch if each is None)
            for each in batch:
                if isinstance(each, BaseException):
                    raise each

    def _drain(self) -> list[FinishedItems | LogLine | BaseException | None]:
        drained = []
        with contextlib.suppress(queue.Empty):
            while True:
                drained.append(self._done.get_nowait())
        return drained

    def _store(self, batch: Iterable[FinishedItems | LogLine | BaseException | None]) -> None:
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

    def _log_output(self, line: str) -> None:
        self._done.put(LogLine(at=utc_now(), event="printed", detail=redact(line)[:LONGEST_DETAIL]))

    def _log_event(self, event: str, detail: str, scenario_id: str) -> None:
        self._done.put(
            LogLine(at=utc_now(), event=event, detail=redact(detail)[:LONGEST_DETAIL], scenario_id=scenario_id)
        )


def _failed(responses: Iterable[Response]) -> int:
    """Return how many of the items failed."""
    return len({response.item_id for response in responses if response.outcome.is_error})
