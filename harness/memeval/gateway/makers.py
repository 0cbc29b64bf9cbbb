"""What systems and readers need of a gateway: the gateway itself has it, and so has its stand-in on another machine."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

from memeval.gateway.endpoints import Endpoint
from memeval.records.call import Call, Caller, ModelRequest, Phase

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
