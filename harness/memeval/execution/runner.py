"""Runs one scenario through one system: ingest, settle, ask, and handle failures of the system."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from memeval.execution.contexts import TurnTexts
from memeval.execution.journal import utc_now
from memeval.execution.model_access import ModelAccess, NoModelAccess
from memeval.execution.readers import NoReader
from memeval.execution.secrets import redact
from memeval.execution.steps import Change, CountedChanges, Lookahead
from memeval.execution.usage import UsageMeter
from memeval.execution.work import FinishedItems, ScenarioWork
from memeval.reading import Reader, ReaderAnswer, ReaderFailed
from memeval.records.call import Phase
from memeval.records.errors import MemevalError
from memeval.records.response import Context, Outcome, ReportedUsage, Response, Timings
from memeval.records.scenario import Ask, Export, Forget, Question, Recall, Reflect, Retain, Task
from memeval.systems.errors import SystemDied, SystemFailure, SystemNotReady, SystemTimedOut
from memeval.systems.messages import FoundItem, SystemReply
from memeval.systems.process import SystemProcess
from memeval.tokens import count_tokens

OUTCOMES: tuple[tuple[type[SystemFailure], Outcome], ...] = (
    (SystemTimedOut, Outcome.TIMEOUT),
    (SystemNotReady, Outcome.NOT_READY),
    (SystemFailure, Outcome.ADAPTER_ERROR),
)
"""The outcome of each kind of failure; the first match counts."""


def outcome_of(failure: SystemFailure) -> Outcome:
    """Return the outcome of a failure."""
    return next(outcome for kind, outcome in OUTCOMES if isinstance(failure, kind))


class _Aborted(Exception):
    """A pass over the scenario ended early: the process is gone, or the memory is incomplete."""

    def __init__(self, failure: SystemFailure, item_id: str | None) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.item_id = item_id


@dataclass
class _Ingested:
    """What was ingested between two questions, in seconds."""

    seconds: float = 0.0
    sessions: int = 0
    retain_seconds: list[float] = field(default_factory=list)
    settle_seconds: float | None = None


@dataclass
class _PassRows:
    """The results of one pass over a scenario."""

    responses: dict[str, list[Response]] = field(default_factory=dict)
    contexts: list[Context] = field(default_factory=list)
    delivered: dict[str, list[str]] = field(default_factory=dict)
    """The texts of the contexts of each item."""
    ingested: _Ingested | None = None
    """What was ingested since the previous question."""


class ScenarioRunner:
    """Runs scenarios through one adapter instance, and restarts it after a crash.

    Args:
        system: the adapter's process, started.
        reader: answers from what the system retrieves; ``None`` if the system answers itself.
        search_items: how many items to request from ``search``.
        log: receives an event, a sentence and the scenario's id on restarts and repeats.
        stopped: whether the run was interrupted; then a process that is gone is not restarted.
        endpoint: receives the current scenario and phase, under which model calls are recorded.
        check: raises what stops the run. It is called before a result or failure of the system is used: without its
            models, a system fails through no fault of its own.
    """

    def __init__(
        self,
        system: SystemProcess,
        reader: Reader | None,
        search_items: int,
        log: Callable[[str, str, str], None],
        stopped: Callable[[], bool],
        endpoint: ModelAccess | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._system = system
        self._reader = reader
        self._search_items = search_items
        self._log = log
        self._stopped = stopped
        self._endpoint = endpoint or NoModelAccess()
        self._check = check
        self._usage = UsageMeter(system, lambda sentence: log("usage", sentence, self._scenario_id))
        self._scenario_id = ""

    def run(self, work: ScenarioWork) -> Iterator[FinishedItems]:
        """Yield the items of a scenario as they finish.

        After a crash of the process, or of the server that it started, the process is restarted and the open items are
        repeated, once. An item whose call times out fails; the items after it continue with a new process that ingests
        the history again. If the run is stopped, only the items that are finished by then are yielded.

        Raises:
            MemevalError: the run must stop, for example because a budget is spent.
        """
        self._scenario_id = work.scenario.scenario_id
        open_items = dict(work.items)
        died = False
        while open_items and not self._stopped():
            gathered = _PassRows()
            self._endpoint.enter(self._scenario_id)
            self._endpoint.in_phase(Phase.INGEST)
            try:
                if not self._system.alive:
                    self._restart()
                self._walk(work, open_items, gathered)
            except MemevalError:
                yield from self._settle_whole(work, open_items, gathered)
                raise
            except _Aborted as stop:
                yield from self._settle_whole(work, open_items, gathered)
                if self._stopped():
                    return
                self._check()
                if isinstance(stop.failure, SystemDied) and not died:
                    died = True
                    self._log("repeated", str(stop.failure), work.scenario.scenario_id)
                    continue
                failed_items = [stop.item_id] if stop.item_id else list(open_items)
                yield self._failed(work, open_items, failed_items, stop.failure, gathered)
            else:
                yield from self._settle_whole(work, open_items, gathered)

    def _restart(self) -> None:
        try:
            self._system.start()
        except SystemFailure as failure:
            raise _Aborted(failure, None) from None

    def _settle_whole(
        self, work: ScenarioWork, open_items: dict[str, tuple[str, ...]], gathered: _PassRows
    ) -> Iterator[FinishedItems]:
        """Yield the items that have all their responses, and remove them from the open ones."""
        for item_id, questions in list(open_items.items()):
            rows = gathered.responses.get(item_id, [])
            if len(rows) == len(questions):
                del open_items[item_id]
                named = {row.context_digest for row in rows}
                yield FinishedItems((item_id,), tuple(rows), tuple(c for c in gathered.contexts if c.digest in named))

    def _failed(
        self,
        work: ScenarioWork,
        open_items: dict[str, tuple[str, ...]],
        failed_items: list[str],
        failure: SystemFailure,
        gathered: _PassRows,
    ) -> FinishedItems:
        """Return items that failed, and remove them from the open ones; earlier answers are kept."""
        rows: list[Response] = []
        for item_id in failed_items:
            answered = gathered.responses.get(item_id, [])
            rows += answered
            rows += [
                Response(
                    item_id=item_id,
                    scenario_id=work.scenario.scenario_id,
                    question_id=question_id,
                    attempt=work.attempt,
                    outcome=outcome_of(failure),
                    answer="",
                    error=redact(str(failure)),
                    timings=Timings(started=utc_now()),
                )
                for question_id in open_items.pop(item_id)[len(answered) :]
            ]
        named = {row.context_digest for row in rows}
        return FinishedItems(tuple(failed_items), tuple(rows), tuple(c for c in gathered.contexts if c.digest in named))

    def _walk(self, work: ScenarioWork, open_items: dict[str, tuple[str, ...]], gathered: _PassRows) -> None:
        """Run the scenario's steps once, asking only the questions of the open items.

        Steps are read one by one, so a long history is never in memory as a whole.
        """
        item_of = {question: item for item, questions in open_items.items() for question in questions}
        texts = TurnTexts(work.scenario)
        open_questions = len(item_of)
        steps = Lookahead(work.scenario.steps, item_of)
        reset_first = True
        while open_questions:
            self._ingest(steps.to_ingest(), gathered, reset_first)
            reset_first = False
            asked = steps.questions()
            for step, response in self._responses(work, asked, item_of, texts, gathered):
                gathered.responses.setdefault(item_of[step.question_id], []).append(response)
            open_questions -= len(asked)
            if not asked:
                return

    def _ingest(self, steps: Iterator[Change], gathered: _PassRows, reset_first: bool) -> None:
        """Have the system ingest and forget, after a reset if ``reset_first``."""
        self._endpoint.in_phase(Phase.INGEST)
        ingested = _Ingested()
        try:
            if reset_first and self._usage.wanted:
                ingested.seconds, reset_first = self._system.reset(), False
                self._usage.begin()
            upcoming = CountedChanges(steps)
            retains = self._system.hello is not None and self._system.hello.can("retain")
            while (first := next(upcoming, None)) is not None:
                if reset_first and (isinstance(first, Forget) or (isinstance(first, Retain) and retains)):
                    ingested.seconds += self._system.reset()
                if isinstance(first, Forget):
                    self._system.forget(bank=first.bank, ids=first.ids, query=first.query)
                elif isinstance(first, Retain) and retains:
                    ingested.retain_seconds.append(self._retain(first))
                    ingested.seconds += ingested.retain_seconds[-1]
                else:
                    sessions = upcoming.sessions(first, stop_at_texts=retains)
                    ingested.seconds += self._system.ingest(sessions, afresh=reset_first)
                reset_first = False
            if reset_first:
                self._system.reset()
            ingested.sessions = upcoming.ingested
            if not (upcoming.ingested or upcoming.forgotten):
                return
            self._endpoint.in_phase(Phase.SETTLE)
            ingested.settle_seconds = self._system.settle()
        except SystemFailure as failure:
            raise _Aborted(failure, None) from None
        gathered.ingested = ingested

    def _retain(self, step: Retain) -> float:
        return self._system.retain(
            step.content,
            bank=step.bank,
            timestamp=step.occurred_at or None,
            tags=step.tags,
            source_id=step.text_id,
            fact_type=step.fact_type,
            metadata=step.metadata or None,
        )

    def _responses(
        self,
        work: ScenarioWork,
        asked: Sequence[Question],
        item_of: dict[str, str],
        texts: TurnTexts,
        gathered: _PassRows,
    ) -> Iterator[tuple[Question, Response]]:
        """Yield the response to each of several questions with nothing to ingest between them."""
        first = asked[0] if asked else None
        if isinstance(first, Recall) and first.in_flight > 1:
            recalls = [step for step in asked if isinstance(step, Recall)]
            yield from self._concurrent_responses(work, recalls, first.in_flight, item_of, texts, gathered)
            return
        for step in asked:
            yield step, self._response(work, item_of[step.question_id], step, texts, gathered)

    def _concurrent_responses(
        self,
        work: ScenarioWork,
        asked: Sequence[Recall],
        in_flight: int,
        item_of: dict[str, str],
        texts: TurnTexts,
        gathered: _PassRows,
    ) -> Iterator[tuple[Question, Response]]:
        """Yield the responses to searches that are sent concurrently."""
        self._endpoint.in_phase(Phase.SEARCH)
        replies = iter(self._system.recall_together(asked, in_flight))
        for step in asked:
            started = utc_now()
            reply = next(replies, None)
            if reply is None or (isinstance(reply, SystemFailure) and not self._system.alive):
                failure = reply or SystemDied("The system's process is not running.")
                raise _Aborted(failure, item_of[step.question_id]) from None
            # Nothing else may be called while searches run, so the last response carries the usage of all of them.
            usage = self._usage.since() if step is asked[-1] else None
            yield step, self._to_response(work, item_of[step.question_id], step, reply, usage, started, texts, gathered)

    def _response(
        self, work: ScenarioWork, item_id: str, step: Question, texts: TurnTexts, gathered: _PassRows
    ) -> Response:
        """Ask one question, and return the response."""
        started = utc_now()
        self._endpoint.in_phase(Phase.ASK if self._answers(step) else Phase.SEARCH)
        reply: SystemReply | SystemFailure
        try:
            reply = self._send(step)
        except SystemFailure as failure:
            if not self._system.alive:
                raise _Aborted(failure, item_id) from None
            reply = failure
        return self._to_response(work, item_id, step, reply, self._usage.since(), started, texts, gathered)

    def _answers(self, step: Question) -> bool:
        """Whether the system writes the answer to this step."""
        return isinstance(step, Reflect) or (isinstance(step, Ask | Task) and self._reader is None)

    def _send(self, step: Question) -> SystemReply:
        """Make the call for a step."""
        system = self._system
        match step:
            case Recall():
                return system.recall(
                    step.question,
                    step.k,
                    bank=step.bank,
                    timestamp=step.timestamp,
                    tags=step.tags,
                    since=step.since,
                    until=step.until,
                )
            case Reflect():
                traits = step.dispositions or None
                return system.reflect(step.question, bank=step.bank, timestamp=step.timestamp, dispositions=traits)
            case Export():
                began = time.monotonic()
                items = system.export()
                return SystemReply("", None, items, None, time.monotonic() - began, None)
        if self._reader is None:
            return system.ask(step.question, step.timestamp)
        query = step.query if isinstance(step, Task) else step.question
        return system.search(query, self._search_items, step.timestamp)

    def _to_response(
        self,
        work: ScenarioWork,
        item_id: str,
        step: Question,
        result: SystemReply | SystemFailure,
        usage: ReportedUsage | None,
        started: str,
        texts: TurnTexts,
        gathered: _PassRows,
    ) -> Response:
        """Return the response for a reply or failure; the reader answers if the system only retrieves."""
        error: str | None = None
        reading = ReaderAnswer("")
        outcome = Outcome.OK
        read_seconds = None
        reply = result if isinstance(result, SystemReply) else None
        if isinstance(result, SystemFailure):
            outcome, error = outcome_of(result), redact(str(result))
        self._check()
        found = None if reply is None or reply.items is None else self._requested(step, reply.items)
        context = _context(step, reply, found)
        delivered = gathered.delivered.setdefault(item_id, [])
        if context is not None:
            gathered.contexts.append(texts.context(context, found or ()))
            delivered.append(context)
        answers, shows = self._answers(step), isinstance(step, Recall | Export)
        if reply is not None and found is None and (shows or isinstance(self._reader, NoReader)):
            outcome, error = (
                Outcome.ADAPTER_ERROR,
                "The reply has a context but no items. Return items: the benchmark grades them.",
            )
        elif reply is not None and answers:
            reading = ReaderAnswer(reply.answer)
        elif reply is not None and self._reader is not None and not shows:
            contexts = delivered if work.scenario.agent_keeps_context else [context or ""]
            began = time.monotonic()
            try:
                reading = self._reader.read(step.question, step.timestamp, contexts)
            except ReaderFailed as failure:
                reading = ReaderAnswer("", failure.key)
                outcome, error = Outcome.READER_ERROR, redact(str(failure))
            read_seconds = time.monotonic() - began
            if reading.note is not None:
                self._log("read", f"{step.question_id}: {reading.note}", self._scenario_id)
        if outcome is Outcome.OK and not reading.answer.strip() and not shows:
            outcome = Outcome.EMPTY
        ingested, gathered.ingested = gathered.ingested, None
        return Response(
            item_id=item_id,
            scenario_id=work.scenario.scenario_id,
            question_id=step.question_id,
            attempt=work.attempt,
            outcome=outcome,
            answer=reading.answer,
            error=error,
            items=None
            if found is None
            else tuple(texts.item(item.text, item.source_ids, item.score) for item in found),
            context_digest=None if context is None else gathered.contexts[-1].digest,
            context_tokens=None if context is None else count_tokens(context),
            reported_tokens=None if reply is None else reply.reported_tokens,
            reader_key=reading.key,
            usage=usage,
            timings=Timings(
                started=started,
                ask_seconds=reply.seconds if reply is not None and answers else None,
                search_seconds=reply.seconds if reply is not None and not answers else None,
                read_seconds=read_seconds,
                take_in_seconds=None if ingested is None else ingested.seconds,
                take_in_sessions=0 if ingested is None else ingested.sessions,
                retain_seconds=() if ingested is None else tuple(ingested.retain_seconds),
                settle_seconds=None if ingested is None else ingested.settle_seconds,
            ),
        )

    def _requested(self, step: Question, items: Sequence[FoundItem]) -> Sequence[FoundItem]:
        """Return the items that count: no more than were requested."""
        if isinstance(step, Export):
            return items
        return items[: step.k if isinstance(step, Recall) else self._search_items]


def _context(step: Question, reply: SystemReply | None, found: Sequence[FoundItem] | None) -> str | None:
    """Return the context of a reply: the one that the system returned, else the texts of its items.

    An export has no context.
    """
    if isinstance(step, Export):
        return None
    if reply is not None and reply.context is not None:
        return reply.context
    return None if found is None else "\n".join(item.text for item in found)
