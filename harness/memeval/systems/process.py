"""One adapter instance in its own process: what it is asked to do, in which order, and how long that takes."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, NamedTuple, Self

from memeval.records.response import ReportedUsage
from memeval.systems import messages
from memeval.systems.child import Launch, WorkerProcess, stored_at
from memeval.systems.errors import SystemFailure, SystemNotReady, SystemTimedOut
from memeval.systems.messages import AdapterInfo, FoundItem, SystemReply, with_storage
from memeval.systems.questions import (
    AGAIN_SECONDS,
    EndedInFlight,
    Flight,
    PreparedCall,
    Sent,
    ask_call,
    parts,
    recall_call,
    reflect_call,
    retain_call,
    search_call,
)
from memeval.systems.replies import CHECK_SECONDS, ReplyingProcess

WINDOW_SESSIONS = 32
WINDOW_BYTES = 256_000
"""The most unanswered sessions, and their bytes; one session is always allowed."""

HOLD_SECONDS = 0.05
"""How long the worker may delay the reply to a session, to send it together with the next ones."""

CLOSE_SECONDS = 10.0
"""How long an adapter's ``close`` may take."""

USAGE_SECONDS = 10.0
"""How long an adapter's ``usage`` may take."""


class _Waiting(NamedTuple):
    """A call without a reply yet."""

    call: str
    number: int
    size: int
    seconds: float


class SystemProcess(ReplyingProcess):
    """One adapter instance in its own process group, with its own folder and a clean environment.

    Calls block; only one thread may make them, but any thread may call :meth:`kill`. Every call can raise a
    :class:`SystemFailure`. If the failure ended the process (see :attr:`alive`), :meth:`start` starts it again.

    Its arguments are those of :class:`~memeval.systems.replies.ReplyingProcess`.
    """

    def __enter__(self) -> Self:
        if not self.alive:
            self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def twin(self, launch: Launch | None = None) -> SystemProcess:
        """Return another instance, which is not started, with the same limits and the same sandbox.

        ``launch``: what it runs; ``None`` for the same system.
        """
        environment = self._environment if launch is None else {}
        return SystemProcess(launch or self._launch, self._limits, self.log, environment, self._waited, self._sandbox)

    def start(self) -> AdapterInfo:
        """Start the process, load the adapter and make an instance. An earlier process is ended.

        Raises NoAdapter: the file has no adapter class, or not the requested one. SystemFailure: the adapter could not
        be loaded. BadInput: the interpreter cannot be run.
        """
        self._end()
        # Escaping makes UTF-8 at most three times as long; the rest is for the other fields.
        line_limit = 3 * self._limits.reply_bytes + 64_000
        launch = self._launch
        self.child = WorkerProcess(launch, line_limit, self._log_line, self._environment, self._sandbox, self.storage)
        if launch.stores:
            launch = stored_at(launch, self.child.storage)
        request = {
            "file": str(self.child.file),
            "class": launch.class_name,
            "parameters": dict(launch.parameters),
            "reply_bytes": self._limits.reply_bytes,
        }
        try:
            reply = self._call("load", self._load_seconds, b"," + messages.to_line(request)[1:-1])
            with self._protocol_kept("load"):
                self.adapter = messages.adapter_info(reply["value"])
            if launch.stores:
                self.adapter = replace(self.adapter, capabilities=with_storage(self.adapter.capabilities))
        except BaseException:
            self._end()
            raise
        return self.adapter

    def reset(self) -> float:
        started = self._clock()
        self._call("reset", self._reset_seconds)
        return self._clock() - started

    def ingest(self, sessions: Iterable[tuple[bytes | Mapping[str, Any], str]], *, afresh: bool = False) -> float:
        """Ingest sessions in order; return the seconds for all of them.

        The next sessions are sent while one is ingested, but the time limit applies to each. After a failure, the later
        sessions are skipped until the next reset.

        ``sessions``: each as one line of ASCII JSON (see :func:`messages.session_json`) or as a dict, with its time.
        ``afresh``: whether to reset the memory first, without waiting for the reply. Raises SystemFailure: the first
        failure.
        """
        started = self._clock()
        waiting: deque[_Waiting] = deque()
        in_flight = 0
        if afresh:
            waiting.append(_Waiting("reset", self._send("reset", b""), 0, self._reset_seconds))
        for session, timestamp in sessions:
            data = session if isinstance(session, bytes) else messages.to_line(session)
            while waiting and (len(waiting) >= WINDOW_SESSIONS or in_flight + len(data) > WINDOW_BYTES):
                in_flight -= self._receive_oldest(waiting)
            number = self._send("take_in", b',"timestamp":%b,"session":%b' % (messages.to_line(timestamp), data))
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
        if not self.adapter.can("settle"):
            return None
        seconds = self._limits.settle_seconds
        started = self._clock()
        try:
            reply = self._call("settle", seconds * 1.05 + 1.0, parts(timeout=seconds))
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

        Raises SystemFailure: the system refused a text, or its process has ended. All other calls have ended by then.
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
        return self.reply_to(recall_call(query, k, **filters))

    def reflect(self, query: str, **how: Any) -> SystemReply:
        return self.reply_to(reflect_call(query, **how))

    def reply_to(self, asked: PreparedCall) -> SystemReply:
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

        ``seconds``: the time limit of each; ``None`` for that of questions. Yields: The place of a question in
        ``asked``, and its reply or its failure, in the order of the replies. The seconds. of a reply count from the
        sending of its question. Raises EndedInFlight: the process has ended.
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
        """Delete the memories that match all arguments; return their number, ``None`` if not reported."""
        reply = self._call("forget", self._limits.reset_seconds, parts(bank=bank, ids=ids, query=query))
        with self._protocol_kept("forget"):
            return messages.forgotten(reply["value"])

    def export(self) -> tuple[FoundItem, ...]:
        reply = self._call("export", self._limits.ask_seconds)
        with self._protocol_kept("export"):
            return messages.exported(reply["value"])

    def close(self) -> None:
        """Close the adapter, end the process and its children, and delete its folder. Never raises."""
        if self.child is not None:
            try:
                self._call("close", CLOSE_SECONDS)
                self.child.ends_by_itself()
            except SystemFailure as failure:
                self.log(f"While closing: {failure}")
        self._end()

    def crash(self) -> int:
        """Kill the process and all that it started with SIGKILL, wait until they are gone; return how many they were.

        A call that another thread waits for fails with :class:`SystemDied`.
        """
        child = self.child
        return 0 if child is None else child.crash()

    def kill(self) -> None:
        """Kill the process. A call that another thread waits for fails with :class:`SystemDied`."""
        child = self.child
        if child is not None:
            child.kill()

    @property
    def _load_seconds(self) -> float:
        """Time limit of ``load``: an explicit ``start_seconds`` of the submission can raise it."""
        resources = self._launch.resources
        requested = resources.start_seconds if "start_seconds" in resources.model_fields_set else 0.0
        return max(self._limits.load_seconds, requested)

    @property
    def _reset_seconds(self) -> float:
        """Time limit of ``reset``: one that restarts a server has that of ``load``."""
        limit = self._limits.reset_seconds
        return max(limit, self._load_seconds) if self._launch.restarts else limit

    def _receive_oldest(self, waiting: deque[_Waiting]) -> int:
        """Wait for the oldest unanswered call, and return its bytes; after a failure, wait for the others first."""
        oldest = waiting.popleft()
        try:
            self._read(oldest.call, oldest.number, self._receive(oldest.call, oldest.seconds, HOLD_SECONDS))
        except SystemFailure:
            while waiting and self.alive:
                with contextlib.suppress(SystemFailure):
                    self._receive_oldest(waiting)
            raise
        return oldest.size
