"""One call from its place in the queue to its reply: paced, paid for, tried again, or given up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from memeval.gateway.budget import Budget
from memeval.gateway.client import OWNERS, EndpointClient, TryFailed, quoted, refusal_remedy
from memeval.gateway.endpoints import Endpoint, refuse_keyless
from memeval.gateway.limits import CallLimits, GatewayOptions, Lane, Refusals
from memeval.gateway.replies import ModelReply, UnusableReply, read
from memeval.gateway.stops import GOES_ON, GatewayStopped, RequestRefused
from memeval.records.call import Call, Caller, ModelRequest, Phase
from memeval.records.errors import MemevalError

_MOST_BYTES = {Caller.JUDGE: 2_000_000, Caller.READER: 2_000_000, Caller.SYSTEM: 20_000_000}
"""The largest reply that is read, per caller."""
_WORTH_A_WORD = 1.0
"""A pause of so many seconds or more is reported."""

_NOTHING = ModelReply(model=None, fingerprint=None, prompt_tokens=None, completion_tokens=None, cached_tokens=0)


@dataclass
class _SendState:
    """How a call has gone so far."""

    asked: float
    tries: int = 0
    at: str = ""
    sent: float = 0.0
    seconds: float = 0.0


class Sender:
    """Makes calls within limits and budget; belongs to the loop of one gateway.

    Args:
        options: how fast, how long, how often.
        budget: what may be spent.
        note: receives sentences about pauses.
    """

    def __init__(self, options: GatewayOptions, budget: Budget, note: Callable[[str], None]) -> None:
        self._options, self._budget, self._note = options, budget, note
        self._limits = CallLimits(options)
        self._lanes: dict[str, Lane] = {}
        self._clients: dict[tuple[Endpoint, str | None, Caller], EndpointClient] = {}
        self._served: set[str] = set()
        self._refusals: dict[tuple[str, Caller, str], Refusals] = {}
        self.stopped: MemevalError | None = None
        """Why nothing more is sent; what is on its way may still arrive."""
        self.on_the_way: set[asyncio.Task[object] | None] = set()
        """Tasks that have sent something and wait for the reply."""

    async def send(self, request: ModelRequest, endpoint: Endpoint, caller: Caller, phase: Phase) -> Call:
        """Make a call; it comes back with a reply, or with why there is none after all tries.

        Raises:
            GatewayStopped: no call can succeed, or none may be made any more.
        """
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

        refuse_keyless(endpoint, caller)
        course = _SendState(asked=time.monotonic())
        lane = self._lanes.setdefault(endpoint.url, Lane())
        refusals = self._refusals.setdefault((endpoint.url, caller, request.model), Refusals())
        lane.enter()
        try:
            async with self._limits.place(caller):
                retrying = AsyncRetrying(
                    stop=stop_after_attempt(self._options.tries),
                    wait=wait_random_exponential(
                        multiplier=self._options.first_wait_seconds, max=self._options.longest_wait_seconds
                    ),
                    retry=retry_if_exception(lambda error: isinstance(error, TryFailed) and error.again),
                    reraise=True,
                )
                answer: tuple[str, ModelReply, float | None] = await retrying(
                    self._try, request, endpoint, caller, phase, lane, course
                )
            lane.answered()
            refusals.answered()
            self._served.add(request.model)
            return self._call(request, caller, phase, course, *answer)
        except TryFailed as failed:
            if not failed.again:
                lane.answered()
                self._count_refusal(failed, refusals, endpoint, caller, course)
            elif await self._is_down(lane, endpoint, caller):
                raise GatewayStopped(
                    f"{OWNERS[caller]} {endpoint.url} gave no usable reply to calls in a row. {failed.sentence}",
                    remedy=f"Check the endpoint. {GOES_ON}",
                ) from None
            return self._call(request, caller, phase, course, failed.reply, error=failed.sentence)
        finally:
            lane.leave()

    def _count_refusal(
        self, failed: TryFailed, refusals: Refusals, endpoint: Endpoint, caller: Caller, course: _SendState
    ) -> None:
        """Count a refusal that no retry can help.

        Raises:
            GatewayStopped: it is one too many.
        """
        if self.stopped is not None:  # what fails after the stop is asked again when the run resumes
            raise self.stopped from None
        if failed.refusal is None:
            return
        count = refusals.count(failed.refusal, course.sent, in_turn=caller is Caller.SYSTEM)
        if 0 < self._options.refusals <= count:
            status, message = failed.refusal
            raise GatewayStopped(
                f"{OWNERS[caller]} {endpoint.url} refused {self._options.refusals} requests in a row "
                f"({status}){quoted(message)}",
                remedy=refusal_remedy(caller, message),
            ) from None

    async def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            with suppress(Exception):  # what is thrown away may be in any state
                await client.close()

    async def _is_down(self, lane: Lane, endpoint: Endpoint, caller: Caller) -> bool:
        """Whether an endpoint is down, now that a call to it was given up."""
        down = await lane.down()
        return not await self._client(endpoint, caller).is_up() if down is None else down

    async def _try(
        self, request: ModelRequest, endpoint: Endpoint, caller: Caller, phase: Phase, lane: Lane, course: _SendState
    ) -> tuple[str, ModelReply, float | None]:
        """Send a request once; return the reply, what it says about itself, and what it cost."""
        client = self._client(endpoint, caller)
        await self._limits.pace(request)
        hold = await self._budget.reserve(phase, request)
        tokens: int | None = 0
        usd: float | None = 0.0
        began: float | None = None
        try:
            await lane.ready()
            if self.stopped is not None:
                raise self.stopped
            began = course.sent = time.monotonic()
            course.tries += 1
            course.at = course.at or datetime.now(UTC).isoformat(timespec="milliseconds")
            tokens = usd = None
            text, told = await self._exchange(client, request, phase)
            tokens, usd = told.tokens, told.price(request.model)
            return text, told, usd
        except TryFailed as failed:
            if not failed.billed:
                tokens, usd = 0, 0.0
            if failed.after is not None:
                wait = min(failed.after, self._options.longest_wait_seconds)
                lane.pause(wait)
                if wait >= _WORTH_A_WORD:
                    self._note(f"The endpoint {endpoint.url} asks to wait {wait:.0f} s.")
            raise
        except MemevalError as error:
            tokens, usd = 0, 0.0
            if isinstance(error, RequestRefused) and caller is Caller.SYSTEM and request.model in self._served:
                raise TryFailed(
                    error.problem, again=False
                ) from None  # others like it were answered: it is this one's fault
            raise
        finally:
            course.seconds = 0.0 if began is None else time.monotonic() - began
            self._budget.settle(hold, tokens, usd)

    async def _exchange(self, client: EndpointClient, request: ModelRequest, phase: Phase) -> tuple[str, ModelReply]:
        left = self._budget.seconds_left(phase)
        task = asyncio.current_task()
        self.on_the_way.add(task)
        try:
            longest = self._options.timeout_seconds
            text = await client.send(request, longest if left is None else min(longest, max(left, 0.001)))
        finally:
            self.on_the_way.discard(task)
        try:
            return text, read(text, request.api)
        except UnusableReply as error:
            raise TryFailed(str(error), billed=True, reply=text) from None

    def _client(self, endpoint: Endpoint, caller: Caller) -> EndpointClient:
        place = (endpoint, endpoint.key, caller)
        if place not in self._clients:
            self._clients[place] = EndpointClient(endpoint, caller, _MOST_BYTES[caller])
        return self._clients[place]

    @staticmethod
    def _call(
        request: ModelRequest,
        caller: Caller,
        phase: Phase,
        course: _SendState,
        reply: str | None,
        told: ModelReply = _NOTHING,
        usd: float | None = None,
        *,
        error: str | None = None,
    ) -> Call:
        return Call(
            key=request.key,
            caller=caller,
            phase=phase,
            request=request,
            reply=reply,
            error=error,
            model=told.model,
            fingerprint=told.fingerprint,
            prompt_tokens=told.prompt_tokens,
            completion_tokens=told.completion_tokens,
            cost_usd=usd,
            seconds=round(course.seconds, 6),
            queued_seconds=round(max(0.0, time.monotonic() - course.asked - course.seconds), 6),
            tries=course.tries,
            at=course.at,
        )
