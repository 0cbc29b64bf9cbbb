"""One adapter instance in its own process: its calls, their time limits and their failures."""

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
from memeval.systems.drivers.printed import cause_in
from memeval.systems.drivers.printed import remedy as known_remedy
from memeval.systems.errors import (
    AdapterMisbehaved,
    SystemDied,
    SystemFailure,
    SystemNotReady,
    SystemTimedOut,
)
from memeval.systems.launching import DRIVERS_FOLDER
from memeval.systems.messages import LOADING, AdapterInfo, FoundItem, ProtocolError, SystemReply
from memeval.systems.output import Log, visible
from memeval.systems.remedies import remedy_for, signal_words, slow_remedy
from memeval.systems.sandbox import Sandbox

WINDOW_SESSIONS = 32
WINDOW_BYTES = 256_000
"""The most unanswered sessions, and their bytes; one session is always allowed."""

HOLD_SECONDS = 0.05
"""How long the worker may delay the reply to a session, to send it together with the next ones."""

CLOSE_SECONDS = 10.0
"""How long an adapter's ``close`` may take."""

USAGE_SECONDS = 10.0
"""How long an adapter's ``usage`` may take."""

CHECK_SECONDS = 1.0
"""Interval of checks whether a system past its limit still waits for models."""

METHODS = {"load": LOADING, **messages.CALLS}
"""The names of calls in messages, if they differ from the call."""


class _Waiting(NamedTuple):
    """A call without a reply yet."""

    call: str
    number: int
    size: int
    seconds: float


class SystemProcess:
    """One adapter instance in its own process group, with its own folder and a clean environment.

    Calls block; only one thread may make them, but any thread may call :meth:`kill`. Every call can raise a
    :class:`SystemFailure`. If the failure ended the process (see :attr:`alive`), :meth:`start` starts it again.

    Args:
        launch: how to start it.
        limits: limits per call.
        log: receives each line that the system prints, from another thread, and the frames of its exceptions.
        environment: variables of the system, besides those of every system; it inherits no others.
        waited: returns the seconds for which memeval has made the system wait for models; limits exclude them.
        sandbox: the sandbox; ``None`` runs the system without one, with access to files and network.

    Attributes:
        log: the log; can be replaced at any time.
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
        """The reply to ``load`` at the last start; ``None`` before it."""

    def __enter__(self) -> Self:
        if not self.alive:
            self.start()
        return self

    def _log_line(self, line: str) -> None:
        self.log(line)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        """Whether the process runs, so that calls can be made."""
        return self._child is not None

    @property
    def child(self) -> WorkerProcess | None:
        """The process; ``None`` if it does not run."""
        return self._child

    def start(self) -> AdapterInfo:
        """Start the process, load the adapter and make an instance. An earlier process is ended.

        Raises:
            NoAdapter: the file has no adapter class, or not the requested one.
            SystemFailure: the adapter could not be loaded.
            BadInput: the interpreter cannot be run.
        """
        self._end()
        # Escaping makes UTF-8 at most three times as long; the rest is for the other fields.
        line_limit = 3 * self._limits.reply_bytes + 64_000
        self._child = WorkerProcess(self._launch, line_limit, self._log_line, self._environment, self._sandbox)
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
        """Empty the memory; return the duration in seconds."""
        started = self._clock()
        self._call("reset", self._limits.reset_seconds)
        return self._clock() - started

    def ingest(self, sessions: Iterable[tuple[bytes | Mapping[str, Any], str]], *, afresh: bool = False) -> float:
        """Ingest sessions in order; return the seconds for all of them.

        The next sessions are sent while one is ingested, but the time limit applies to each. After a failure, the
        later sessions are skipped until the next reset.

        Args:
            sessions: each as one line of ASCII JSON (see :func:`messages.session_json`) or as a dict, with its time.
            afresh: whether to reset the memory first, without waiting for the reply.

        Raises:
            SystemFailure: the first failure.
        """
        started = self._clock()
        waiting: deque[_Waiting] = deque()
        in_flight = 0
        if afresh:
            waiting.append(_Waiting("reset", self._send("reset", b""), 0, self._limits.reset_seconds))
        for session, timestamp in sessions:
            data = session if isinstance(session, bytes) else messages.to_line(session)
            while waiting and (len(waiting) >= WINDOW_SESSIONS or in_flight + len(data) > WINDOW_BYTES):
                in_flight -= self._receive_oldest(waiting)
            number = self._send("take_in", b',"timestamp":%b,"session":%b' % (_ascii(timestamp), data))
            waiting.append(_Waiting("take_in", number, len(data), self._limits.take_in_seconds))
            in_flight += len(data)
        while waiting:
            self._receive_oldest(waiting)
        return self._clock() - started

    def settle(self) -> float | None:
        """Wait until all ingested data is indexed; return the seconds, ``None`` if there is no ``settle``.

        Raises:
            SystemNotReady: ``settle`` returned false or did not return in time; after a timeout, the process is ended.
        """
        if self.hello is None or not self.hello.can("settle"):
            return None
        seconds = self._limits.settle_seconds
        started = self._clock()
        try:
            reply = self._call("settle", seconds * 1.05 + 1.0, b',"timeout":%b' % messages.to_line(seconds))
        except SystemTimedOut as failure:
            position = f" ({failure.at})" if failure.at else ""
            raise SystemNotReady(
                f"settle was not done after {seconds:g} s{position}.", remedy=failure.remedy, at=failure.at
            ) from None
        if reply["value"] is not True:
            raise SystemNotReady("settle returned False: the system is not ready.")
        return self._clock() - started

    def ask(self, question: str, timestamp: str | None = None) -> SystemReply:
        """Ask a question with ``query``.

        Args:
            question: the text of the question.
            timestamp: the time of the question; ``None`` for the adapter's default.
        """
        return self._question("ask", b',"question":%b%b' % (_ascii(question), _at(timestamp)))

    def search(self, question: str, k: int, timestamp: str | None = None) -> SystemReply:
        """Search the memory.

        Args:
            question: the search text.
            k: the most items to return.
            timestamp: the time of the search; ``None`` for the adapter's default.
        """
        return self._question("search", b',"query":%b,"k":%d%b' % (_ascii(question), k, _at(timestamp)))

    def usage(self) -> ReportedUsage:
        """Return the self-reported totals of model calls. Only for systems with ``usage``."""
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
        """Ingest a text; return the duration in seconds. Only for systems with ``retain``.

        Args:
            content: the text.
            bank: the bank of the text; ``None`` for the adapter's default.
            timestamp: the time of the text.
            tags: tags for filters.
            source_id: the id that retrieved items name as their source.
            fact_type: the kind of the text.
            metadata: other data of the text.
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
        started = self._clock()
        self._call("retain", self._limits.take_in_seconds, parts)
        return self._clock() - started

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
        """Search a bank. Only for systems with ``recall``.

        Args:
            query: the search text.
            k: the most items to return.
            bank: the bank; ``None`` for the adapter's default.
            timestamp: the time of the search.
            tags: return only texts with one of these tags.
            since: return only texts of this time or later.
            until: return only texts before this time.
        """
        when = {"timestamp": timestamp, "since": since, "until": until}
        return self._question("recall", _parts(query=query, k=k, bank=bank, tags=tags, **when))

    def recall_together(self, asked: Sequence[Recall], in_flight: int) -> Iterator[SystemReply | SystemFailure]:
        """Make several searches of banks, some of them concurrently.

        Replies arrive in the order of the searches. The seconds of each count from its sending, and include the wait
        for earlier searches. Its time limit counts from the reply to the search before it.

        Args:
            asked: the searches, in order.
            in_flight: the most concurrent searches.

        Yields:
            For each search its reply or its failure; nothing more after the process has ended.
        """
        waiting: deque[tuple[int, float]] = deque()
        todo = iter(asked)
        while True:
            try:
                for each in islice(todo, in_flight - len(waiting)):
                    waiting.append((self._send("recall", _recall_parts(each)), self._clock()))
                if not waiting:
                    return
                number, sent = waiting.popleft()
                line = self._receive("recall", self._limits.ask_seconds)
                seconds = self._clock() - sent
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
        """Ask a question about a bank. Only for systems with ``reflect``.

        Args:
            query: the question.
            bank: the bank; ``None`` for the adapter's default.
            timestamp: the time of the question.
            dispositions: traits for the answer, each from 1 to 5; only if the system accepts them.
        """
        parts = _parts(query=query, bank=bank, timestamp=timestamp, dispositions=dispositions)
        return self._question("reflect", parts)

    def forget(
        self, *, bank: str | None = None, ids: Sequence[str] | None = None, query: str | None = None
    ) -> int | None:
        """Delete the memories that match all arguments; return their number, ``None`` if not reported.

        Args:
            bank: memories of this bank.
            ids: texts that were retained with these ids.
            query: memories about this.
        """
        reply = self._call("forget", self._limits.reset_seconds, _parts(bank=bank, ids=ids, query=query))
        with self._protocol_kept("forget"):
            return messages.forgotten(reply["value"])

    def export(self) -> tuple[FoundItem, ...]:
        """Return all stored memories. Only for systems with ``export_memories``."""
        reply = self._call("export", self._limits.ask_seconds)
        with self._protocol_kept("export"):
            return messages.exported(reply["value"])

    def close(self) -> None:
        """Close the adapter, end the process and its children, and delete its folder. Never raises."""
        if self._child is not None:
            try:
                self._call("close", CLOSE_SECONDS)
                self._child.ends_by_itself()
            except SystemFailure as failure:
                self.log(f"While closing: {failure}")
        self._end()

    def kill(self) -> None:
        """Kill the process. A call that another thread waits for fails with :class:`SystemDied`."""
        child = self._child
        if child is not None:
            child.kill()

    @property
    def _load_seconds(self) -> float:
        """Time limit of ``load``: an explicit ``start_seconds`` of the submission can raise it."""
        resources = self._launch.resources
        requested = resources.start_seconds if "start_seconds" in resources.model_fields_set else 0.0
        return max(self._limits.load_seconds, requested)

    def _clock(self) -> float:
        """Return the seconds of a clock that stops while the system waits for memeval's model calls."""
        return time.monotonic() - self._waited()

    def _question(self, call: str, arguments: bytes) -> SystemReply:
        started = self._clock()
        number = self._send(call, arguments)
        line = self._receive(call, self._limits.ask_seconds)
        seconds = self._clock() - started
        reply = self._read(call, number, line)
        if call in ("ask", "reflect"):
            messages.require_answer(reply["value"], call)
        with self._protocol_kept(call):
            return messages.reply(reply["value"], seconds, reply.get("seconds"))

    def _receive_oldest(self, waiting: deque[_Waiting]) -> int:
        """Wait for the oldest unanswered call, and return its bytes; after a failure, wait for the others first."""
        oldest = waiting.popleft()
        try:
            self._read(oldest.call, oldest.number, self._receive(oldest.call, oldest.seconds + HOLD_SECONDS))
        except SystemFailure:
            while waiting and self.alive:
                with contextlib.suppress(SystemFailure):
                    self._receive_oldest(waiting)
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
            at = child.request_frame() if self._is_own else ""
            self._end()
            position = f" ({at})" if at else ""
            raise SystemTimedOut(
                f"{METHODS.get(call, call)} took longer than {seconds:g} s{position}.",
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
        """Return the next line; the time that the system waits for models does not count towards the limit."""
        began, before = time.monotonic(), self._waited()

        def left() -> float:
            return seconds + self._waited() - before - (time.monotonic() - began)

        with contextlib.suppress(LineTimedOut):
            return child.channel.receive(seconds)
        while (wait := left()) > 0:
            with contextlib.suppress(LineTimedOut):
                line = child.channel.receive(min(wait, CHECK_SECONDS))
                if left() > 0:  # otherwise the system itself took longer than the limit
                    return line
        raise LineTimedOut

    def _read(self, call: str, number: int, line: bytes) -> dict[str, Any]:
        with self._protocol_kept(call):
            reply = messages.from_line(line, number)
            if "error" not in reply:
                return reply
            failure = messages.failure(reply["error"], call, self._remedy, is_own=self._is_own, at=self._line_of)
        for frame in failure.trace:
            self.log(f"{failure.problem} At {frame}")
        if isinstance(failure, SystemDied):  # the server of a driver has ended: a new start starts both
            self._end()
        raise failure

    @property
    def _is_own(self) -> bool:
        """Whether the author wrote the class; false for a driver of memeval."""
        return self._launch.file.parent != DRIVERS_FOLDER

    def _own_folder(self, child: WorkerProcess) -> str:
        """Return the folder of the author's files, as the system sees it."""
        return str(child.file.parent if self._launch.folder is None else self._launch.folder.absolute())

    def _line_of(self, message: str) -> str:
        """Return the own file and line of an error that a program has printed; blank if there is none."""
        child = self._running()
        return child.line_of(visible(message), self._own_folder(child))

    def _remedy(self, cause: str, about: str, method: str) -> str:
        return remedy_for(cause, about, method, self._launch, sandboxed=self._sandbox is not None)

    @contextlib.contextmanager
    def _protocol_kept(self, call: str) -> Iterator[None]:
        """End a system whose reply breaks the protocol."""
        try:
            yield
        except ProtocolError as error:
            self._end()
            problem = f"The reply to {METHODS.get(call, call)} {error}"
            raise AdapterMisbehaved(problem, remedy=error.remedy) from None

    def _ended(self, call: str, child: WorkerProcess) -> SystemFailure:
        """End the remaining processes, and return how the process ended."""
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
        if code and (cause := cause_in(lines, self._own_folder(child))):
            last = f" Its output: {cause[:300].rstrip('.')}."
            remedy = remedy or known_remedy(cause).strip()
        return SystemDied(f"The process ended with exit code {code} during {doing}.{last}", remedy=remedy)

    def _end(self) -> int:
        """End the process; return its exit code, 0 if there was no process."""
        child, self._child = self._child, None
        self._number = 0
        return 0 if child is None else child.end()


def _ascii(text: str) -> bytes:
    return json.dumps(text).encode("ascii")


def _parts(**parts: Any) -> bytes:
    """Return the parts of a request that are not ``None``, as JSON after the field ``call``."""
    present = {name: part for name, part in parts.items() if part is not None}
    return b"," + messages.to_line(present)[1:-1] if present else b""


def _recall_parts(asked: Recall) -> bytes:
    when = {"timestamp": asked.timestamp, "since": asked.since, "until": asked.until}
    return _parts(query=asked.question, k=asked.k, bank=asked.bank, tags=asked.tags, **when)


def _at(timestamp: str | None) -> bytes:
    return b"" if timestamp is None else b',"timestamp":%b' % _ascii(timestamp)
