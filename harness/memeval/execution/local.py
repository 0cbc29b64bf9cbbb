"""Runs scenarios on this machine: threads that each own an adapter instance."""

import math
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from memeval.execution.executor import Arrival, event_line, output_log
from memeval.execution.runner import ScenarioRunner
from memeval.execution.steps import ScenarioWork, SystemInstance
from memeval.execution.trials.stage import StoredFolders
from memeval.reading import Reader
from memeval.systems.process import SystemProcess
from memeval.systems.questions import Flight, Slots

STAGGER_SECONDS = 0.1
"""Delay between the starts of two threads: a very short run needs no second process."""

STOP_SECONDS = 5.0
"""How long threads may take to end after a stop."""


def flight_of(system: SystemProcess, concurrency: int) -> tuple[Flight, int]:
    """Return how questions are sent to each instance of a system, and how many instances there are.

    A system that answers one question at a time has an instance for each question in flight. One that answers several
    has an instance more than these need: it ingests its history while the others are asked.

    ``concurrency``: how many questions are in flight at a time, over all instances.
    """
    declared = system.adapter.questions_at_once
    most = min(declared, concurrency)
    if most == 1:
        return Flight(1), concurrency
    return Flight(most, slots=Slots(concurrency)), math.ceil(concurrency / most) + 1


class LocalExecutor:
    """Runs scenarios concurrently; see :class:`memeval.execution.executor.Executor`.

    ``first``: the first instance, its process started; the executor closes it. ``new_instance``: returns another one,
    not started, given the function that receives its output lines. ``search_items``: how many items to request from
    ``search``. ``concurrency``: how many questions are in flight at a time, over all instances. ``check``: raises what
    stops the run; see :class:`ScenarioRunner`. ``readings``: how many questions the reader answers at a time in threads
    of its own; 0 for a reader without a model.
    """

    def __init__(
        self,
        first: SystemInstance,
        new_instance: Callable[[Callable[[str], None]], SystemInstance],
        reader: Reader | None,
        search_items: int,
        concurrency: int,
        *,
        check: Callable[[], None] = lambda: None,
        readings: int = 0,
    ) -> None:
        self._spare = [first]
        self._new_instance = new_instance
        self._check = check
        self._reader = reader
        self._search_items = search_items
        self._flight, self._instances = flight_of(first.process, concurrency)
        self._readings = ThreadPoolExecutor(readings, "memeval-reader") if readings else None
        self._works: Sequence[ScenarioWork] = ()
        self._todo: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._arrived: Callable[[Arrival], None] = lambda arrival: None
        self._stop = threading.Event()
        self._systems: list[SystemProcess] = []
        self._threads: list[threading.Thread] = []
        self._folders = StoredFolders()
        self._running = 0
        self._guard = threading.Lock()

    def start(self, works: Sequence[ScenarioWork], arrived: Callable[[Arrival], None]) -> None:
        self._works, self._arrived = works, arrived
        for index in range(len(works)):
            self._todo.put(index)
        self._running = min(self._instances, len(works))
        self._threads = [
            threading.Thread(target=self._serve, args=(slot,), name=f"memeval-slot-{slot}", daemon=True)
            for slot in range(self._running)
        ]
        if not self._threads:
            arrived(None)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._flight.slots is not None:
            self._flight.slots.open()
        for system in list(self._systems):
            system.kill()
        for thread in self._threads:
            thread.join(timeout=STOP_SECONDS)
        self._end_readings()

    def _end_readings(self) -> None:
        if self._readings is not None:
            self._readings.shutdown(wait=False, cancel_futures=True)

    def _serve(self, slot: int) -> None:
        try:
            if self._stop.wait(slot * STAGGER_SECONDS) or (slot and self._todo.empty()):
                return
            log = output_log(self._arrived)
            try:
                instance = self._spare.pop()
                instance.process.log = log
            except IndexError:
                instance = self._new_instance(log)
            self._systems.append(instance.process)
            with instance.process, closing(self._runner(instance)) as runner:
                while not self._stop.is_set():
                    try:
                        index = self._todo.get_nowait()
                    except queue.Empty:
                        break
                    for finished in runner.run(self._works[index]):
                        self._arrived(finished)
        except BaseException as error:  # the calling thread raises it
            self._arrived(error)
        finally:
            with self._guard:
                self._running -= 1
                is_last = self._running == 0
            if is_last:
                self._end_readings()
                self._folders.close()
                self._arrived(None)

    def _runner(self, instance: SystemInstance) -> ScenarioRunner:
        return ScenarioRunner(
            instance.process,
            self._reader,
            self._search_items,
            lambda *event: self._arrived(event_line(*event)),
            self._stop.is_set,
            instance.endpoint,
            self._check,
            flight=self._flight,
            readings=self._readings,
            folders=self._folders,
        )
