"""One adapter instance in its own process: its calls, their time limits and their failures."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

from memeval.records.response import ReportedUsage
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
from memeval.systems.flight import AGAIN_SECONDS, EndedInFlight, Flight, Sent
from memeval.systems.launching import DRIVERS_FOLDER
from memeval.systems.messages import LOADING, AdapterInfo, FoundItem, ProtocolError, SystemReply
from memeval.systems.output import Log, visible
from memeval.systems.questions import (
    PreparedCall,
    ascii_json,
    ask_call,
    parts,
    recall_call,
    reflect_call,
    retain_call,
    search_call,
)
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
            number = self._send("take_in", b',"timestamp":%b,"session":%b' % (ascii_json(timestamp), data))
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
        """Ask a question with ``query``; without a timestamp, the adapter's default applies."""
        return self.reply_to(ask_call(question, timestamp))

    def search(self, question: str, k: int, timestamp: str | None = None) -> SystemReply:
        """Search the memory for at most ``k`` items."""
        return self.reply_to(search_call(question, k, timestamp))

    def usage(self) -> ReportedUsage:
        """Return the self-reported totals of model calls. Only for systems with ``usage``."""
        reply = self._call("usage", USAGE_SECONDS)
        with self._protocol_kept("usage"):
            return messages.usage(reply["value"])

    def retain(self, content: str, **about: Any) -> float:
        """Ingest a text, see :func:`retain_call`; return the duration in seconds. Only for systems with ``retain``."""
        started = self._clock()
        self._call("retain", self._limits.take_in_seconds, retain_call(content, **about).arguments)
        return self._clock() - started

    def retain_together(self, texts: Sequence[PreparedCall], most: int) -> list[float]:
        """Ingest several texts at the same time; return the duration of each in seconds, in the order of the texts.

        Only for systems with ``texts_together``.

        Args:
            texts: the calls, from :func:`retain_call`.
            most: the most texts at a time.

        Raises:
            SystemFailure: the system refused a text, or its process has ended. All other calls have ended by then.
        """
        seconds = [0.0] * len(texts)
        failures: list[SystemFailure] = []
        try:
            for place, reply in self.replies_to(texts, Flight(most), self._limits.take_in_seconds):
                if isinstance(reply, SystemReply):
                    seconds[place] = reply.seconds
                else:
                    failures.append(reply)
        except EndedInFlight as ended:
            raise ended.failure from None
        if failures:
            raise failures[0]
        return seconds

    def recall(self, query: str, k: int, **filters: Any) -> SystemReply:
        """Search a bank; see :func:`recall_call`. Only for systems with ``recall``."""
        return self.reply_to(recall_call(query, k, **filters))

    def reflect(self, query: str, **how: Any) -> SystemReply:
        """Ask a question about a bank; see :func:`reflect_call`. Only for systems with ``reflect``."""
        return self.reply_to(reflect_call(query, **how))

    def reply_to(self, asked: PreparedCall) -> SystemReply:
        """Ask one question, and return the reply."""
        started = self._clock()
        number = self._send(*asked)
        line = self._receive(asked.call, self._limits.ask_seconds)
        seconds = self._clock() - started
        return self._checked(asked.call, self._parsed(asked.call, line, (number,)), seconds)

    def replies_to(
        self, asked: Sequence[PreparedCall], flight: Flight, seconds: float | None = None
    ) -> Iterator[tuple[int, SystemReply | SystemFailure]]:
        """Ask several questions, some of them at the same time.

        If a question exceeds its time limit, no more are sent, the others get their time, and the process is ended.

        Args:
            asked: the questions, in order of sending.
            flight: how they are sent.
            seconds: the time limit of each; ``None`` for that of questions.

        Yields:
            The place of a question in ``asked``, and its reply or its failure, in the order of the replies. The seconds
            of a reply count from the sending of its question.

        Raises:
            EndedInFlight: the process has ended.
        """
        limit = self._limits.ask_seconds if seconds is None else seconds
        waiting: dict[int, Sent] = {}
        overdue: dict[int, Sent] = {}
        todo = deque(enumerate(asked))
        last = self._clock()
        try:
            while todo or waiting or overdue:
                while todo and not overdue and len(waiting) < flight.most:
                    if flight.slots is not None and not flight.slots.take(wait=not waiting):
                        break
                    place, each = todo.popleft()
                    number = self._send(each.call, b',"together":true' + each.arguments)
                    waiting[number] = Sent(place, each.call, self._clock())
                if not waiting and not overdue:
                    continue  # no slot is free yet
                left = limit - self._clock()
                lefts = {
                    number: left + (max(sent.at, last) if flight.in_order else sent.at)
                    for number, sent in waiting.items()
                }
                for number in [number for number, still in lefts.items() if still <= 0]:
                    overdue[number] = waiting.pop(number)
                    del lefts[number]
                if not waiting:
                    raise self._timed_out(next(iter(overdue.values())).call, limit)
                is_full = not todo or len(waiting) >= flight.most or bool(overdue)
                call = next(iter(waiting.values())).call
                line = self._line_within(call, min(min(lefts.values()), CHECK_SECONDS if is_full else AGAIN_SECONDS))
                if line is None:
                    continue
                last = self._clock()
                reply = self._parsed(call, line, {**waiting, **overdue})
                sent = waiting.pop(reply["id"], None)
                if sent is None:
                    continue  # too late
                try:
                    result: SystemReply | SystemFailure = self._checked(sent.call, reply, last - sent.at)
                except SystemFailure as failure:
                    if not self.alive:
                        waiting[reply["id"]] = sent
                        raise
                    result = failure
                if flight.slots is not None:
                    flight.slots.give_back(1)
                yield sent.place, result
        except SystemFailure as failure:
            places = [sent.place for sent in (*overdue.values(), *waiting.values())]
            raise EndedInFlight(failure, places) from None
        finally:
            if flight.slots is not None:
                flight.slots.give_back(len(waiting) + len(overdue))
            if waiting or overdue:
                self._end()

    def forget(
        self, *, bank: str | None = None, ids: Sequence[str] | None = None, query: str | None = None
    ) -> int | None:
        """Delete the memories that match all arguments; return their number, ``None`` if not reported.

        Args:
            bank: memories of this bank.
            ids: texts that were retained with these ids.
            query: memories about this.
        """
        reply = self._call("forget", self._limits.reset_seconds, parts(bank=bank, ids=ids, query=query))
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
            raise self._timed_out(call, seconds) from None
        except LineTooLong:
            raise self._too_long(call) from None
        except LineEnded:
            raise self._ended(call, child) from None

    def _line_within(self, call: str, seconds: float) -> bytes | None:
        """Return the next line; ``None`` if none arrives in time."""
        child = self._running()
        try:
            return child.channel.receive(seconds)
        except LineTimedOut:
            return None
        except LineTooLong:
            raise self._too_long(call) from None
        except LineEnded:
            raise self._ended(call, child) from None

    def _timed_out(self, call: str, seconds: float) -> SystemTimedOut:
        """End the process, and return the failure of a call over its limit."""
        at = self._running().request_frame() if self._is_own else ""
        self._end()
        position = f" ({at})" if at else ""
        return SystemTimedOut(
            f"{METHODS.get(call, call)} took longer than {seconds:g} s{position}.",
            remedy=slow_remedy(call, self._launch),
            at=at,
        )

    def _too_long(self, call: str) -> AdapterMisbehaved:
        """End the process, and return the failure of a call whose reply is too long."""
        self._end()
        limit = f"{self._limits.reply_bytes / 1_000_000:g} MB"
        return AdapterMisbehaved(f"The reply to {METHODS.get(call, call)} exceeds the limit of {limit}.")

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
        return self._succeeded(call, self._parsed(call, line, (number,)))

    def _parsed(self, call: str, line: bytes, numbers: Collection[int]) -> dict[str, Any]:
        """Return the reply in a line; it may be an error."""
        with self._protocol_kept(call):
            return messages.from_line(line, numbers)

    def _checked(self, call: str, reply: dict[str, Any], seconds: float) -> SystemReply:
        """Return the reply to a question, or to a text; the value of the latter means nothing."""
        value = self._succeeded(call, reply)["value"]
        if call == "retain":
            return messages.reply({}, seconds, reply.get("seconds"))
        if call in ("ask", "reflect"):
            messages.require_answer(value, call)
        with self._protocol_kept(call):
            return messages.reply(value, seconds, reply.get("seconds"))

    def _succeeded(self, call: str, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a reply, or raise the failure in it."""
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
