"""Sending one call: rate-limited, within the budget, and retried."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import fsum

from memeval.gateway.budget import Budget
from memeval.gateway.client import OWNERS, EndpointClient, TryFailed, refusal_remedy
from memeval.gateway.endpoints import Endpoint, refuse_keyless
from memeval.gateway.limits import CallLimits, GatewayOptions, Lane, Refusals
from memeval.gateway.provider_errors import quoted
from memeval.gateway.replies import NO_REPLY, ModelReply, UnusableReply, counted, read
from memeval.gateway.stops import RESUME, GatewayStopped, RequestRefused
from memeval.records.call import Call, Caller, ModelRequest, Phase
from memeval.records.errors import MemevalError

_MOST_BYTES = {Caller.JUDGE: 2_000_000, Caller.READER: 2_000_000, Caller.SYSTEM: 20_000_000}
"""Maximum bytes of a reply, per caller."""
_REPORTED_PAUSE_SECONDS = 1.0

_LOCAL_SECONDS = 3_600
"""Seconds after which a try of a model on this machine ends: it answers slowly, and one request at a time."""


@dataclass
class _OutgoingCall:
    """One call on its way: what is asked of whom, and its tries so far."""

    request: ModelRequest
    endpoint: Endpoint
    caller: Caller
    phase: Phase
    asked: float = field(default_factory=time.monotonic)
    tries: int = 0
    at: str = ""
    sent: float = 0.0
    seconds: float = 0.0
    lost: list[ModelReply] = field(default_factory=list)
    """What the provider counted for the tries without a usable reply."""

    @property
    def owner(self) -> str:
        return f"{OWNERS[self.caller]} {self.endpoint.url}"

    def failed(self, error: TryFailed) -> Call:
        """Return the call if no try succeeded, with the tokens and the cost of all tries."""
        if not self.lost:
            return self.call(error.reply, NO_REPLY, None, error.sentence)
        used = replace(
            NO_REPLY,
            prompt_tokens=sum(each.prompt_tokens or 0 for each in self.lost),
            completion_tokens=sum(each.completion_tokens or 0 for each in self.lost),
        )
        prices = [usd for each in self.lost if (usd := each.price(self.request.model)) is not None]
        return self.call(error.reply, used, fsum(prices) if len(prices) == len(self.lost) else None, error.sentence)

    def call(self, reply: str | None, metadata: ModelReply, usd: float | None, error: str | None = None) -> Call:
        return Call(
            key=self.request.key,
            caller=self.caller,
            phase=self.phase,
            request=self.request,
            reply=reply,
            error=error,
            model=metadata.model,
            fingerprint=metadata.fingerprint,
            ended_early=metadata.ended_early,
            prompt_tokens=metadata.prompt_tokens,
            completion_tokens=metadata.completion_tokens,
            cost_usd=usd,
            seconds=round(self.seconds, 6),
            queued_seconds=round(max(0.0, time.monotonic() - self.asked - self.seconds), 6),
            tries=self.tries,
            at=self.at,
        )


class Sender:
    """Sends calls within limits and budget; belongs to the loop of one gateway."""

    def __init__(self, options: GatewayOptions, budget: Budget, note: Callable[[str], None]) -> None:
        self._options, self._budget, self._note = options, budget, note
        self._limits = CallLimits(options)
        self._lanes: dict[str, Lane] = {}
        self._clients: dict[tuple[Endpoint, str | None, Caller], EndpointClient] = {}
        self._served: set[str] = set()
        self._refusals: dict[tuple[str, Caller, str], Refusals] = {}
        self.stopped: MemevalError | None = None
        """The error that stopped sending, if any; replies to sent requests may still arrive."""
        self.sending: set[asyncio.Task[object] | None] = set()
        """Tasks that sent a request and wait for the reply."""

    async def send(self, request: ModelRequest, endpoint: Endpoint, caller: Caller, phase: Phase) -> Call:
        """Make a call, and return it with its reply, or with the error of the last try.

        Raises GatewayStopped: no call can succeed, or calling has stopped.
        """
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

        refuse_keyless(endpoint, caller)
        outgoing = _OutgoingCall(request, endpoint, caller, phase)
        lane = self._lanes.get(endpoint.url)
        if lane is None:
            lane = self._lanes[endpoint.url] = Lane() if endpoint.server is None else Lane(1)
        refusals = self._refusals.setdefault((endpoint.url, caller, request.model), Refusals())
        lane.enter()
        try:
            async with self._limits.slots[caller], lane.places:
                retrying = AsyncRetrying(
                    stop=stop_after_attempt(self._options.tries),
                    wait=wait_random_exponential(
                        multiplier=self._options.first_wait_seconds, max=self._options.longest_wait_seconds
                    ),
                    retry=retry_if_exception(lambda error: isinstance(error, TryFailed) and error.retry),
                    reraise=True,
                )
                answer: tuple[str, ModelReply, float | None] = await retrying(self._try, outgoing, lane)
            lane.answered()
            refusals.answered()
            self._served.add(request.model)
            return outgoing.call(*answer)
        except TryFailed as failed:
            if failed.is_reply or not failed.retry:
                lane.answered()
                self._count_refusal(failed, refusals, outgoing)
            elif await self._is_down(lane, outgoing):
                raise GatewayStopped(
                    f"{outgoing.owner} failed several times in a row. {failed.sentence}",
                    remedy=f"Check the endpoint. {RESUME}",
                ) from None
            return outgoing.failed(failed)
        finally:
            lane.leave()

    def _count_refusal(self, failed: TryFailed, refusals: Refusals, outgoing: _OutgoingCall) -> None:
        """Count a refusal that no retry can change. Raises GatewayStopped: the limit of equal refusals is reached."""
        if self.stopped is not None:  # calls that fail after the stop are made again when the run resumes
            raise self.stopped from None
        if failed.refusal is None:
            return
        count = refusals.count(failed.refusal, outgoing.sent, in_turn=outgoing.caller is Caller.SYSTEM)
        if 0 < self._options.refusals <= count:
            status, message = failed.refusal
            raise GatewayStopped(
                f"{outgoing.owner} refused {self._options.refusals} requests in a row ({status}){quoted(message)}",
                remedy=refusal_remedy(outgoing.caller, message),
            ) from None

    async def close(self) -> None:
        for client in self._clients.values():
            with suppress(Exception):  # a discarded client may be in any state
                await client.close()

    async def _is_down(self, lane: Lane, outgoing: _OutgoingCall) -> bool:
        down = await lane.down()
        return not await (await self._client(outgoing)).is_up() if down is None else down

    async def _try(self, outgoing: _OutgoingCall, lane: Lane) -> tuple[str, ModelReply, float | None]:
        request, endpoint = outgoing.request, outgoing.endpoint
        client = await self._client(outgoing)
        await self._limits.pace(request)
        reservation = await self._budget.reserve(outgoing.phase, request)
        tokens: int | None = 0
        usd: float | None = 0.0
        started: float | None = None
        try:
            await lane.ready()
            if self.stopped is not None:
                raise self.stopped
            started = outgoing.sent = time.monotonic()
            outgoing.tries += 1
            outgoing.at = outgoing.at or datetime.now(UTC).isoformat(timespec="milliseconds")
            tokens = usd = None
            text, metadata = await self._exchange(client, outgoing)
            tokens, usd = metadata.tokens, metadata.price(request.model)
            return text, metadata, usd
        except TryFailed as failed:
            if endpoint.server is not None and failed.reply is None:
                await asyncio.to_thread(endpoint.server.broke)
            if not failed.billed:
                tokens, usd = 0, 0.0
            elif (used := counted(failed.reply or "", request.api)).tokens is not None:
                outgoing.lost.append(used)
                tokens, usd = used.tokens, used.price(request.model)
            if failed.retry_after is not None:
                wait = min(failed.retry_after, self._options.longest_wait_seconds)
                lane.pause(wait)
                if wait >= _REPORTED_PAUSE_SECONDS:
                    self._note(f"The endpoint {endpoint.url} asks to wait {wait:.0f} s.")
            raise
        except MemevalError as error:
            tokens, usd = 0, 0.0
            of_system = outgoing.caller is Caller.SYSTEM
            if isinstance(error, RequestRefused) and of_system and request.model in self._served:
                # The endpoint answered other requests for this model.
                raise TryFailed(error.problem, retry=False) from None
            raise
        finally:
            outgoing.seconds = 0.0 if started is None else time.monotonic() - started
            self._budget.settle(reservation, tokens, usd)

    async def _exchange(self, client: EndpointClient, outgoing: _OutgoingCall) -> tuple[str, ModelReply]:
        request = outgoing.request
        left = self._budget.seconds_left(outgoing.phase)
        task = asyncio.current_task()
        self.sending.add(task)
        try:
            longest = self._options.timeout_seconds if outgoing.endpoint.server is None else _LOCAL_SECONDS
            text = await client.send(request, longest if left is None else min(longest, max(left, 0.001)))
        finally:
            self.sending.discard(task)
        try:
            return text, read(text, request.api, calls_tools=outgoing.caller is Caller.SYSTEM)
        except UnusableReply as error:
            raise client.fault_in(error, text, request.model) from None

    async def _client(self, outgoing: _OutgoingCall) -> EndpointClient:
        """Return the client for a call; the server of a model on this machine is started if it does not run."""
        endpoint, caller = outgoing.endpoint, outgoing.caller
        if (server := endpoint.server) is not None:
            endpoint = replace(endpoint, url=await asyncio.to_thread(server.address), key=server.key)
        client_key = (endpoint, endpoint.key, caller)
        if client_key not in self._clients:
            self._clients[client_key] = EndpointClient(endpoint, caller, _MOST_BYTES[caller])
        return self._clients[client_key]
