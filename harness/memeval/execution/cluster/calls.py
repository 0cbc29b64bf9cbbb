"""Makes the model calls of all workers here, so that one gateway keeps budget, rate limits, records and keys."""

from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass

from memeval.execution.cluster.parcel import NodeCall, NodeReply, TaskEnd
from memeval.gateway.endpoints import Endpoint
from memeval.gateway.gateway import Gateway
from memeval.records.call import Call, Caller
from memeval.records.errors import BadInput, MemevalError

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
