"""The process of one adapter instance: requests go in, replies come out, and a missing or wrong one is a failure."""

import contextlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from memeval.records.track import Limits
from memeval.systems import messages
from memeval.systems.channel import LineEnded, LineTimedOut, LineTooLong, Log, visible
from memeval.systems.child import Launch, WorkerProcess
from memeval.systems.drivers.printed import cause_in
from memeval.systems.drivers.printed import remedy as known_remedy
from memeval.systems.errors import AdapterMisbehaved, SystemDied, SystemFailure, SystemTimedOut
from memeval.systems.launching import DRIVERS_FOLDER
from memeval.systems.messages import LOADING, ProtocolError, SystemReply
from memeval.systems.remedies import remedy_for, signal_words, slow_remedy
from memeval.systems.sandbox import Sandbox

CHECK_SECONDS = 1.0
"""Interval of checks whether a system past its limit still waits for models."""

UNFLUSHED = "It has read the request: flush standard output after each reply."
UNREAD = "It has not read the request: read standard input, one request a line."

METHODS = {"load": LOADING, **messages.CALLS}


class ReplyingProcess:
    """One adapter instance in its own process group, which answers requests by number.

    A failure that leaves the process in an unknown state ends it.

    Args:
        limits: limits per call.
        log: receives each line that the system prints, from another thread, and the frames of its exceptions.
        environment: variables of the system, besides those of every system; it inherits no others.
        waited: returns the seconds for which memeval has made the system wait for models; limits exclude them.
        sandbox: the sandbox; ``None`` runs the system without one, with access to files and network.
    """

    def __init__(
        self,
        launch: Launch,
        limits: Limits,
        log: Log,
        environment: Mapping[str, str] = {},
        waited: Callable[[], float] = lambda: 0.0,
        sandbox: Sandbox | None = None,
    ) -> None:
        self._launch = launch
        self._sandbox = sandbox
        self._waited = waited
        self._environment = environment
        self._limits = limits
        self.log = log
        self.child: WorkerProcess | None = None
        """The process; ``None`` if it does not run."""
        self._number = 0
        self.storage: Path | None = None
        """The storage folder for the next start; ``None`` for one that ends with the process."""
        self.adapter = messages.NOT_LOADED
        """The reply to ``load`` at the last start."""

    @property
    def alive(self) -> bool:
        """Whether the process runs, so that calls can be made."""
        return self.child is not None

    def _log_line(self, line: str) -> None:
        self.log(line)

    def _clock(self) -> float:
        """Return the seconds of a clock that stops while the system waits for memeval's model calls."""
        return time.monotonic() - self._waited()

    def _call(self, call: str, seconds: float, arguments: bytes = b"") -> dict[str, Any]:
        number = self._send(call, arguments)
        return self._read(call, number, self._receive(call, seconds))

    def _running(self) -> WorkerProcess:
        if self.child is None:
            raise SystemDied("The system's process is not running.")
        return self.child

    def _send(self, call: str, arguments: bytes) -> int:
        self._number += 1
        line = b'{"id":%d,"call":"%b"%b}\n' % (self._number, call.encode("ascii"), arguments)
        self._running().channel.send(line)
        return self._number

    def _receive(self, call: str, seconds: float, delay: float = 0.0) -> bytes:
        """Return the next line; the time that the system waits for models does not count towards the limit.

        ``delay``: how long the worker may delay the reply, beyond the limit.
        """
        began, before = time.monotonic(), self._waited()

        def left() -> float:
            return seconds + delay + self._waited() - before - (time.monotonic() - began)

        line = self._line_within(call, seconds + delay)
        while line is None and (wait := left()) > 0:
            late = self._line_within(call, min(wait, CHECK_SECONDS))
            if left() > 0:  # otherwise the system itself took longer than the limit
                line = late
        if line is None:
            raise self._timed_out(call, seconds)
        return line

    def _line_within(self, call: str, seconds: float) -> bytes | None:
        """Return the next line; ``None`` if none arrives in time."""
        child = self._running()
        try:
            return child.channel.receive(seconds)
        except LineTimedOut:
            return None
        except LineTooLong:
            self._end()
            limit = f"{self._limits.reply_bytes / 1_000_000:g} MB"
            problem = f"The reply to {METHODS.get(call, call)} exceeds the limit of {limit}."
            raise AdapterMisbehaved(problem) from None
        except LineEnded:
            raise self._ended(call, child) from None

    def _timed_out(self, call: str, seconds: float) -> SystemTimedOut:
        child = self._running()
        at = child.request_frame() if self._is_own else ""
        remedy = slow_remedy(call, self._launch)
        if call == "load" and self._launch.program:
            remedy = f"{UNFLUSHED if child.channel.is_read() else UNREAD} {remedy}"
        self._end()
        position = f" ({at})" if at else ""
        return SystemTimedOut(
            f"{METHODS.get(call, call)} took longer than {seconds:g} s{position}.", remedy=remedy, at=at
        )

    def _read(self, call: str, number: int, line: bytes) -> dict[str, Any]:
        return self._succeeded(call, self._parsed(call, line, (number,)))

    def _parsed(self, call: str, line: bytes, numbers: Collection[int]) -> dict[str, Any]:
        with self._protocol_kept(call):
            return messages.from_line(line, numbers)

    def _checked(self, call: str, reply: dict[str, Any], seconds: float) -> SystemReply:
        """Return the reply to a question, or to a text; the value of the latter means nothing."""
        value = self._succeeded(call, reply)["value"]
        if call == "retain":
            return messages.reply({}, seconds)
        if call in ("ask", "reflect"):
            messages.require_answer(value, call)
        with self._protocol_kept(call):
            return messages.reply(value, seconds)

    def _succeeded(self, call: str, reply: dict[str, Any]) -> dict[str, Any]:
        if "error" not in reply:
            return reply
        with self._protocol_kept(call):
            failure = messages.failure(reply["error"], call, self._remedy, is_own=self._is_own, at=self._line_of)
        for frame in failure.trace:
            self.log(f"{failure.problem} At {frame}")
        if isinstance(failure, SystemDied):  # the server of a driver has ended: a new start starts both
            self._end()
        raise failure

    @property
    def _is_own(self) -> bool:
        return self._launch.file.parent != DRIVERS_FOLDER

    def _own_folders(self, child: WorkerProcess) -> tuple[str, ...]:
        """Return the folders of the author's files, as the system sees them."""
        if self._launch.folder is None:
            return (str(child.file.parent),)
        return str(self._launch.folder.absolute()), f"{child.folder}/work"

    def _line_of(self, message: str) -> str:
        """Return the file and line of the author's code in an error that a program printed; empty if it has none."""
        child = self._running()
        return child.line_of(visible(message), self._own_folders(child))

    def _remedy(self, cause: str, about: str, method: str) -> str:
        return remedy_for(cause, about, method, self._launch, sandboxed=self._sandbox is not None)

    @contextlib.contextmanager
    def _protocol_kept(self, call: str) -> Iterator[None]:
        try:
            yield
        except ProtocolError as error:
            self._end()
            problem = f"The reply to {METHODS.get(call, call)} {error}"
            raise AdapterMisbehaved(problem, remedy=error.remedy) from None

    def _ended(self, call: str, child: WorkerProcess) -> SystemFailure:
        by_itself = child.ends_by_itself()
        code = self._end()
        doing = METHODS.get(call, call)
        if child.excess:
            remedy = "Use less, or raise the limit under [resources] in submission.toml."
            return SystemDied(f"The system was stopped during {doing}: {child.excess}.", remedy=remedy)
        if not by_itself:
            remedy = "Close only files and sockets that the system itself opened."
            return AdapterMisbehaved(f"The system closed its connection to memeval during {doing}.", remedy=remedy)
        if code < 0:
            at = child.last_frame if self._is_own else ""
            position = f" ({at})" if at else ""
            return SystemDied(f"The process was killed by {signal_words(-code)} during {doing}{position}.", at=at)
        lines = child.last_lines
        last = f" Its last line of output: {lines[-1][:300]}" if lines else ""
        remedy = "" if self._launch.program else "Return or raise instead of ending the process."
        if code and (cause := cause_in(lines, self._own_folders(child))):
            last = f" Its output: {cause[:300].rstrip('.')}."
            remedy = remedy or known_remedy(cause).strip()
        return SystemDied(f"The process ended with exit code {code} during {doing}.{last}", remedy=remedy)

    def _end(self) -> int:
        """End the process; return its exit code, 0 if there was no process."""
        child, self.child = self.child, None
        self._number = 0
        return 0 if child is None else child.end()
