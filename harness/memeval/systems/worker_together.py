"""Answers several questions, or retains several texts, at the same time. The worker loads it when it first must.

The file is beside the worker. Like the worker, it needs only the standard library of Python 3.9 or later.

Each call has a thread. A method that is not asynchronous runs in it; a coroutine runs on the adapter's event loop,
in the main thread, as it does when questions are asked one by one.
"""

from __future__ import annotations

import asyncio
import copy
import json
from concurrent.futures import ThreadPoolExecutor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MOST_THREADS = 1024
"""The most calls at a time; memeval sends no more questions than the adapter declares."""


class Together:
    def __init__(self, calls: Any, write: Callable[[str], None]) -> None:
        self._calls, self._write = calls, write
        self._threads = ThreadPoolExecutor(MOST_THREADS, "memeval-question")
        self._running: set[Any] = set()

    def start(self, request: dict[str, Any]) -> None:
        """Start a call; called on the event loop."""
        task = asyncio.ensure_future(self._reply_to(request))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def finish(self) -> None:
        while self._running:
            await asyncio.wait(set(self._running))

    async def _reply_to(self, request: dict[str, Any]) -> None:
        calls = copy.copy(self._calls)  # the method that runs is another one for each question
        calls.wait_for = self._waited_for
        self._write(await self._calls.loop.run_in_executor(self._threads, calls.reply, request))

    def _waited_for(self, awaitable: Any) -> Any:
        """Wait in a question's thread for a coroutine on the event loop."""
        return asyncio.run_coroutine_threadsafe(_awaited(awaitable), self._calls.loop).result()

    def end(self) -> None:
        self._threads.shutdown()


async def _awaited(awaitable: Any) -> Any:
    return await awaitable


def answer_all(calls: Any, requests: list[dict[str, Any]], write: Callable[[str], None]) -> None:
    """Make several calls at the same time, and wait for the last reply."""
    together = Together(calls, write)

    async def all_of_them() -> None:
        for request in requests:
            together.start(request)
        await together.finish()

    calls.event_loop().run_until_complete(all_of_them())
    together.end()


def converse(calls: Any, first: list[dict[str, Any]], lines: Any, write: Callable[[str], None]) -> list[dict[str, Any]]:
    """Make calls at the same time, until one arrives that must be made alone.

    ``first``: requests that have arrived; the first of them may be made together with others.
    Returns: The requests
    from the one that must be made alone; none at the end of the input. All others have their replies.
    """
    loop, together = calls.event_loop(), Together(calls, write)
    rest: list[dict[str, Any]] = []

    async def until_another_call() -> None:
        over = asyncio.Event()

        def begin(requests: list[dict[str, Any]]) -> None:
            for place, request in enumerate(requests):
                if rest or not calls.is_together(request):
                    rest.extend(requests[place:])
                    over.set()
                    return
                together.start(request)

        def read() -> None:
            try:
                begin([json.loads(line) for line in lines.read()])
            except EOFError:
                over.set()

        begin(first)
        if not rest:
            loop.add_reader(lines.descriptor, read)
            await over.wait()
            loop.remove_reader(lines.descriptor)
        await together.finish()

    loop.run_until_complete(until_another_call())
    together.end()
    return rest
