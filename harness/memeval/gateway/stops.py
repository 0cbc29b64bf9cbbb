"""What callers of a gateway know of it: how they make calls, and the errors that end a run, which can be resumed."""

from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

from memeval.gateway.endpoints import Endpoint
from memeval.records.call import Call, Caller, ModelRequest, Phase
from memeval.records.errors import BadInput, ExitCode, MemevalError

RESUME = "Progress is saved. Run the same command to resume, without --fresh."


class GatewayStopped(MemevalError):
    """No further call can succeed: the endpoint refuses the key, has no such model, or is down."""


class RequestRefused(GatewayStopped):
    """The endpoint refuses a request's model, path or settings; a system's other requests may still succeed."""


class BudgetSpent(GatewayStopped):
    """A cap of the budget is reached, or the provider's quota is used up."""

    exit_code = ExitCode.BUDGET


class NotRecorded(BadInput):
    """A replay needs a call that is not in the record."""


T = TypeVar("T")


class MakesSystemCalls(Protocol):
    """Makes the calls of systems; see :class:`memeval.gateway.gateway.Gateway`."""

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for it."""

    async def pass_on(
        self, request: ModelRequest, endpoint: Endpoint, phase: Phase, scenario_id: str | None, ordinal: int
    ) -> Call:
        """Make a system's call and store it."""

    async def keep(self, call: Call) -> None:
        """Store a call that was refused before it was sent."""


class MakesReaderCalls(Protocol):
    """Makes the calls of readers; see :class:`memeval.gateway.gateway.Gateway`."""

    def call(self, request: ModelRequest, endpoint: Endpoint, caller: Caller, phase: Phase) -> Call:
        """Make a call and wait for it."""
