"""One adapter instance in a process of its own: the calls, their time limits, and what can go wrong."""

from __future__ import annotations

import contextlib
import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import TracebackType
from typing import Any, NamedTuple, Self

from memeval.records.response import ReportedUsage
from memeval.records.scenario import Recall
from memeval.records.track import Limits
from memeval.systems import messages
from memeval.systems.channel import LineEnded, LineTimedOut, LineTooLong
from memeval.systems.child import Launch, WorkerProcess
from memeval.systems.errors import (
    AdapterMisbehaved,
    SystemDied,
    SystemFailure,
    SystemNotReady,
    SystemTimedOut,
)
from memeval.systems.launching import DRIVERS_FOLDER
from memeval.systems.messages import LOADING, AdapterInfo, FoundItem, ProtocolError, SystemReply
from memeval.systems.output import Log
from memeval.systems.remedies import remedy_for, signal_words, slow_remedy
from memeval.systems.sandbox import Sandbox

WINDOW_SESSIONS = 32
WINDOW_BYTES = 256_000
"""How many sessions, and bytes of them, are on their way at once; one session always may be."""

HELD_SECONDS = 0.05
"""How long the worker may hold back the reply to a session, to send it with the next ones."""

CLOSE_SECONDS = 10.0
"""How long an adapter's ``close`` may take."""

USAGE_SECONDS = 10.0
"""How long an adapter's ``usage`` may take."""

LOOK_SECONDS = 1.0
"""How often it is looked whether a system that is past its limit is still kept waiting for models."""

METHODS = {"load": LOADING, **messages.CALLS}
"""What a call is named in sentences, where it is not by its own name."""


class _Waiting(NamedTuple):
    """A call on its way."""

    call: str
    number: int
    size: int
    seconds: float


class SystemProcess:
    """One adapter instance in its own process group, with its own folder and a clean environment.

    Calls block, and are made by one thread at a time; :meth:`kill` may be called from any. Every call raises a
    :class:`SystemFailure`; after one that ends the process (see :attr:`alive`), :meth:`start` starts it again.

    Args:
        launch: how it is started.
        limits: what it is allowed, per call.
        log: takes what the system prints, line by line, from another thread, and where its exceptions came from.
        environment: variables the system gets, besides those that every system gets; nothing else of memeval's does.
        waited: the seconds that memeval has kept the system waiting for models so far, which no limit counts.
        sandbox: what holds it; ``None`` leaves files and network within its reach.

    Attributes:
        log: as given; another may take over at any time.
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
        self._child: WorkerProcess | None = None
        self._number = 0
        self.hello: AdapterInfo | None = None
        """What the process said of itself when it was last started."""

    def __enter__(self) -> Self:
        if not self.alive:
            self.start()
        return self

    def _say(self, line: str) -> None:
        self.log(line)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        """Whether calls can be made."""
        return self._child is not None

    @property
    def child(self) -> WorkerProcess | None:
        """The process itself; ``None`` while there is none."""
        return self._child

    def start(self) -> AdapterInfo:
        """Start the process, load the adapter and make an instance. A process from before is ended.

        Raises:
            NoAdapter: the file has no adapter class, or not the one asked for.
            SystemFailure: the adapter could not be loaded.
            BadInput: the interpreter cannot be run.
        """
        self._end()
        # Escaping makes UTF-8 at most three times as long; the rest is room for the form around it.
        line_limit = 3 * self._limits.reply_bytes + 64_000
        self._child = WorkerProcess(self._launch, line_limit, self._say, self._environment, self._sandbox)
        request = {
            "file": str(self._child.file),
            "class": self._launch.class_name,
            "parameters": dict(self._launch.parameters),
            "reply_bytes": self._limits.reply_bytes,
        }
        try:
            reply = self._call("load", self._load_seconds, b"," + messages.to_line(request)[1:-1])
            with self._protocol_kept("load"):
                self.hello = messages.hello(reply["value"])
        except BaseException:
            self._end()
            raise
        return self.hello

    def reset(self) -> float:
        """Empty the memory; return the seconds it took."""
        started = self._service()
        self._call("reset", self._limits.reset_seconds)
        return self._service() - started

    def ingest(self, sessions: Iterable[tuple[bytes | Mapping[str, Any], str]], *, afresh: bool = False) -> float:
        """Have sessions taken in, in order; return the seconds that all of them took.

        The next ones are sent while one is taken in, but the limit holds for each. Once one fails, those behind it
        are not taken in, until the next reset.

        Args:
            sessions: each as one line of ASCII JSON (see :func:`messages.session_json`) or as a dict, with its time.
            afresh: whether the memory is reset first, in the same breath.

        Raises:
            SystemFailure: the first failure.
        """
        started = self._service()
        waiting: deque[_Waiting] = deque()
        in_flight = 0
        if afresh:
            waiting.append(_Waiting("reset", self._send("reset", b""), 0, self._limits.reset_seconds))
        for session, timestamp in sessions:
            data = session if isinstance(session, bytes) else messages.to_line(session)
            while waiting and (len(waiting) >= WINDOW_SESSIONS or in_flight + len(data) > WINDOW_BYTES):
                in_flight -= self._answered(waiting)
            number = self._send("take_in", b',"timestamp":%b,"session":%b' % (_ascii(timestamp), data))
            waiting.append(_Waiting("take_in", number, len(data), self._limits.take_in_seconds))
            in_flight += len(data)
        while waiting:
            self._answered(waiting)
        return self._service() - started

    def settle(self) -> float | None:
        """Wait until all that was taken in can be asked for; return the seconds, ``None`` where there is no ``settle``.

        Raises:
            SystemNotReady: it said so, or did not come back in time; in the latter case the process is gone.
        """
        if self.hello is None or not self.hello.can("settle"):
            return None
        seconds = self._limits.settle_seconds
        started = self._service()
        try:
            reply = self._call("settle", seconds * 1.05 + 1.0, b',"timeout":%b' % messages.to_line(seconds))
        except SystemTimedOut as failure:
            place = f" ({failure.at})" if failure.at else ""
            raise SystemNotReady(
                f"settle was not done after {seconds:g} s{place}.", remedy=failure.remedy, at=failure.at
            ) from None
        if reply["value"] is not True:
            raise SystemNotReady("settle returned False: the system is not ready.")
        return self._service() - started

    def ask(self, question: str, timestamp: str | None = None) -> SystemReply:
        """Put a question to a system that answers.

        Args:
            question: its text.
            timestamp: the time it is asked as of; ``None`` leaves it to the adapter's default.
        """
        return self._question("ask", b',"question":%b%b' % (_ascii(question), _at(timestamp)))

    def search(self, question: str, k: int, timestamp: str | None = None) -> SystemReply:
        """Have the memory searched.

        Args:
            question: what for.
            k: how many items at most the system should bring up.
            timestamp: the time of the search; ``None`` leaves it to the adapter's default.
        """
        return self._question("search", b',"query":%b,"k":%d%b' % (_ascii(question), k, _at(timestamp)))

    def usage(self) -> ReportedUsage:
        """Return the system's own account of its model calls, in totals; only where it has ``usage``."""
        reply = self._call("usage", USAGE_SECONDS)
        with self._protocol_kept("usage"):
            return messages.usage(reply["value"])

    def retain(
        self,
        content: str,
        *,
        bank: str | None = None,
        timestamp: str | None = None,
        tags: Sequence[str] | None = None,
        source_id: str | None = None,
        fact_type: str | None = None,
        metadata: Mapping[str, str | float] | None = None,
    ) -> float:
        """Have a text taken in; return the seconds it took. Only where the system has ``retain``.

        Args:
            content: the text.
            bank: where it belongs; ``None`` leaves it to the adapter's default.
            timestamp: when it happened.
            tags: what it can be filtered by.
            source_id: what the system shall give back as the source of what it brings up.
            fact_type: what sort of thing it is.
            metadata: what else goes with it.
        """
        parts = _parts(
            content=content,
            bank=bank,
            timestamp=timestamp,
            tags=tags,
            source_id=source_id,
            fact_type=fact_type,
            metadata=metadata,
        )
        started = self._service()
        self._call("retain", self._limits.take_in_seconds, parts)
        return self._service() - started

    def recall(
        self,
        query: str,
        k: int,
        *,
        bank: str | None = None,
        timestamp: str | None = None,
        tags: Sequence[str] | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> SystemReply:
        """Have a bank searched. Only where the system has ``recall``.

        Args:
            query: what for.
            k: how many items at most the system should bring up.
            bank: where; ``None`` leaves it to the adapter's default.
            timestamp: the time of the search.
            tags: only what has one of them.
            since: only what happened then or later.
            until: only what happened before.
        """
        when = {"timestamp": timestamp, "since": since, "until": until}
        return self._question("recall", _parts(query=query, k=k, bank=bank, tags=tags, **when))

    def recall_together(self, asked: Sequence[Recall], in_flight: int) -> Iterator[SystemReply | SystemFailure]:
        """Have a bank searched time and again, with several searches on their way at once.

        Replies come in the order of the questions. The seconds of each are from when it was sent, so those spent
        waiting for the ones before it are among them; its limit counts from when the one before it was answered.

        Args:
            asked: the searches, in order.
            in_flight: how many may be on their way.

        Yields:
            Per search its reply, or what went wrong with it; nothing more once the process is gone.
        """
        waiting: deque[tuple[int, float]] = deque()
        todo = iter(asked)
        while True:
            try:
                for each in islice(todo, in_flight - len(waiting)):
                    waiting.append((self._send("recall", _recall_parts(each)), self._service()))
                if not waiting:
                    return
                number, sent = waiting.popleft()
                line = self._receive("recall", self._limits.ask_seconds)
                seconds = self._service() - sent
                reply = self._read("recall", number, line)
                with self._protocol_kept("recall"):
                    yield messages.reply(reply["value"], seconds, reply.get("seconds"))
            except SystemFailure as failure:
                yield failure
                if not self.alive:
                    return

    def reflect(
        self,
        query: str,
        *,
        bank: str | None = None,
        timestamp: str | None = None,
        dispositions: Mapping[str, int] | None = None,
    ) -> SystemReply:
        """Put a question to a bank. Only where the system has ``reflect``.

        Args:
            query: the question.
            bank: where; ``None`` leaves it to the adapter's default.
            timestamp: the time it is asked as of.
            dispositions: traits it is answered under, each from 1 to 5; only where the system takes them.
        """
        parts = _parts(query=query, bank=bank, timestamp=timestamp, dispositions=dispositions)
        return self._question("reflect", parts)

    def forget(
        self, *, bank: str | None = None, ids: Sequence[str] | None = None, query: str | None = None
    ) -> int | None:
        """Have what fits all that is given forgotten; return how many memories, where the system says.

        Args:
            bank: all that is in it.
            ids: texts that were retained under these ids.
            query: what it is about.
        """
        reply = self._call("forget", self._limits.reset_seconds, _parts(bank=bank, ids=ids, query=query))
        with self._protocol_kept("forget"):
            return messages.forgotten(reply["value"])

    def export(self) -> tuple[FoundItem, ...]:
        """Return all that the system keeps. Only where it has ``export_memories``."""
        reply = self._call("export", self._limits.ask_seconds)
        with self._protocol_kept("export"):
            return messages.exported(reply["value"])

    def close(self) -> None:
        """Let the adapter close, then end the process and all it started, and delete its folder. Never raises."""
        if self._child is not None:
            try:
                self._call("close", CLOSE_SECONDS)
                self._child.ends_by_itself()
            except SystemFailure as failure:
                self.log(f"While closing: {failure}")
        self._end()

    def kill(self) -> None:
        """End the process at once. A call that another thread is waiting on fails with :class:`SystemDied`."""
        child = self._child
        if child is not None:
            child.kill()

    @property
    def _load_seconds(self) -> float:
        """How long it may take until the first call: what is asked for in so many words may make it longer."""
        asked = self._launch.resources
        more = asked.start_seconds if "start_seconds" in asked.model_fields_set else 0.0
        return max(self._limits.load_seconds, more)

    def _service(self) -> float:
        """Return a clock that stands still while memeval keeps the system waiting for models."""
        return time.monotonic() - self._waited()

    def _question(self, call: str, arguments: bytes) -> SystemReply:
        started = self._service()
        number = self._send(call, arguments)
        line = self._receive(call, self._limits.ask_seconds)
        seconds = self._service() - started
        reply = self._read(call, number, line)
        if call in ("ask", "reflect"):
            messages.require_answer(reply["value"], call)
        with self._protocol_kept(call):
            return messages.reply(reply["value"], seconds, reply.get("seconds"))

    def _answered(self, waiting: deque[_Waiting]) -> int:
        """Wait for the oldest call on its way, and return its bytes; on failure, wait for the others first."""
        oldest = waiting.popleft()
        try:
            self._read(oldest.call, oldest.number, self._receive(oldest.call, oldest.seconds + HELD_SECONDS))
        except SystemFailure:
            while waiting and self.alive:
                with contextlib.suppress(SystemFailure):
                    self._answered(waiting)
            raise
        return oldest.size

    def _call(self, call: str, seconds: float, arguments: bytes = b"") -> dict[str, Any]:
        number = self._send(call, arguments)
        return self._read(call, number, self._receive(call, seconds))

    def _running(self) -> WorkerProcess:
        if self._child is None:
            raise SystemDied("The system's process is not running.")
        return self._child

    def _send(self, call: str, arguments: bytes) -> int:
        self._number += 1
        line = b'{"id":%d,"call":"%b"%b}\n' % (self._number, call.encode("ascii"), arguments)
        self._running().channel.send(line)
        return self._number

    def _receive(self, call: str, seconds: float) -> bytes:
        child = self._running()
        try:
            return self._line(child, seconds)
        except LineTimedOut:
            at = child.stands_at() if self._is_own else ""
            self._end()
            place = f" ({at})" if at else ""
            raise SystemTimedOut(
                f"{METHODS.get(call, call)} took longer than {seconds:g} s{place}.",
                remedy=slow_remedy(call, self._launch),
                at=at,
            ) from None
        except LineTooLong:
            self._end()
            limit = f"{self._limits.reply_bytes / 1_000_000:g} MB"
            raise AdapterMisbehaved(f"The reply to {METHODS.get(call, call)} exceeds the limit of {limit}.") from None
        except LineEnded:
            raise self._ended(call, child) from None

    def _line(self, child: WorkerProcess, seconds: float) -> bytes:
        """Return the next line; what the system is kept waiting for models meanwhile comes on top of the limit."""
        began, before = time.monotonic(), self._waited()

        def left() -> float:
            return seconds + self._waited() - before - (time.monotonic() - began)

        with contextlib.suppress(LineTimedOut):
            return child.channel.receive(seconds)
        while (wait := left()) > 0:
            with contextlib.suppress(LineTimedOut):
                line = child.channel.receive(min(wait, LOOK_SECONDS))
                if left() > 0:  # else it was served for longer than the limit, which is the system's own affair
                    return line
        raise LineTimedOut

    def _read(self, call: str, number: int, line: bytes) -> dict[str, Any]:
        with self._protocol_kept(call):
            reply = messages.from_line(line, number)
            if "error" not in reply:
                return reply
            failure = messages.failure(reply["error"], call, self._remedy, is_own=self._is_own)
        for frame in failure.trace:
            self.log(f"{failure.problem} At {frame}")
        if isinstance(failure, SystemDied):  # the server behind a driver: a new start brings both back
            self._end()
        raise failure

    @property
    def _is_own(self) -> bool:
        """Whether the class is the author's own, and no driver of memeval's."""
        return self._launch.file.parent != DRIVERS_FOLDER

    def _remedy(self, cause: str, about: str, method: str) -> str:
        return remedy_for(cause, about, method, self._launch, sandboxed=self._sandbox is not None)

    @contextlib.contextmanager
    def _protocol_kept(self, call: str) -> Iterator[None]:
        """End a system whose reply breaks the protocol."""
        try:
            yield
        except ProtocolError as error:
            self._end()
            sentence = f"The reply to {METHODS.get(call, call)} {error}"
            raise AdapterMisbehaved(sentence, remedy=error.remedy) from None

    def _ended(self, call: str, child: WorkerProcess) -> SystemFailure:
        """End what is left, and say how the process ended."""
        by_itself = child.ends_by_itself()
        code = self._end()
        doing = METHODS.get(call, call)
        if child.verdict:
            todo = "Use less, or raise the limit under [resources] in submission.toml."
            return SystemDied(f"The system was ended during {doing}: {child.verdict}.", remedy=todo)
        if not by_itself:
            todo = "Close only what the system opened itself."
            return AdapterMisbehaved(f"The system closed its connection to memeval during {doing}.", remedy=todo)
        if code < 0:
            at = child.stood_at if self._is_own else ""
            place = f" ({at})" if at else ""
            return SystemDied(f"The process was killed by {signal_words(-code)} during {doing}{place}.", at=at)
        last = f" Its last line of output: {child.last_line[:300]}" if child.last_line else ""
        todo = "" if self._launch.program else "Return or raise instead of ending the process."
        return SystemDied(f"The process ended with exit code {code} during {doing}.{last}", remedy=todo)

    def _end(self) -> int:
        """End the process, where there is one; return its exit code (0 where there was none)."""
        child, self._child = self._child, None
        self._number = 0
        return 0 if child is None else child.end()


def _ascii(text: str) -> bytes:
    return json.dumps(text).encode("ascii")


def _parts(**parts: Any) -> bytes:
    """Return the parts of a request that are there, as they stand behind its call."""
    there = {name: part for name, part in parts.items() if part is not None}
    return b"," + messages.to_line(there)[1:-1] if there else b""


def _recall_parts(asked: Recall) -> bytes:
    when = {"timestamp": asked.timestamp, "since": asked.since, "until": asked.until}
    return _parts(query=asked.question, k=asked.k, bank=asked.bank, tags=asked.tags, **when)


def _at(timestamp: str | None) -> bytes:
    return b"" if timestamp is None else b',"timestamp":%b' % _ascii(timestamp)
