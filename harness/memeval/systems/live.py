"""Runs an object of the caller instead of a process, with the same calls and the same checks of replies."""

import asyncio
import json
import sys
from collections import deque
from pathlib import Path
from typing import Any

from memeval.records.errors import BadInput
from memeval.records.track import Limits
from memeval.systems.channel import Log
from memeval.systems.child import Launch
from memeval.systems.errors import SystemFailure
from memeval.systems.messages import AdapterInfo
from memeval.systems.process import SystemProcess
from memeval.systems.worker import NAMES, Calls, takes_keyword
from memeval.systems.worker_together import answer_all


class _LiveCalls(Calls):
    """The calls on an object that memeval must not empty. Interrupts go to the caller."""

    def reset(self, request: dict[str, Any]) -> None:
        """Do nothing: the object may hold other data than memeval's."""

    def describe(self, error: BaseException) -> dict[str, Any]:
        """Return a failure as plain data. Exceptions that end the program are raised again."""
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise error
        return super().describe(error)


class LiveSystem(SystemProcess):
    """An object in this process with the calls of a worker, for one thread at a time.

    The object runs in this process: without a sandbox, without time limits, and it is never restarted. memeval never
    empties or closes it.

    ``system``: the object, with the methods of an adapter, asynchronous or not. ``limits``: limits per call; only the
    size of replies is used. Raises BadInput: an event loop runs in this thread, so asynchronous methods cannot be
    awaited.
    """

    def __init__(self, system: object, limits: Limits, log: Log) -> None:
        super().__init__(Launch(file=Path("live")), limits, log)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise BadInput(
                "memeval was called in a thread with a running event loop.",
                remedy="Run it in another thread: await asyncio.to_thread(memeval.run_suite, system).",
            )
        self._calls = _LiveCalls()
        self._calls.system, self._calls.reply_bytes = system, limits.reply_bytes
        self._waiting: deque[dict[str, Any]] = deque()
        self._replies: deque[bytes] = deque()
        self.failed_retains = 0
        self.adapter = AdapterInfo(
            class_name=type(system).__name__,
            capabilities=tuple(sorted(self._calls.capabilities())),
            implementation=sys.implementation.name,
            python=".".join(map(str, sys.version_info[:3])),
            packages={},
        )

    @property
    def alive(self) -> bool:
        return True

    def start(self) -> AdapterInfo:
        return self.adapter

    def close(self) -> None:
        """Close the event loop of asynchronous calls, and let go of the object. The object is not closed."""
        if self._calls.loop is not None:
            self._calls.loop.close()
            asyncio.set_event_loop(None)
        self._calls.system = None

    def kill(self) -> None:
        """Do nothing: a call in this thread cannot be killed."""

    def knows_banks(self, method: str) -> bool:
        return self._calls.has(method) and any(
            takes_keyword(getattr(self._calls.system, method), name) for name in NAMES["bank"]
        )

    def _call(self, call: str, seconds: float, arguments: bytes = b"") -> dict[str, Any]:
        try:
            return super()._call(call, seconds, arguments)
        except SystemFailure:
            self.failed_retains += call == "retain"
            raise

    def _send(self, call: str, arguments: bytes) -> int:
        self._number += 1
        request = json.loads(b"{%b}" % arguments.lstrip(b",")) if arguments else {}
        self._waiting.append({"id": self._number, "call": call, **request})
        return self._number

    def _line_within(self, call: str, seconds: float) -> bytes | None:
        if not self._replies:
            requests = list(self._waiting)
            together = all(request.get("together") for request in requests)
            if len(requests) > 1 and together and self._calls.is_asynchronous(call):
                self._waiting.clear()
                answer_all(self._calls, requests, self._add_reply)
            else:
                self._add_reply(self._calls.reply(self._waiting.popleft()))
        return self._replies.popleft()

    def _add_reply(self, reply: str) -> None:
        self._replies.append(reply.encode("ascii"))

    def _end(self) -> int:
        return 0
