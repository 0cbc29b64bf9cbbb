"""Runs scenarios inside a Dask worker: prepares the system once, and keeps its instances."""

import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from distributed import Queue, WorkerPlugin, get_client, get_worker

from memeval.execution.cluster.node_models import NodeModels
from memeval.execution.cluster.parcel import (
    Assignment,
    Delivery,
    FromWorker,
    RunParcel,
    TaskEnd,
    check_versions,
    own_versions,
)
from memeval.execution.executor import event_line, output_log, waiting
from memeval.execution.preparation import PreparedSystem, prepare
from memeval.execution.runner import ScenarioRunner
from memeval.execution.setup import SystemSetup
from memeval.execution.steps import FinishedItems, ModelAccess
from memeval.records.errors import BadInput, MemevalError
from memeval.records.journal import LogLine
from memeval.systems.errors import SystemFailure
from memeval.systems.process import SystemProcess
from memeval.systems.questions import Flight
from memeval.systems.sandbox import SandboxMode
from memeval.systems.source import start_system

SEND_SECONDS = 0.1
"""Interval at which finished rows are sent."""

UNFINISHED = frozenset(("cancelled", "released", "forgotten"))
"""The states of a running task that nobody waits for any more."""


@dataclass
class _Instance:
    process: SystemProcess
    endpoint: ModelAccess | None = None
    is_stopped: threading.Event = field(default_factory=threading.Event)
    lines: SimpleQueue[LogLine] = field(default_factory=SimpleQueue)

    def stop(self) -> None:
        self.is_stopped.set()
        self.process.kill()


class _Sender:
    """Sends the rows of a scenario while the system goes on; use it as a context manager, which sends the rest.

    ``lines``: lines of the log, sent with the rows: of the instance, and of its worker.
    """

    def __init__(self, index: int, lines: Sequence[SimpleQueue[LogLine]], put: Callable[[str], None]) -> None:
        self._index, self._lines, self._put = index, lines, put
        self.finished: SimpleQueue[FinishedItems] = SimpleQueue()
        self._is_over = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._serve, name="memeval-sender", daemon=True)

    def __enter__(self) -> SimpleQueue[FinishedItems]:
        self._thread.start()
        return self.finished

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        self._send()

    def _serve(self) -> None:
        try:
            while not self._is_over.wait(SEND_SECONDS):
                self._send()
        except Exception as error:  # the thread of the task raises it
            self._failure = error

    def _send(self) -> None:
        rows, lines = waiting(self.finished), [line for queue in self._lines for line in waiting(queue)]
        if rows or lines:
            delivery = Delivery(
                index=self._index,
                items=tuple(item for each in rows for item in each.items),
                responses=tuple(row for each in rows for row in each.responses),
                contexts=tuple({row.digest: row for each in rows for row in each.contexts}.values()),
                lines=tuple(lines),
            )
            self._put(FromWorker(delivery=delivery).model_dump_json())


class Node(WorkerPlugin):
    """One run on one worker, also on workers that join later.

    ``name``: the name of the run on the cluster: of this plugin and of the queue of its rows.
    """

    def __init__(self, name: str, parcel: str) -> None:
        self.name = name
        self._parcel = parcel

    def setup(self, worker: Any) -> None:
        """Start on a worker; the system is prepared by the first task."""
        self._address: str = worker.address
        self._folder = Path(tempfile.mkdtemp(prefix="memeval-node-"))
        self._guard = threading.Lock()
        self._preparing = threading.Lock()
        self._prepared: PreparedSystem | None = None
        self._models: NodeModels | None = None
        self._lines: SimpleQueue[LogLine] = SimpleQueue()
        self._idle: list[_Instance] = []
        self._busy: dict[str, _Instance] = {}
        self._is_over = False

    def teardown(self, worker: Any) -> None:
        with self._guard:
            self._is_over = True
            busy = list(self._busy.values())
        for instance in busy:
            instance.stop()
        # This is the thread of the worker's event loop, and closing an adapter can take seconds.
        threading.Thread(target=self._close, name="memeval-node-close").start()

    def transition(self, key: Any, start: str, finish: str, **kwargs: Any) -> None:
        """End the system of a task whose result nobody waits for any more, for example because memeval ended."""
        if finish in UNFINISHED:
            with self._guard:
                instance = self._busy.get(str(key))
            if instance is not None:
                instance.stop()

    def run(self, key: str, assignment: Assignment) -> TaskEnd:
        queue = Queue(self.name, client=get_client())
        instance: _Instance | None = None
        try:
            parcel = RunParcel.model_validate_json(self._parcel)
            instance, models = self._taken(parcel, queue.put)
            with self._guard:
                self._busy[key] = instance
            runner = self._runner(parcel, instance, models, Flight(assignment.at_once))
            with _Sender(assignment.index, (instance.lines, self._lines), queue.put) as finished:
                for each in runner.run(assignment.work()):
                    finished.put(each)
        except MemevalError as error:
            return TaskEnd.of(error, self._address)
        except SystemFailure as failure:
            return TaskEnd.of(BadInput(failure.sentence), self._address)
        finally:
            self._returned(key, instance)
        return TaskEnd()

    def receive(self, text: str) -> None:
        if self._models is not None and self._models.gateway is not None:
            self._models.gateway.receive(text)

    def _runner(self, parcel: RunParcel, instance: _Instance, models: NodeModels, flight: Flight) -> ScenarioRunner:
        return ScenarioRunner(
            instance.process,
            models.reader,
            parcel.search_items,
            lambda *event: instance.lines.put(event_line(*event)),
            instance.is_stopped.is_set,
            instance.endpoint,
            models.check,
            flight=flight,
            readings=models.readings,
        )

    def _taken(self, parcel: RunParcel, put: Callable[[str], None]) -> tuple[_Instance, NodeModels]:
        with self._preparing:
            if self._prepared is None:
                self._prepared = self._prepare(parcel)
            if self._models is None:
                self._models = NodeModels(parcel, self._prepared, self._folder, self._address, put, self._log)
        prepared, models = self._prepared, self._models
        with self._guard:
            if self._idle:
                return self._idle.pop(), models
        launch, endpoint = prepared.source.launch, models.endpoint()
        process = SystemProcess(launch, parcel.limits, lambda line: None, sandbox=models.sandbox)
        if endpoint is not None:
            process = SystemProcess(
                launch, parcel.limits, lambda line: None, endpoint.environment, endpoint.waited, models.sandbox
            )
        instance = _Instance(process, endpoint)
        process.log = output_log(instance.lines.put)
        adapter = start_system(prepared.source, process)
        if prepared.environment_digest(adapter) != parcel.environment_digest:
            process.close()
            raise BadInput(
                f"the environment of {prepared.source.slug} has other packages or another Python on this worker.",
                remedy="Use the same Python on every machine, and list the packages in requirements.lock.",
            )
        return instance, models

    def _log(self, event: str, detail: str, scenario_id: str) -> None:
        self._lines.put(event_line(event, detail, scenario_id))

    def _prepare(self, parcel: RunParcel) -> PreparedSystem:
        """Unpack the system, and build its environment unless this machine has it."""
        check_versions(parcel.versions, own_versions(), "")
        if parcel.system.interpreter is not None and not Path(parcel.system.interpreter).is_file():
            raise BadInput("the Python of --python is not on this worker.", where=parcel.system.interpreter)
        setup = SystemSetup(sandbox=SandboxMode.BWRAP if parcel.sandboxed else SandboxMode.NONE)
        folder = self._folder / parcel.system.slug
        folder.mkdir(exist_ok=True)
        return prepare(parcel.system.unpack(folder), setup, lambda sentence: None)

    def _returned(self, key: str, instance: _Instance | None) -> None:
        with self._guard:
            self._busy.pop(key, None)
            reusable = instance is not None and not instance.is_stopped.is_set() and not self._is_over
            if instance is not None and reusable:
                self._idle.append(instance)
                return
        if instance is not None:
            instance.process.close()
            self._close_idle()  # nobody may be left to end the run here
        if self._is_over:
            self._close()

    def _close_idle(self) -> None:
        with self._guard:
            idle, self._idle = self._idle, []
        for instance in idle:
            instance.process.close()

    def _close(self) -> None:
        self._close_idle()
        if not self._busy:
            models, self._models = self._models, None
            if models is not None:
                models.close()
            shutil.rmtree(self._folder, ignore_errors=True)


def run_scenario(name: str, key: str, assignment: str) -> str:
    """Run a scenario on this worker; the task that Dask schedules. The rows go through the queue of the run.

    Returns how it ended, as JSON of :class:`TaskEnd`.
    """
    node: Node = get_worker().plugins[name]
    return node.run(key, Assignment.model_validate_json(assignment)).model_dump_json()


def receive_reply(name: str, text: str, dask_worker: Any) -> None:
    """Receive the reply to a model call on this worker; ``Client.run`` calls it, and gives the worker."""
    node: Node = dask_worker.plugins[name]
    node.receive(text)
