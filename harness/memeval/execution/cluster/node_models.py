"""Model calls of workers, made where the run was started: one gateway keeps budget, limits, records and keys."""

import asyncio
import itertools
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from memeval.execution.cluster.parcel import FromWorker, NodeCall, NodeReply, RunParcel, TaskEnd
from memeval.execution.model_reader import ModelReader
from memeval.execution.preparation import PreparedSystem
from memeval.execution.readers import READERS
from memeval.gateway.endpoints import Endpoint
from memeval.gateway.gateway import Gateway
from memeval.gateway.serving.model_endpoint import ModelEndpoint
from memeval.gateway.serving.model_server import ModelServer
from memeval.gateway.stops import RESUME, GatewayStopped
from memeval.reading import Reader
from memeval.records.call import Call, Caller, ModelRequest, Phase
from memeval.records.errors import BadInput, MemevalError
from memeval.systems.sandbox import INSIDE_ORIGIN

T = TypeVar("T")

JOIN_SECONDS = 5.0
"""How long the thread of the loop may take to end."""


class RemoteGateway:
    """Stands for the gateway of the machine that started the run; it has a thread with an asyncio loop.

    Budget, rate limits, retries and records are those of that machine. The time in which a call travels counts as time
    that the system waited, since only the seconds of the call itself are the model's.

    ``worker``: the address of this worker, to which replies are sent. ``send``: sends a message to that machine, and
    returns once it has left.
    """

    def __init__(self, worker: str, send: Callable[[str], None]) -> None:
        self._worker, self._send = worker, send
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[Call]] = {}
        self._stopped: MemevalError | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="memeval-node-models", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def call(self, request: ModelRequest, endpoint: Endpoint, caller: Caller, phase: Phase) -> Call:
        return self.run(self._made(request, caller, phase))

    async def pass_on(
        self, request: ModelRequest, endpoint: Endpoint, phase: Phase, scenario_id: str | None, ordinal: int
    ) -> Call:
        return await self._made(request, Caller.SYSTEM, phase, scenario_id, ordinal)

    async def keep(self, call: Call) -> None:
        await self._sent(FromWorker(refused=call))

    def check(self) -> None:
        """Raise what stopped the run, if a call has failed for it. Raises MemevalError: no further call can succeed."""
        if self._stopped is not None:
            raise self._stopped

    def receive(self, text: str) -> None:
        """Receive a reply, as JSON of :class:`NodeReply`, in any thread."""
        self._loop.call_soon_threadsafe(self._received, text)

    def stop(self, error: MemevalError) -> None:
        """End all calls with an error, also those that follow."""
        self._loop.call_soon_threadsafe(self._stop, error)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(JOIN_SECONDS)
        if not self._loop.is_running():
            self._loop.close()

    async def _made(
        self, request: ModelRequest, caller: Caller, phase: Phase, scenario_id: str | None = None, ordinal: int = 0
    ) -> Call:
        self.check()
        number = next(self._numbers)
        reply: asyncio.Future[Call] = self._loop.create_future()
        self._waiting[number] = reply
        asked = NodeCall(
            worker=self._worker,
            number=number,
            caller=caller,
            phase=phase,
            request=request,
            scenario_id=scenario_id,
            ordinal=ordinal,
        )
        try:
            await self._sent(FromWorker(asked=asked))
            return await reply
        finally:
            self._waiting.pop(number, None)

    async def _sent(self, message: FromWorker) -> None:
        await asyncio.to_thread(self._send, message.model_dump_json())

    def _received(self, text: str) -> None:
        reply = NodeReply.model_validate_json(text)
        error = None if reply.stop is None else reply.stop.error()
        if error is not None:
            self._stop(error)
        waiting = self._waiting.get(reply.number)
        if waiting is not None and not waiting.done() and reply.call is not None:
            waiting.set_result(reply.call)

    def _stop(self, error: MemevalError) -> None:
        self._stopped = self._stopped or error
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._stopped)


class NodeModels:
    """The models of a run on one worker, for the system and for the reader.

    ``send``: sends a message to the machine that started the run.
    """

    def __init__(
        self,
        parcel: RunParcel,
        prepared: PreparedSystem,
        folder: Path,
        worker: str,
        send: Callable[[str], None],
        log: Callable[[str, str, str], None],
    ) -> None:
        self.sandbox = prepared.sandbox
        self.gateway: RemoteGateway | None = None
        self.readings: ThreadPoolExecutor | None = None
        """Threads in which the reader works; ``None`` for a reader without a model."""
        self._server: ModelServer | None = None
        self._resources = ExitStack()
        uses = parcel.models
        self.reader: Reader | None = None
        if parcel.reader is not None and (uses is None or uses.reader is None):
            self.reader = next(each for each in READERS if each.name == parcel.reader)
        if uses is None:
            return
        gateway = self.gateway = RemoteGateway(worker, send)
        self._resources.callback(gateway.close)
        with self._resources:
            if uses.reader is not None and parcel.reader is not None:
                self.readings = ThreadPoolExecutor(uses.readings, "memeval-reader")
                self._resources.callback(self.readings.shutdown, wait=False, cancel_futures=True)
                reader = ModelReader(parcel.reader, Endpoint(uses.reader), gateway, parcel.limits.reader_tokens)
                reader.settings = uses.reader_settings
                self.reader = reader
            if uses.system is not None:
                self._server = self._serve(parcel, uses.system, folder, gateway, log)
            self._resources = self._resources.pop_all()

    def _serve(
        self, parcel: RunParcel, url: str, folder: Path, gateway: RemoteGateway, log: Callable[[str, str, str], None]
    ) -> ModelServer:
        socket = None
        if self.sandbox is not None:
            socket = folder / "gateway.sock"
            self.sandbox = replace(self.sandbox, socket=socket)
        return self._resources.enter_context(
            ModelServer(
                gateway,
                Endpoint(url),
                parcel.system.declared_models,
                parcel.limits.scenario_calls,
                log,
                socket=socket,
                origin=None if socket is None else INSIDE_ORIGIN,
            )
        )

    def endpoint(self) -> ModelEndpoint | None:
        """Return a new endpoint for one process of the system; ``None`` if it declares no models."""
        return None if self._server is None else self._server.endpoint()

    def check(self) -> None:
        if self.gateway is not None:
            self.gateway.check()

    def close(self) -> None:
        if self.gateway is not None:
            self.gateway.stop(GatewayStopped("the run ended while model calls were in flight.", remedy=RESUME))
        self._resources.close()


MOST_REPLIES = 16
"""How many replies are sent at the same time, so that a worker that hangs does not hold up the others."""


@dataclass(frozen=True)
class RunModels:
    gateway: Gateway
    allowed: Mapping[Caller, tuple[Endpoint, tuple[str, ...]]]


class CallsOfWorkers:
    """Makes calls that workers ask for, and sends them the replies."""

    def __init__(self, models: RunModels, reply: Callable[[str, str], None]) -> None:
        self._models, self._reply = models, reply
        self._replies = ThreadPoolExecutor(MOST_REPLIES, "memeval-replies")

    def make(self, asked: NodeCall) -> None:
        endpoint, models = self._models.allowed.get(asked.caller, (None, ()))
        if endpoint is None or asked.request.endpoint != endpoint.url or asked.request.model not in models:
            raise BadInput(
                f"worker {asked.worker} asked for a model that this run does not use.",
                remedy="Check who can reach the scheduler.",
            )
        gateway, request = self._models.gateway, asked.request
        if asked.caller is Caller.SYSTEM:
            made = gateway.pass_on(request, endpoint, asked.phase, asked.scenario_id, asked.ordinal)
        else:
            made = gateway.ask(request, endpoint, asked.caller, asked.phase)
        gateway.start(made).add_done_callback(lambda done: self._made(asked, done))

    def keep(self, call: Call) -> None:
        self._models.gateway.run(self._models.gateway.keep(call))

    def close(self) -> None:
        self._replies.shutdown(wait=False, cancel_futures=True)

    def _made(self, asked: NodeCall, done: Future[Call]) -> None:
        """Send the reply from another thread: this one is the gateway's."""
        try:
            reply = NodeReply(number=asked.number, call=done.result())
        except MemevalError as error:
            reply = NodeReply(number=asked.number, stop=TaskEnd.of(error))
        except CancelledError:
            return  # the run is over
        try:
            self._replies.submit(self._reply, asked.worker, reply.model_dump_json())
        except RuntimeError:
            return  # closed: the run is over
