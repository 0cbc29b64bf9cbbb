"""How fast calls may go: places, rates, pauses, and when an endpoint counts as down."""

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
"""An endpoint is down after so many calls in a row that were given up."""

REFUSALS = 5
"""A run stops after so many equal refusals in a row, unless the caller sets another number."""


@dataclass(frozen=True)
class GatewayOptions:
    """How fast calls may go, and how long one is tried."""

    concurrency: Mapping[Caller, int] = field(default_factory=lambda: dict.fromkeys(Caller, 16))
    """The most calls in flight at a time, per caller."""
    requests_per_minute: float | None = None
    """The most requests a minute, evenly spread; ``None`` for no limit."""
    tokens_per_minute: float | None = None
    """The most tokens a minute, by an estimate of four bytes a token and the output asked for."""
    timeout_seconds: float = 120
    """Seconds after which a try without its whole reply is broken off."""
    tries: int = 6
    """How many times a call is sent before it is given up."""
    first_wait_seconds: float = 0.5
    """The longest wait before the second try; it doubles with every further one. How much of it is waited is drawn."""
    longest_wait_seconds: float = 60
    """The longest wait between two tries, whatever the endpoint asks for."""
    refusals: int = REFUSALS
    """The run stops after so many equal refusals in a row that no retry can help; 0 for never."""


class CallLimits:
    """Places and rates, for all calls of one gateway; belongs to its loop."""

    def __init__(self, options: GatewayOptions) -> None:
        self._places = {caller: asyncio.Semaphore(options.concurrency.get(caller, 16)) for caller in Caller}
        self._requests: AsyncLimiter | None = None
        self._tokens: AsyncLimiter | None = None
        if options.requests_per_minute or options.tokens_per_minute:
            from aiolimiter import AsyncLimiter

            if options.requests_per_minute:
                self._requests = AsyncLimiter(1, 60 / options.requests_per_minute)
            if options.tokens_per_minute:
                self._tokens = AsyncLimiter(options.tokens_per_minute, 60)

    def place(self, caller: Caller) -> asyncio.Semaphore:
        """Return what a caller's calls in flight hold."""
        return self._places[caller]

    async def pace(self, request: ModelRequest) -> None:
        """Wait until the rates allow a request."""
        if self._tokens is not None:
            about = len(canonical_json(request.body)) // 4 + max(output_limits(request), default=0)
            await self._tokens.acquire(min(about, self._tokens.max_rate))
        if self._requests is not None:
            await self._requests.acquire()


class Lane:
    """One endpoint: whether it asked for a pause, and whether it is up; belongs to the loop of one gateway."""

    def __init__(self) -> None:
        self._resumes = 0.0
        self._in_a_row = 0
        self._calls = 0
        self._doubted: set[asyncio.Future[bool | None]] = set()

    def pause(self, seconds: float) -> None:
        """Let nobody call for so long."""
        self._resumes = max(self._resumes, time.monotonic() + seconds)

    async def ready(self) -> None:
        """Wait until the endpoint may be called."""
        while (left := self._resumes - time.monotonic()) > 0:
            await asyncio.sleep(left)

    def enter(self) -> None:
        """Count a call that is about to be made."""
        self._calls += 1

    def leave(self) -> None:
        """Count a call that has ended."""
        self._calls -= 1
        self._release_if_alone()

    def answered(self) -> None:
        """The endpoint is up: what was given up in doubt of it has failed on its own account."""
        self._in_a_row = 0
        self._release(False)

    async def down(self) -> bool | None:
        """A call was given up: wait until it is clear whether the endpoint is down, or the call alone failed.

        So an outage costs no call its place: all of them are made again when the run is resumed.

        Returns:
            Whether it is down; ``None`` where no other call is under way that could tell.
        """
        self._in_a_row += 1
        if self._in_a_row >= DOWN_AFTER:
            self._release(True)
            return True
        doubt: asyncio.Future[bool | None] = asyncio.get_running_loop().create_future()
        self._doubted.add(doubt)
        self._release_if_alone()
        try:
            return await doubt
        finally:
            self._doubted.discard(doubt)

    def _release_if_alone(self) -> None:
        if len(self._doubted) >= self._calls:
            self._release(None)

    def _release(self, down: bool | None) -> None:
        for doubt in self._doubted:
            if not doubt.done():
                doubt.set_result(down)


class Refusals:
    """Equal refusals in a row of one caller's calls to one model; belongs to the loop of one gateway."""

    def __init__(self) -> None:
        self._why: tuple[int, str] | None = None
        self._count = 0
        self._last = 0.0

    def answered(self) -> None:
        """Start again at 0: the endpoint accepts such calls."""
        self._why, self._count = None, 0

    def count(self, why: tuple[int, str], sent: float, *, in_turn: bool) -> int:
        """Count a refusal and return how many equal ones there are in a row.

        Args:
            why: status and message.
            sent: monotonic time at which the call was sent.
            in_turn: count calls that were in flight together once. A system may learn from a refusal and change its
                next request, so only what it sends afterwards counts again.
        """
        if why != self._why:
            self._why, self._count = why, 0
        if not in_turn or not self._count or sent >= self._last:
            self._count += 1
            self._last = time.monotonic()
        return self._count
