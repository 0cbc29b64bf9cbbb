"""Runs scenarios on a Dask cluster: hands them out, whole or in slices, and receives their rows."""

from __future__ import annotations

import contextlib
import itertools
import logging
import math
import secrets
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from memeval.execution.cluster.node_models import CallsOfWorkers, RunModels
from memeval.execution.cluster.parcel import (
    Assignment,
    Delivery,
    FromWorker,
    RunParcel,
    TaskEnd,
    check_versions,
    own_versions,
)
from memeval.execution.cluster.slices import Upcoming
from memeval.execution.executor import Arrival
from memeval.execution.steps import ScenarioWork
from memeval.gateway.stops import RESUME
from memeval.records.errors import BadInput, MemevalError

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")

CONNECT_SECONDS = 10.0

NO_WORKER_SECONDS = 120.0
"""How long a run waits for a first worker, or for another one if none is left."""

POLL_SECONDS = 0.03
"""Interval at which finished rows are fetched."""

RETRY_SECONDS = 0.5
"""Delay before a call to all workers is made again."""

MOST_LOSSES = 5
"""How often memeval submits a scenario again after Dask has stopped trying it.

Dask stops after more workers have ended during the scenario than its setting ``distributed.scheduler.allowed-failures``
allows, which is 3.
"""


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """Connect to a Dask scheduler, whose workers have the versions of this machine.

    Certificates for ``tls://`` are those of Dask's own configuration.

    ``address``: such as ``tcp://10.0.0.1:8786``. Raises BadInput: Dask is not installed, the scheduler does not answer,
    or versions differ.
    """
    if find_spec("distributed") is None:
        raise BadInput(
            "--executor dask needs the package 'distributed'.",
            remedy="Install it: pip install 'memeval-leaderboard[dask]'.",
        )
    from distributed import Client

    for name in ("distributed", "distributed.client"):  # what goes wrong is said in sentences
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # differing versions are refused below
            client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False, name="memeval")
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        raise BadInput(
            f"no Dask scheduler answers at '{address}' ({_reason(error)}).",
            remedy="Start one with 'dask scheduler', and give its address, such as tcp://10.0.0.1:8786.",
        ) from None
    try:
        try:
            _check_cluster(client)
        except OSError as error:
            raise BadInput(f"the Dask cluster does not answer ({_reason(error)}).", where=address) from None
        yield client
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=CONNECT_SECONDS)


def _check_cluster(client: Client) -> None:
    versions: dict[str, Any] = _while_workers_end(lambda: client.get_versions(check=False))
    machines = {"the scheduler": versions["scheduler"], **versions["workers"]}
    ours = own_versions()
    for name, machine in machines.items():
        theirs = {} if machine is None else machine.get("packages", {})
        python = str(theirs.get("python", "")).split(".final")[0]
        there = {"python": python, "distributed": str(theirs.get("distributed"))}
        check_versions({key: ours[key] for key in there}, there, name if name == "the scheduler" else f"worker {name}")


@dataclass
class _Given:
    future: Any
    scenario_id: str
    assignment: str
    open_items: dict[str, tuple[str, ...]]
    at_once: int
    losses: int = 0


class DaskExecutor:
    """Runs scenarios on a Dask cluster; see :class:`memeval.execution.executor.Executor`.

    Workers need no folder of this machine: the system and the scenarios are sent to them, and rows come back. Rows of a
    scenario that ran twice, because a worker was lost, count once. ``concurrency``: how many questions are in flight at
    a time, on all workers together. ``check``: raises what stops the run. ``divides``: whether workers that would be
    idle share the questions of a scenario. ``models``: the models that system and reader may call; their calls are made
    here.
    """

    def __init__(
        self,
        client: Client,
        parcel: RunParcel,
        concurrency: int,
        note: Callable[[str], None],
        *,
        check: Callable[[], None] = lambda: None,
        divides: bool = False,
        models: RunModels | None = None,
    ) -> None:
        self._client = client
        self._parcel = parcel
        self._concurrency = concurrency
        self._note = note
        self._check = check
        self._divides = divides
        self._calls = None if models is None else CallsOfWorkers(models, self._reply)
        self._name = f"memeval-{secrets.token_hex(8)}"
        self._given: dict[int, _Given] = {}
        self._indices = itertools.count()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._arrived: Callable[[Arrival], None] = lambda arrival: None
        self._queue: Any = None

    def start(self, works: Sequence[ScenarioWork], arrived: Callable[[Arrival], None]) -> None:
        self._arrived = arrived
        self._thread = threading.Thread(target=self._serve, args=(works,), name="memeval-dask", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(timeout=CONNECT_SECONDS)

    def _serve(self, works: Sequence[ScenarioWork]) -> None:
        try:
            self._hand_out(works)
        except MemevalError as error:
            self._arrived(error)
        except Exception as error:  # whatever Dask raises when its scheduler is gone
            lost = f"the connection to the Dask scheduler failed ({_reason(error)})."
            self._arrived(BadInput(lost, remedy=f"Check the scheduler. {RESUME}"))
        finally:
            self._end()
            self._arrived(None)

    def _hand_out(self, works: Sequence[ScenarioWork]) -> None:
        from distributed import Queue

        from memeval.execution.cluster.node import Node

        if not works:
            return
        self._queue = Queue(self._name, client=self._client)
        self._wait_for_a_worker()
        node = Node(self._name, self._parcel.model_dump_json())
        _while_workers_end(lambda: self._client.register_plugin(node, name=self._name))
        threads = self._threads()
        if (usable := min(threads, len(works))) > self._concurrency:
            self._note(
                f"The cluster can run {usable} scenarios at a time, and --concurrency is {self._concurrency}. "
                f"Use --concurrency {usable * self._parcel.questions_at_once}."
            )
        upcoming = Upcoming(works)
        while not self._stopped.is_set():
            while at_once := self._share(min(threads, len(works))):
                self._divide(upcoming, threads, at_once)
                if (work := upcoming.take()) is None:
                    break
                self._give(work, at_once)
            if not self._given:
                return
            self._stopped.wait(POLL_SECONDS)
            self._check()
            self._receive()
            if not (threads := self._threads()):
                self._wait_for_a_worker()

    def _threads(self) -> int:
        return sum(self._client.nthreads().values())

    def _share(self, usable: int) -> int:
        """Return how many questions the next scenario may have in flight; 0 if it has to wait.

        They are divided among the usable threads of the workers, so that no machine has all of them.
        """
        return max(0, min(self._free(), self._parcel.questions_at_once, math.ceil(self._concurrency / max(1, usable))))

    def _free(self) -> int:
        return self._concurrency - sum(given.at_once for given in self._given.values())

    def _divide(self, upcoming: Upcoming, threads: int, at_once: int) -> None:
        """Divide the scenarios that are left if there are fewer than tasks that could run.

        As many questions would be in flight in each task as in a whole scenario, so that none is divided for nothing.
        """
        tasks = min(threads - len(self._given), self._free() // at_once)
        if self._divides and upcoming.scenarios < tasks:
            running = (sum(map(len, given.open_items.values())) / given.at_once for given in self._given.values())
            upcoming.divide(tasks, at_once, math.ceil(max(running, default=0)))

    def _give(self, work: ScenarioWork, at_once: int) -> None:
        index = next(self._indices)
        assignment = Assignment.of(index, work, at_once).model_dump_json()
        given = _Given(None, work.scenario.scenario_id, assignment, dict(work.items), at_once)
        self._given[index] = given
        self._submit(index, given)

    def _submit(self, index: int, given: _Given) -> None:
        from memeval.execution.cluster.node import run_scenario

        key = f"{self._name}-{index}-{given.losses}"
        given.future = self._client.submit(
            run_scenario, self._name, key, given.assignment, key=key, pure=False, priority=-index
        )

    def _receive(self) -> None:
        # A task ends after its last row is in the queue, so all rows of these tasks are fetched here.
        ended = [index for index, given in self._given.items() if given.future.done()]
        for text in self._queue.get(batch=True):
            self._deliver(text)
        for index in ended:
            given = self._given[index]
            status = given.future.status  # may have changed since: the worker that held the result may have ended
            if status == "finished":
                self._finish(index, given)
            elif status == "error":
                self._lost(index, given, given.future.exception())
            elif status == "cancelled":
                raise BadInput("the Dask scheduler dropped the tasks of this run.", remedy=RESUME)

    def _deliver(self, text: str) -> None:
        try:
            message = FromWorker.model_validate_json(text)
        except ValueError:
            raise BadInput("a worker sent an invalid message.", remedy="Check who can reach the scheduler.") from None
        if self._calls is not None and message.asked is not None and not self._stopped.is_set():
            self._calls.make(message.asked)
        if self._calls is not None and message.refused is not None:
            self._calls.keep(message.refused)
        if message.delivery is not None:
            self._store(message.delivery)

    def _reply(self, worker: str, text: str) -> None:
        """Send the reply to a model call; a worker that is gone needs none, since its scenario runs again."""
        from memeval.execution.cluster.node import receive_reply

        with contextlib.suppress(Exception):  # whatever Dask raises when a worker is gone
            self._client.run(receive_reply, self._name, text, workers=[worker])

    def _store(self, delivery: Delivery) -> None:
        for line in delivery.lines:
            self._arrived(line)
        given = self._given.get(delivery.index)
        if given is not None and (finished := delivery.checked(given.open_items, given.scenario_id)) is not None:
            self._arrived(finished)

    def _finish(self, index: int, given: _Given) -> None:
        if (error := TaskEnd.model_validate_json(given.future.result()).error()) is not None:
            raise error
        if given.open_items:
            raise BadInput(f"rows of {given.scenario_id} did not arrive.", remedy=RESUME)
        del self._given[index]

    def _lost(self, index: int, given: _Given, error: BaseException) -> None:
        """Hand out a scenario again whose workers were lost."""
        from distributed import KilledWorker

        if not isinstance(error, KilledWorker):
            raise BadInput(
                f"a worker failed to run a scenario ({_reason(error)}).",
                remedy="Install the same memeval-leaderboard[dask] on every machine.",
            )
        given.losses += 1
        if given.losses > MOST_LOSSES:
            raise BadInput(
                f"every worker that ran {given.scenario_id} ended. It may have run out of memory.",
                remedy=f"Read the logs of the workers, or give them more memory: --memory-limit. {RESUME}",
            )
        self._note(f"Workers that ran {given.scenario_id} ended. Other workers run it again.")
        self._submit(index, given)

    def _wait_for_a_worker(self) -> None:
        """Wait until the cluster has a worker. Raises BadInput: no worker joined in time."""
        deadline = time.monotonic() + NO_WORKER_SECONDS
        is_noted = False
        while not self._client.nthreads() and not self._stopped.is_set():
            if not is_noted and time.monotonic() > deadline - NO_WORKER_SECONDS + 5:
                self._note(f"The cluster has no worker. memeval waits for one, up to {NO_WORKER_SECONDS:g} s.")
                is_noted = True
            if time.monotonic() > deadline:
                raise BadInput(
                    f"the cluster has had no worker for {NO_WORKER_SECONDS:g} s.",
                    remedy=f"Start workers: dask worker ADDRESS --nthreads 1. {RESUME}",
                )
            self._stopped.wait(0.5)

    def _end(self) -> None:
        """Cancel what runs, receive what is finished, and remove the run from the workers; make no more model calls."""
        self._stopped.set()
        with contextlib.suppress(Exception):
            self._client.cancel([given.future for given in self._given.values()], force=True)
        with contextlib.suppress(Exception):
            self._client.unregister_worker_plugin(self._name)
        with contextlib.suppress(Exception):
            for text in self._queue.get(batch=True):
                self._deliver(text)
            self._queue.close()
        if self._calls is not None:
            self._calls.close()


def _while_workers_end(call: Callable[[], T]) -> T:
    """Call all workers, again if one of them ends meanwhile.

    Raises OSError: the scheduler does not answer, or workers end all the time.
    """
    for _ in range(MOST_LOSSES):
        with contextlib.suppress(OSError):
            return call()
        time.sleep(RETRY_SECONDS)
    return call()


def _reason(error: BaseException) -> str:
    text = str(error).split("\n")[0].strip()[:200]
    return text or type(error).__name__
