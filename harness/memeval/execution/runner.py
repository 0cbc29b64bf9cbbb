"""One scenario through one system: take in, settle, ask, and what to do when the system fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from memeval.execution.contexts import TurnTexts
from memeval.execution.door import Door, NoDoor
from memeval.execution.journal import utc_now
from memeval.execution.readers import NoReader, Reader, ReaderFailed, Reading
from memeval.execution.secrets import blotted
from memeval.execution.steps import Counting, Lookahead
from memeval.execution.usage import UsageMeter
from memeval.execution.work import Finished, Work
from memeval.records.call import Phase
from memeval.records.errors import MemevalError
from memeval.records.response import Context, Outcome, ReportedUsage, Response, Timings
from memeval.records.scenario import Ask, Export, Question, Recall, Reflect, Retain, TakeIn, Task
from memeval.systems.failures import SystemDied, SystemFailure, SystemNotReady, SystemTimedOut
from memeval.systems.messages import Found, Reply
from memeval.systems.process import SystemProcess
from memeval.tokens import count_tokens

OUTCOMES: tuple[tuple[type[SystemFailure], Outcome], ...] = (
    (SystemTimedOut, Outcome.TIMEOUT),
    (SystemNotReady, Outcome.NOT_READY),
    (SystemFailure, Outcome.ADAPTER_ERROR),
)
"""What each kind of failure comes to; the first that fits counts."""


def outcome_of(failure: SystemFailure) -> Outcome:
    """Return what a failure comes to."""
    return next(outcome for kind, outcome in OUTCOMES if isinstance(failure, kind))


class _Aborted(Exception):
    """A pass over the scenario ended early, with the process gone or the memory incomplete."""

    def __init__(self, failure: SystemFailure, item_id: str | None) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.item_id = item_id


@dataclass
class _Taken:
    """What was taken in between two questions, and the seconds it took."""

    seconds: float = 0.0
    sessions: int = 0
    retain_seconds: list[float] = field(default_factory=list)
    settle_seconds: float | None = None


@dataclass
class _Pass:
    """What one pass over a scenario has gathered."""

    responses: dict[str, list[Response]] = field(default_factory=dict)
    contexts: list[Context] = field(default_factory=list)
    delivered: list[str] = field(default_factory=list)
    taken: _Taken | None = None
    """What was taken in since the question before."""


class Runner:
    """Runs scenarios through one adapter instance, restarting it when it is gone.

    Args:
        system: the adapter's process, started.
        reader: who answers from what the system retrieves; ``None`` where the system answers by itself.
        search_items: how many items are asked of ``search``.
        log: told of restarts and repeats, with the scenario's id.
        stopped: whether the run was interrupted; a process that is gone for that reason is not started again.
        door: is told what the system is doing, for the calls it makes to models.
        check: raises what stops the run, where something does. It is called before anything is made of what a system
            did, well or badly: a system that is refused its models fails, or answers without them, through no fault
            of its own.
    """

    def __init__(
        self,
        system: SystemProcess,
        reader: Reader | None,
        search_items: int,
        log: Callable[[str, str, str], None],
        stopped: Callable[[], bool],
        door: Door | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._system = system
        self._reader = reader
        self._search_items = search_items
        self._log = log
        self._stopped = stopped
        self._door = door or NoDoor()
        self._check = check
        self._usage = UsageMeter(system, lambda sentence: log("usage", sentence, self._scenario_id))
        self._scenario_id = ""

    def run(self, work: Work) -> Iterator[Finished]:
        """Yield the items of a scenario as they come to an end.

        A process that dies is started again and the open items are repeated, once; an item whose call takes too long is
        given up, and the items after it go on with a fresh process and the history taken in again. Where the run is
        stopped, items that had come to an end by then are yielded, and no others.

        Raises:
            MemevalError: the run has to stop: a budget is spent, say.
        """
        self._scenario_id = work.scenario.scenario_id
        open_items = dict(work.items)
        died = False
        while open_items and not self._stopped():
            gathered = _Pass()
            self._door.enter(self._scenario_id)
            self._door.in_phase(Phase.TAKE_IN)
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
                given_up = [stop.item_id] if stop.item_id else list(open_items)
                yield self._failed(work, open_items, given_up, stop.failure, gathered)
            else:
                yield from self._settle_whole(work, open_items, gathered)

    def _restart(self) -> None:
        try:
            self._system.start()
        except SystemFailure as failure:
            raise _Aborted(failure, None) from None

    def _settle_whole(self, work: Work, open_items: dict[str, tuple[str, ...]], gathered: _Pass) -> Iterator[Finished]:
        """Yield, and close, the items that have all their responses."""
        for item_id, questions in list(open_items.items()):
            rows = gathered.responses.get(item_id, [])
            if len(rows) == len(questions):
                del open_items[item_id]
                named = {row.context_digest for row in rows}
                yield Finished((item_id,), tuple(rows), tuple(c for c in gathered.contexts if c.digest in named))

    def _failed(
        self,
        work: Work,
        open_items: dict[str, tuple[str, ...]],
        given_up: list[str],
        failure: SystemFailure,
        gathered: _Pass,
    ) -> Finished:
        """Close items that the system failed on; questions that were answered before keep their answers."""
        rows: list[Response] = []
        for item_id in given_up:
            had = gathered.responses.get(item_id, [])
            rows += had
            rows += [
                Response(
                    item_id=item_id,
                    scenario_id=work.scenario.scenario_id,
                    question_id=question_id,
                    attempt=work.attempt,
                    outcome=outcome_of(failure),
                    answer="",
                    error=blotted(str(failure)),
                    timings=Timings(started=utc_now()),
                )
                for question_id in open_items.pop(item_id)[len(had) :]
            ]
        named = {row.context_digest for row in rows}
        return Finished(tuple(given_up), tuple(rows), tuple(c for c in gathered.contexts if c.digest in named))

    def _walk(self, work: Work, open_items: dict[str, tuple[str, ...]], gathered: _Pass) -> None:
        """Take the scenario's steps once, asking the questions of the open items only.

        Steps are drawn one by one, so that a history of any length is never held.
        """
        item_of = {question: item for item, questions in open_items.items() for question in questions}
        texts = TurnTexts(work.scenario)
        left = len(item_of)
        steps = Lookahead(work.scenario.steps, item_of)
        afresh = True
        while left:
            self._take_in(steps.taken_in(), gathered, afresh)
            afresh = False
            asked = steps.questions()
            for step, response in self._responses(work, asked, item_of, texts, gathered):
                gathered.responses.setdefault(item_of[step.question_id], []).append(response)
            left -= len(asked)
            if not asked:
                return

    def _take_in(self, steps: Iterator[TakeIn | Retain], gathered: _Pass, afresh: bool) -> None:
        """Have sessions and texts taken in, into an empty memory where ``afresh``."""
        self._door.in_phase(Phase.TAKE_IN)
        taken = _Taken()
        try:
            if afresh and self._usage.wanted:
                taken.seconds, afresh = self._system.reset(), False
                self._usage.begin()
            upcoming = Counting(steps)
            retains = self._system.hello is not None and self._system.hello.can("retain")
            while (first := next(upcoming, None)) is not None:
                if isinstance(first, Retain) and retains:
                    if afresh:
                        taken.seconds += self._system.reset()
                    taken.retain_seconds.append(self._retain(first))
                    taken.seconds += taken.retain_seconds[-1]
                else:
                    sessions = upcoming.sessions(first, stop_at_texts=retains)
                    taken.seconds += self._system.take_in(sessions, afresh=afresh)
                afresh = False
            if afresh:
                self._system.reset()
            taken.sessions = upcoming.count
            if not taken.sessions:
                return
            self._door.in_phase(Phase.SETTLE)
            taken.settle_seconds = self._system.settle()
        except SystemFailure as failure:
            raise _Aborted(failure, None) from None
        gathered.taken = taken

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
        work: Work,
        asked: Sequence[Question],
        item_of: dict[str, str],
        texts: TurnTexts,
        gathered: _Pass,
    ) -> Iterator[tuple[Question, Response]]:
        """Yield the response to each of the questions that come without anything taken in between them."""
        first = asked[0] if asked else None
        if isinstance(first, Recall) and first.in_flight > 1:
            recalls = [step for step in asked if isinstance(step, Recall)]
            yield from self._together(work, recalls, first.in_flight, item_of, texts, gathered)
            return
        for step in asked:
            yield step, self._response(work, item_of[step.question_id], step, texts, gathered)

    def _together(
        self,
        work: Work,
        asked: Sequence[Recall],
        in_flight: int,
        item_of: dict[str, str],
        texts: TurnTexts,
        gathered: _Pass,
    ) -> Iterator[tuple[Question, Response]]:
        """Yield the responses to searches of which several are on their way at once."""
        self._door.in_phase(Phase.SEARCH)
        came = iter(self._system.recall_together(asked, in_flight))
        for step in asked:
            started = utc_now()
            reply = next(came, None)
            if reply is None or (isinstance(reply, SystemFailure) and not self._system.alive):
                failure = reply or SystemDied("The system's process is not running.")
                raise _Aborted(failure, item_of[step.question_id]) from None
            # While others are on their way, nothing else may be asked: what all of them used is told with the last.
            usage = self._usage.since() if step is asked[-1] else None
            yield step, self._made(work, item_of[step.question_id], step, reply, usage, started, texts, gathered)

    def _response(self, work: Work, item_id: str, step: Question, texts: TurnTexts, gathered: _Pass) -> Response:
        """Put one question, and return the response to it."""
        started = utc_now()
        self._door.in_phase(Phase.ASK if self._answers(step) else Phase.SEARCH)
        reply: Reply | SystemFailure
        try:
            reply = self._put(step)
        except SystemFailure as failure:
            if not self._system.alive:
                raise _Aborted(failure, item_id) from None
            reply = failure
        return self._made(work, item_id, step, reply, self._usage.since(), started, texts, gathered)

    def _answers(self, step: Question) -> bool:
        """Whether the system's own words are the answer."""
        return isinstance(step, Reflect) or (isinstance(step, Ask | Task) and self._reader is None)

    def _put(self, step: Question) -> Reply:
        """Make the call that a step stands for."""
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
                return Reply("", None, items, None, time.monotonic() - began, None)
        if self._reader is None:
            return system.ask(step.question, step.timestamp)
        query = step.query if isinstance(step, Task) else step.question
        return system.search(query, self._search_items, step.timestamp)

    def _made(
        self,
        work: Work,
        item_id: str,
        step: Question,
        came: Reply | SystemFailure,
        usage: ReportedUsage | None,
        started: str,
        texts: TurnTexts,
        gathered: _Pass,
    ) -> Response:
        """Make the response of what came back, and have the reader answer where the system only retrieves."""
        error: str | None = None
        reading = Reading("")
        outcome = Outcome.OK
        read_seconds = None
        reply = came if isinstance(came, Reply) else None
        if isinstance(came, SystemFailure):
            outcome, error = outcome_of(came), blotted(str(came))
        self._check()
        found = None if reply is None or reply.items is None else self._kept(step, reply.items)
        context = _context(step, reply, found)
        if context is not None:
            gathered.contexts.append(texts.context(context, found or ()))
            gathered.delivered.append(context)
        answers, shows = self._answers(step), isinstance(step, Recall | Export)
        if reply is not None and found is None and (shows or isinstance(self._reader, NoReader)):
            outcome, error = Outcome.ADAPTER_ERROR, "It gave a context and no items, and items are what is asked for."
        elif reply is not None and answers:
            reading = Reading(reply.answer)
        elif reply is not None and self._reader is not None and not shows:
            seen = gathered.delivered if work.scenario.agent_keeps_context else [context or ""]
            began = time.monotonic()
            try:
                reading = self._reader.read(step.question, step.timestamp, seen)
            except ReaderFailed as failure:
                reading = Reading("", failure.key)
                outcome, error = Outcome.READER_ERROR, blotted(str(failure))
            read_seconds = time.monotonic() - began
            if reading.note is not None:
                self._log("read", f"{step.question_id}: {reading.note}", self._scenario_id)
        if outcome is Outcome.OK and not reading.answer.strip() and not shows:
            outcome = Outcome.EMPTY
        taken, gathered.taken = gathered.taken, None
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
                take_in_seconds=None if taken is None else taken.seconds,
                take_in_sessions=0 if taken is None else taken.sessions,
                retain_seconds=() if taken is None else tuple(taken.retain_seconds),
                settle_seconds=None if taken is None else taken.settle_seconds,
            ),
        )

    def _kept(self, step: Question, items: Sequence[Found]) -> Sequence[Found]:
        """Return the items that count: no more than were asked for."""
        if isinstance(step, Export):
            return items
        return items[: step.k if isinstance(step, Recall) else self._search_items]


def _context(step: Question, reply: Reply | None, found: Sequence[Found] | None) -> str | None:
    """Return the context a reply brought: what the system says it is, else its items, one after the other.

    A store that is shown is no context of anything.
    """
    if isinstance(step, Export):
        return None
    if reply is not None and reply.context is not None:
        return reply.context
    return None if found is None else "\n".join(item.text for item in found)
