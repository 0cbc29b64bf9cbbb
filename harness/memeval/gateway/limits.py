"""Limits on calls: concurrency, rates, pauses, and when an endpoint counts as down."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memeval.gateway.budget import output_limits
from memeval.records.base import canonical_json
from memeval.records.call import Caller, ModelRequest

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

DOWN_AFTER = 5
"""An endpoint counts as down after this many failed calls in a row."""

MOST_IN_FLIGHT = 16
"""Default maximum of a caller's calls in flight."""

REFUSALS = 5
"""Default number of equal refusals in a row after which a run stops."""


@dataclass(frozen=True)
class GatewayOptions:
    """Limits on calls, and how often a call is retried."""

    concurrency: Mapping[Caller, int] = field(default_factory=lambda: dict.fromkeys(Caller, MOST_IN_FLIGHT))
    requests_per_minute: float | None = None
    """Maximum requests per minute, evenly spread; ``None`` for no limit."""
    tokens_per_minute: float | None = None
    """Maximum tokens per minute, estimated: four bytes a token, plus the requested output; ``None`` for no limit."""
    timeout_seconds: float = 120
    """Seconds after which a try without its whole reply is cancelled."""
    tries: int = 6
    first_wait_seconds: float = 0.5
    """Longest wait before the second try; it doubles with each try. The actual wait is random, up to this."""
    longest_wait_seconds: float = 60
    """Longest wait between two tries, even if the endpoint asks for more."""
    refusals: int = REFUSALS
    """The run stops after this many equal refusals in a row that no retry can change; 0 for never."""

    def most_in_flight(self, caller: Caller) -> int:
        return self.concurrency.get(caller, MOST_IN_FLIGHT)


class CallLimits:
    """Concurrency and rates of all calls of one gateway; belongs to its loop."""

    def __init__(self, options: GatewayOptions) -> None:
        self.slots = {caller: asyncio.Semaphore(options.most_in_flight(caller)) for caller in Caller}
        self._requests: AsyncLimiter | None = None
        self._tokens: AsyncLimiter | None = None
        if options.requests_per_minute or options.tokens_per_minute:
            from aiolimiter import AsyncLimiter

            if options.requests_per_minute:
                self._requests = AsyncLimiter(1, 60 / options.requests_per_minute)
            if options.tokens_per_minute:
                self._tokens = AsyncLimiter(options.tokens_per_minute, 60)

    async def pace(self, request: ModelRequest) -> None:
        if self._tokens is not None:
            about = len(canonical_json(request.body)) // 4 + max(output_limits(request), default=0)
            await self._tokens.acquire(min(about, self._tokens.max_rate))
        if self._requests is not None:
            await self._requests.acquire()


class Lane:
    """The state of one endpoint, paused or down; belongs to the loop of one gateway.

    ``most``: maximum calls in flight, of all callers.
    """

    def __init__(self, most: int = 1_000_000) -> None:
        self.places = asyncio.Semaphore(most)
        self._resumes = 0.0
        self._in_a_row = 0
        self._calls = 0
        self._undecided: set[asyncio.Future[bool | None]] = set()

    def pause(self, seconds: float) -> None:
        self._resumes = max(self._resumes, time.monotonic() + seconds)

    async def ready(self) -> None:
        while (left := self._resumes - time.monotonic()) > 0:
            await asyncio.sleep(left)

    def enter(self) -> None:
        self._calls += 1

    def leave(self) -> None:
        self._calls -= 1
        self._release_if_alone()

    def answered(self) -> None:
        """Record that the endpoint is up; waiting failed calls then count as failures of their own."""
        self._in_a_row = 0
        self._release(False)

    async def down(self) -> bool | None:
        """Record a failed call, and wait until it is clear whether the endpoint is down.

        So an outage loses no call: all of them are made again when the run is resumed.

        Returns: Whether the endpoint is down; ``None`` if no other call is in flight that could show it.
        """
        self._in_a_row += 1
        if self._in_a_row >= DOWN_AFTER:
            self._release(True)
            return True
        verdict: asyncio.Future[bool | None] = asyncio.get_running_loop().create_future()
        self._undecided.add(verdict)
        self._release_if_alone()
        try:
            return await verdict
        finally:
            self._undecided.discard(verdict)

    def _release_if_alone(self) -> None:
        if len(self._undecided) >= self._calls:
            self._release(None)

    def _release(self, down: bool | None) -> None:
        for verdict in self._undecided:
            if not verdict.done():
                verdict.set_result(down)


class Refusals:
    """Counts equal refusals in a row, for one caller and model; belongs to the loop of one gateway."""

    def __init__(self) -> None:
        self._reason: tuple[int, str] | None = None
        self._count = 0
        self._last = 0.0

    def answered(self) -> None:
        self._reason, self._count = None, 0

    def count(self, reason: tuple[int, str], sent: float, *, in_turn: bool) -> int:
        """Count a refusal and return the number of equal ones in a row.

        ``in_turn``: count calls that were in flight together once. A system may change its next request after a
        refusal, so only requests that it sends afterwards count again.
        """
        if reason != self._reason:
            self._reason, self._count = reason, 0
        if not in_turn or not self._count or sent >= self._last:
            self._count += 1
            self._last = time.monotonic()
        return self._count
