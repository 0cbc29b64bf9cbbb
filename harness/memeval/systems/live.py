"""A live object of the caller's own in the place of a process: the same calls, the same checks of what comes back."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import deque
from pathlib import Path
from typing import Any

from memeval.records.errors import BadInput
from memeval.records.track import Limits
from memeval.systems.child import Launch
from memeval.systems.errors import SystemFailure
from memeval.systems.messages import AdapterInfo
from memeval.systems.output import Log
from memeval.systems.process import SystemProcess
from memeval.systems.worker import NAMES, Calls, takes_keyword


class _LiveCalls(Calls):
    """The calls on an object that is not memeval's to empty, and whose interruption is the caller's."""

    def reset(self, request: dict[str, Any]) -> None:
        """Leave what the object holds: it may be more than memeval put there."""

    def describe(self, error: BaseException) -> dict[str, Any]:
        """Return a failure as plain data; what ends the program is no failure of the object."""
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise error
        return super().describe(error)


class LiveSystem(SystemProcess):
    """An object in this process, called as a worker would call it; one thread at a time.

    There is no process around it, so nothing holds it, its calls have no time limits, and it is never started again.
    It is never emptied as a whole, and never closed.

    Args:
        system: the object, with the methods of an adapter, asynchronous or not.
        limits: what it is allowed; of use here are the sizes of replies.
        log: takes where its exceptions came from, line by line.

    Raises:
        BadInput: there is an event loop running in this thread, in which nothing can be waited for.
    """

    def __init__(self, system: object, limits: Limits, log: Log) -> None:
        super().__init__(Launch(file=Path("live")), limits, log)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise BadInput(
                "this was called from within a running event loop.",
                remedy="Give it a thread of its own: await asyncio.to_thread(memeval.run_suite, system).",
            )
        self._calls = _LiveCalls()
        self._calls.system, self._calls.reply_bytes = system, limits.reply_bytes
        self._waiting: deque[dict[str, Any]] = deque()
        self._replies: deque[bytes] = deque()
        self.failed_retains = 0
        """Texts that could not be retained."""
        self._hello = AdapterInfo(
            class_name=type(system).__name__,
            candidates=(),
            capabilities=tuple(sorted(self._calls.capabilities())),
            implementation=sys.implementation.name,
            python=".".join(map(str, sys.version_info[:3])),
            packages={},
        )
        self.hello = self._hello

    @property
    def alive(self) -> bool:
        """Whether calls can be made: always."""
        return True

    def start(self) -> AdapterInfo:
        """Return what the object can do; it is there already."""
        return self._hello

    def close(self) -> None:
        """Put away what was made to wait for the object's replies; the object stays as it is."""
        if self._calls.loop is not None:
            self._calls.loop.close()
            asyncio.set_event_loop(None)

    def kill(self) -> None:
        """Do nothing: what runs in this thread ends by itself."""

    def knows_banks(self, method: str) -> bool:
        """Whether a method of the object takes the name of a bank."""
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

    def _receive(self, call: str, seconds: float) -> bytes:
        if not self._replies:
            together = list(self._waiting)
            if len(together) > 1 and call == "recall" and self._calls.recalls_at_once():
                self._waiting.clear()
                self._calls.answer_together(together, self._take)
            else:
                self._take(self._calls.answer(self._waiting.popleft()))
        return self._replies.popleft()

    def _take(self, reply: str) -> None:
        self._replies.append(reply.encode("ascii"))

    def _end(self) -> int:
        return 0
