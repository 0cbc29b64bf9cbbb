"""All model calls: answered from the record, joined with an equal call in flight, or sent within limits and budget."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, Self, TypeVar

from memeval.gateway.budget import DEFAULT_OUTPUT, Budget, limited
from memeval.gateway.endpoints import Endpoint
from memeval.gateway.limits import GatewayOptions
from memeval.gateway.record import CallRecord
from memeval.gateway.replies import is_usable
from memeval.gateway.sending import Sender
from memeval.gateway.settings import LIMIT_NAMES, families, settings_for
from memeval.gateway.stops import RESUME, GatewayStopped, NotRecorded
from memeval.records.base import Digest
from memeval.records.call import Call, Caller, ModelRequest, Phase
from memeval.records.errors import MemevalError

__all__ = ["Gateway", "GatewayOptions"]

T = TypeVar("T")

_POLL_SECONDS = 0.02
"""Seconds between two checks whether another process still makes the same call."""
_CLOSE_SECONDS = 0.3
"""Seconds that open tasks get to end when the gateway closes."""


class Gateway:
    """Makes every model call. Use it as a context manager: it owns a thread with an asyncio loop.

    Call its methods from any thread except the loop's. Run its ``async`` methods on the loop, see :meth:`run`.

    ``shared``: calls of judges and readers, shared between runs. A call in it is never sent again. ``budget``: the most
    that may be spent; ``None`` for no cap. Raises BadInput: the user's file of model settings cannot be read.
    """

    def __init__(
        self,
        shared: CallRecord,
        options: GatewayOptions | None = None,
        budget: Budget | None = None,
        *,
        replay: Iterable[Call] | None = None,
        note: Callable[[str], None] = lambda _sentence: None,
    ) -> None:
        self._shared = shared
        self._own = CallRecord(None)
        self._run_id: str | None = None
        self._budget = budget or Budget({})
        self._options = options or GatewayOptions()
        self._families = families()
        self._sender = Sender(self._options, self._budget, note)
        self._reused: dict[Digest, Call] = {}
        self._replay = None if replay is None else _by_key(replay)
        self._in_flight: dict[Digest, asyncio.Task[Call]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="memeval-gateway", daemon=True)
        self.made = self.cached = 0
        self.spent_usd: float | None = 0.0
        """Cost of the calls made, in US dollars; ``None`` if one has no known price."""

    def most_in_flight(self, caller: Caller) -> int:
        return self._options.most_in_flight(caller)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def open_run(self, run_id: str | None, own: CallRecord) -> None:
        """Assign calls to this run from now on. Calls made before the first run was opened are assigned to it too.

        ``own``: the run's own record: calls of systems, and failed calls.
        """

        async def swap() -> None:
            if self._run_id is None:
                own.append_all([call.model_copy(update={"run_id": run_id}) for call in self._own.rows()])
            self._own, self._run_id = own, run_id

        self.run(swap())

    def check(self) -> None:
        """Raise the error that stopped the gateway, if any.

        Raises GatewayStopped: no call can succeed, or the budget is spent, or the time is up. NotRecorded: this is a
        replay, and a request was not in the record.
        """
        self._refuse_if_stopped()
        self._budget.check_time()

    def reuse(self, calls: Iterable[Call]) -> None:
        """Also answer judges and readers from these calls, such as those of a sealed run."""
        self._reused.update((call.key, call) for call in calls if is_usable(call))

    def stored(self, key: Digest) -> Call | None:
        """Return the shared call under ``key`` that has a usable reply; ``None`` if it must be made.

        Older versions stored replies without usable text as answers: these calls are made again.
        """
        call = self._shared.find(key)
        return call if call is not None and is_usable(call) else None

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for it; an interrupt cancels it."""
        return self.result(self.start(coroutine))

    def start(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def result(self, future: Future[T]) -> T:
        """Wait for a coroutine that was started; an interrupt cancels it."""
        try:
            return future.result()
        except CancelledError:
            self._refuse_if_stopped()
            raise
        except BaseException:
            future.cancel()
            raise

    def call(self, request: ModelRequest, endpoint: Endpoint, caller: Caller, phase: Phase) -> Call:
        return self.run(self.ask(request, endpoint, caller, phase))

    async def ask(self, request: ModelRequest, endpoint: Endpoint, caller: Caller, phase: Phase) -> Call:
        """Return a judge's or a reader's call: recorded, joined with an equal call in flight, or made now.

        Returns: The call; its ``error`` is set if no try brought a usable reply. Raises GatewayStopped: no call can
        succeed, or the budget is spent. NotRecorded: this is a replay, and the request is not in the record.
        """
        self._refuse_if_stopped()
        key = request.key
        found = self._recorded(key) or self._reused.get(key) or self.stored(key)
        if found is not None:
            self.cached += 1
            return found
        task = self._in_flight.get(key)
        if task is None:
            self._refuse_if_replaying(request, caller)
            task = self._in_flight[key] = self._start(self._make(request, endpoint, caller, phase, {}))
            task.add_done_callback(lambda _done: self._in_flight.pop(key, None))
        return await asyncio.shield(task)

    async def pass_on(
        self, request: ModelRequest, endpoint: Endpoint, phase: Phase, scenario_id: str | None, ordinal: int
    ) -> Call:
        """Make a system's call and store it in the run's own record.

        ``scenario_id``: the current scenario; ``None`` while the system loads. ``ordinal``: number of equal requests
        before it in this pass over the scenario. Raises GatewayStopped: no call can succeed, or the budget is spent.
        NotRecorded: this is a replay, and the call is not in the record.
        """
        self._refuse_if_stopped()
        short = limited(request, self._limit_name(request))
        for form in (request, short):
            found = self._recorded(form.key_in(scenario_id or "", ordinal))
            if found is not None:
                self.cached += 1
                await self._own.append(found)
                return found
        self._refuse_if_replaying(request, Caller.SYSTEM, scenario_id)
        sent = short if self._budget.limits_output(phase) else request
        labels = {"key": sent.key_in(scenario_id or "", ordinal), "scenario_id": scenario_id, "ordinal": ordinal}
        return await asyncio.shield(self._start(self._make(sent, endpoint, Caller.SYSTEM, phase, labels)))

    def _limit_name(self, request: ModelRequest) -> str:
        limit = settings_for(request.model, request.endpoint, {"max_tokens": DEFAULT_OUTPUT}, self._families)
        return next((name for name in limit if name in LIMIT_NAMES), "max_tokens")

    async def keep(self, call: Call) -> None:
        """Store a call that was refused before it was sent, in the run's own record."""
        await self._own.append(call.model_copy(update={"run_id": self._run_id}))

    async def _make(
        self, request: ModelRequest, endpoint: Endpoint, caller: Caller, phase: Phase, labels: dict[str, Any]
    ) -> Call:
        """Send a request and store its result; an error that stops one call stops all.

        Only one process at a time makes a shared call; the others wait for its reply.
        """
        shares = caller is not Caller.SYSTEM
        try:
            if shares and (found := await self._from_another_process(request.key)) is not None:
                return found
            if request.endpoint != endpoint.url:
                raise ValueError(f"the request names the endpoint {request.endpoint}, not {endpoint.url}")
            sent = await self._sender.send(request, endpoint, caller, phase)
            call = sent.model_copy(update={"run_id": self._run_id, **labels})
            self.made += 1
            if self.spent_usd is not None:
                self.spent_usd = None if call.is_unpriced else self.spent_usd + (call.cost_usd or 0.0)
            await (self._shared if shares and call.error is None else self._own).append(call)
            return call
        except MemevalError as error:
            raise self._stop(error) from None
        except asyncio.CancelledError:
            if self._sender.stopped is not None:
                raise self._sender.stopped from None
            raise
        finally:
            if shares:
                self._shared.release(request.key)

    async def _from_another_process(self, key: Digest) -> Call | None:
        """Wait until no other process makes the call; return it if one has made it."""
        while not self._shared.claim(key):
            await asyncio.sleep(_POLL_SECONDS)
        await self._shared.ingest()
        found = self.stored(key)
        self.cached += found is not None
        return found

    def _recorded(self, key: Digest) -> Call | None:
        return None if self._replay is None else self._replay.get(key)

    def _refuse_if_stopped(self) -> None:
        if self._sender.stopped is not None:
            raise self._sender.stopped

    def _refuse_if_replaying(self, request: ModelRequest, caller: Caller, scenario_id: str | None = None) -> None:
        if self._replay is not None:
            where = f" in scenario {scenario_id}" if scenario_id else ""
            raise self._stop(
                NotRecorded(
                    f"the record holds no call of the {caller}{where} to {request.model}: {request.key}.",
                    remedy="Run without --replay to make it.",
                )
            )

    def _stop(self, error: MemevalError) -> MemevalError:
        """Send nothing more and cancel waiting calls; return the first error that stopped the gateway."""
        if self._sender.stopped is None:
            self._sender.stopped = error
            for task in self._tasks - self._sender.sending - {asyncio.current_task()}:
                task.cancel()
        return self._sender.stopped

    def _start(self, coroutine: Coroutine[Any, Any, Call]) -> asyncio.Task[Call]:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # the caller may be gone
        return task

    async def _end(self) -> None:
        """Cancel open tasks, store the replies that arrived, and close."""
        self._stop(GatewayStopped("the run ended while model calls were in flight.", remedy=RESUME))
        await _cancel(self._tasks)
        await self._shared.drain()
        await self._own.drain()
        await _cancel(asyncio.all_tasks() - {asyncio.current_task()})
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._sender.close()
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()


async def _cancel(tasks: Iterable[asyncio.Task[Any] | None]) -> None:
    ending = [task for task in tasks if task is not None]
    for task in ending:
        task.cancel()
    if ending:
        await asyncio.wait(ending, timeout=_CLOSE_SECONDS)


def _by_key(calls: Iterable[Call]) -> dict[Digest, Call]:
    """Return the last call under each key; a call with a reply is preferred to a failed one."""
    found: dict[Digest, Call] = {}
    for call in calls:
        if call.error is None or call.key not in found or found[call.key].error is not None:
            found[call.key] = call
    return found
