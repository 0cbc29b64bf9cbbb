"""Runs one scenario through one system: ingest, settle, ask, and handle failures of the system."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from memeval.execution.answers import Answers, Ingested, Received, UsageMeter, answers_itself, outcome_of
from memeval.execution.journal import utc_now
from memeval.execution.secrets import redact
from memeval.execution.steps import (
    Change,
    CountedChanges,
    FinishedItems,
    Lookahead,
    ModelAccess,
    NoModelAccess,
    ScenarioWork,
)
from memeval.execution.trials.runner import TrialRunner
from memeval.execution.trials.stage import StoredFolders
from memeval.reading import Reader
from memeval.records.call import Phase
from memeval.records.errors import MemevalError
from memeval.records.journal import CRASHED
from memeval.records.response import Response, Timings
from memeval.records.scenario import Export, Forget, Question, Recall, Reflect, Retain, Task
from memeval.systems.errors import SystemDied, SystemFailure
from memeval.systems.messages import SystemReply
from memeval.systems.process import SystemProcess
from memeval.systems.questions import (
    EndedInFlight,
    Flight,
    PreparedCall,
    ask_call,
    recall_call,
    reflect_call,
    retain_call,
    search_call,
)
from memeval.systems.worker import TEXTS_TOGETHER

MOST_UNREAD = 64
"""How many replies may wait for the reader while the system is asked further questions."""

STOP_CHECK_SECONDS = 0.25
"""How often a wait for the reader looks whether the run was stopped."""

INGESTION = ""
"""Stands for ingestion where items are named during which the process crashed."""

ALONE = Flight(1)


class _Aborted(Exception):
    """A pass over the scenario ended early: the process is gone, or the memory is incomplete."""

    def __init__(self, failure: SystemFailure, items: Sequence[str] = (), *, is_certain: bool = True) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.items = tuple(items)
        """The items whose questions were asked; empty if it was none of them."""
        self.is_certain = is_certain
        """Whether the items failed; else some other question may have ended the process."""


@dataclass
class _Pass:
    work: ScenarioWork
    answers: Answers
    open_items: dict[str, tuple[str, ...]]
    alone: set[str]
    """Items that are asked one at a time, because the process ended while several were in flight."""
    rows: dict[str, dict[str, Response]] = field(default_factory=dict)
    unread: dict[Future[Response], str] = field(default_factory=dict)
    """The responses for which the reader still works, with their items."""
    ingested: Ingested | None = None
    """What was ingested since the previous question."""

    def __post_init__(self) -> None:
        self.item_of = {question: item for item, questions in self.open_items.items() for question in questions}


class ScenarioRunner:
    """Runs scenarios through one adapter instance, and restarts it after a crash.

    ``reader``: answers from what the system retrieves; ``None`` if the system answers itself. ``search_items``: how
    many items to request from ``search``. ``log``: receives an event, a sentence and the scenario's id on restarts and
    repeats. ``stopped``: whether the run was interrupted; then a process that is gone is not restarted. ``endpoint``:
    receives the current scenario and phase, under which model calls are recorded. ``check``: raises what stops the run.
    It is called before a result or failure of the system is used: without its models, a system fails through no fault
    of its own. ``flight``: how questions are sent together, for systems that answer several at a time. ``readings``:
    threads in which the reader works while the system is asked further questions; ``None`` for a reader without a
    model. ``folders``: storage folders that trials of other runners copy too; ``None`` for those of this runner alone.
    """

    def __init__(
        self,
        system: SystemProcess,
        reader: Reader | None,
        search_items: int,
        log: Callable[[str, str, str], None] = lambda event, sentence, scenario_id: None,
        stopped: Callable[[], bool] = lambda: False,
        endpoint: ModelAccess | None = None,
        check: Callable[[], None] = lambda: None,
        *,
        flight: Flight = ALONE,
        readings: ThreadPoolExecutor | None = None,
        folders: StoredFolders | None = None,
    ) -> None:
        self._system = system
        self._folders = folders
        self._reader = reader
        self._search_items = search_items
        self._log = log
        self._stopped = stopped
        self._model_access = endpoint or NoModelAccess()
        self._check = check
        self._flight = flight
        self._readings = readings
        self._usage = UsageMeter(system, lambda sentence: log("usage", sentence, self._scenario_id))
        self._scenario_id = ""
        self._trials: TrialRunner | None = None

    def run(self, work: ScenarioWork) -> Iterator[FinishedItems]:
        """Yield the items of a scenario as they finish.

        After a crash of the process, or of the server that it started, the process is restarted and the open items are
        repeated. An item during which it crashes twice fails, and so do all open items after two crashes during
        ingestion. An item whose call times out fails; the items after it continue with a new process that ingests the
        history again. If several questions were in flight, they are asked again one at a time, so that none fails
        because of another one. If the run is stopped, only the items that are finished by then are yielded.

        Raises MemevalError: the run must stop, for example because a budget is spent.
        """
        self._scenario_id = work.scenario.scenario_id
        if work.scenario.consists_of_trials:
            yield from self._run_trials(work)
            return
        open_items = dict(work.items)
        alone: set[str] = set()
        crashed: set[str] = set()
        while open_items and not self._stopped():
            answers = Answers(work, self._reader, self._search_items, self._log)
            current = _Pass(work, answers, open_items, alone)
            self._model_access.enter(self._scenario_id)
            self._model_access.in_phase(Phase.INGEST)
            try:
                if not self._system.alive:
                    self._restart()
                yield from self._walk(current)
            except MemevalError:
                with suppress(MemevalError):
                    yield from self._read_all(current)
                raise
            except _Aborted as stop:
                yield from self._read_all(current)
                if self._stopped():
                    return
                self._check()
                if isinstance(stop.failure, SystemDied):
                    self._log(CRASHED, str(stop.failure), self._scenario_id)
                during = set(stop.items or (INGESTION,))
                again = isinstance(stop.failure, SystemDied) and not during <= crashed
                crashed |= during
                if not stop.is_certain:
                    alone.update(stop.items)
                if again or not stop.is_certain:
                    self._log("repeated", str(stop.failure), work.scenario.scenario_id)
                    continue
                yield self._failed(current, stop.items or tuple(open_items), stop.failure)

    def _run_trials(self, work: ScenarioWork) -> Iterator[FinishedItems]:
        self._model_access.enter(self._scenario_id)
        self._model_access.in_phase(Phase.INGEST)
        if self._trials is None:
            self._trials = TrialRunner(self._system, self._stopped, self._log, self._folders)
        for finished in self._trials.run(work):
            self._check()
            yield finished

    def close(self) -> None:
        """Delete what trials have stored. The caller ends the process."""
        if self._trials is not None:
            self._trials.close()

    def _restart(self) -> None:
        try:
            self._system.start()
        except SystemFailure as failure:
            raise _Aborted(failure) from None

    def _failed(self, current: _Pass, failed_items: Sequence[str], failure: SystemFailure) -> FinishedItems:
        """Return items that failed, and remove them from the open ones; earlier answers are kept."""
        rows: list[Response] = []
        for item_id in failed_items:
            answered = current.rows.get(item_id, {})
            rows += [
                answered.get(question_id)
                or Response(
                    item_id=item_id,
                    scenario_id=current.work.scenario.scenario_id,
                    question_id=question_id,
                    attempt=current.work.attempt,
                    outcome=outcome_of(failure),
                    answer="",
                    error=redact(str(failure)),
                    timings=Timings(started=utc_now()),
                )
                for question_id in current.open_items.pop(item_id)
            ]
        contexts = [context for item_id in failed_items for context in current.answers.contexts.get(item_id, ())]
        return FinishedItems(tuple(failed_items), tuple(rows), tuple(contexts))

    def _walk(self, current: _Pass) -> Iterator[FinishedItems]:
        """Run the scenario's steps once, asking only the questions of the open items.

        Steps are read one by one, so a long history is never in memory as a whole.
        """
        open_questions = len(current.item_of)
        steps = Lookahead(current.work.scenario.steps, current.item_of)
        reset_first = True
        while open_questions:
            self._ingest(steps.to_ingest(), current, reset_first)
            reset_first = False
            asked = steps.questions()
            yield from self._ask(current, asked)
            open_questions -= len(asked)
            if not asked:
                break
        yield from self._read_all(current)

    def _ingest(self, steps: Iterator[Change], current: _Pass, reset_first: bool) -> None:
        """Have the system ingest and forget, after a reset if ``reset_first``."""
        self._model_access.in_phase(Phase.INGEST)
        ingested = Ingested()
        try:
            # A reset alone, so that its usage is not counted as the ingestion's. Else the first call resets as well.
            if reset_first and self._usage.wanted:
                ingested.seconds, reset_first = self._system.reset(), False
                self._usage.begin()
            upcoming = CountedChanges(steps)
            retains, retains_together = map(self._system.adapter.can, ("retain", TEXTS_TOGETHER))
            while (first := next(upcoming, None)) is not None:
                if reset_first and (isinstance(first, Forget) or (isinstance(first, Retain) and retains)):
                    ingested.seconds += self._system.reset()
                if isinstance(first, Forget):
                    self._system.forget(bank=first.bank, ids=first.ids, query=first.query)
                elif isinstance(first, Retain) and retains and retains_together and first.in_flight > 1:
                    texts = [retain_call(step.content, **_about(step)) for step in upcoming.texts(first)]
                    began = time.monotonic()
                    ingested.retain_seconds += self._system.retain_together(texts, first.in_flight)
                    ingested.seconds += time.monotonic() - began
                elif isinstance(first, Retain) and retains:
                    ingested.retain_seconds.append(self._system.retain(first.content, **_about(first)))
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
            self._model_access.in_phase(Phase.SETTLE)
            ingested.settle_seconds = self._system.settle()
        except SystemFailure as failure:
            raise _Aborted(failure) from None
        if current.work.counts_ingestion:
            current.ingested = ingested

    def _ask(self, current: _Pass, asked: Sequence[Question]) -> Iterator[FinishedItems]:
        """Ask several questions with nothing to ingest between them; yield the items that finish.

        Questions of one kind are sent together, as many as the system answers at a time.
        """
        for (phase, flight), group in groupby(asked, lambda step: (self._phase(step), self._flight_for(current, step))):
            self._model_access.in_phase(phase)
            for received in self._replies(current, list(group), flight):
                self._check()
                yield from self._respond(current, received)

    def _phase(self, step: Question) -> Phase:
        return Phase.ASK if answers_itself(step, self._reader) else Phase.SEARCH

    def _flight_for(self, current: _Pass, step: Question) -> Flight:
        """Return how a question is sent: alone, or together with those beside it."""
        item_id = current.item_of[step.question_id]
        if isinstance(step, Export) or item_id in current.alone:
            return ALONE
        if isinstance(step, Recall) and step.in_flight > 1:
            return Flight(step.in_flight, in_order=self._system.adapter.questions_at_once == 1)
        return self._flight if len(current.work.items[item_id]) == 1 else ALONE

    def _replies(self, current: _Pass, asked: Sequence[Question], flight: Flight) -> Iterator[Received]:
        """Ask questions, and yield the replies in the order in which they arrive."""
        items = [current.item_of[step.question_id] for step in asked]
        if flight.most == 1 or (len(asked) == 1 and not flight.slots):
            for step, item_id in zip(asked, items, strict=True):
                started = utc_now()
                try:
                    result: SystemReply | SystemFailure = self._reply_to(step)
                except SystemFailure as failure:
                    if not self._system.alive:
                        raise _Aborted(failure, (item_id,)) from None
                    result = failure
                yield self._received(current, step, result, started, asked[0], self._usage.since())
            return
        try:
            replies = self._system.replies_to([self._call(step) for step in asked], flight)
            for number, (place, result) in enumerate(replies, 1):
                started = utc_now(result.seconds if isinstance(result, SystemReply) else 0.0)
                # Nothing else may be called meanwhile, so the last response carries the usage of all of them.
                usage = self._usage.since() if number == len(asked) else None
                yield self._received(current, asked[place], result, started, asked[0], usage)
        except EndedInFlight as ended:
            failed = [items[place] for place in ended.places]
            raise _Aborted(ended.failure, failed, is_certain=not failed) from None

    def _received(
        self,
        current: _Pass,
        step: Question,
        result: SystemReply | SystemFailure,
        started: str,
        first: Question,
        usage: Any,
    ) -> Received:
        ingested = None
        if step is first:
            ingested, current.ingested = current.ingested, None
        return Received(step, current.item_of[step.question_id], result, started, usage, ingested)

    def _reply_to(self, step: Question) -> SystemReply:
        if isinstance(step, Export):
            began = time.monotonic()
            items = self._system.export()
            return SystemReply("", None, items, None, time.monotonic() - began)
        return self._system.reply_to(self._call(step))

    def _call(self, step: Question) -> PreparedCall:
        match step:
            case Recall():
                return recall_call(
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
                return reflect_call(step.question, bank=step.bank, timestamp=step.timestamp, dispositions=traits)
        if self._reader is None:
            return ask_call(step.question, step.timestamp)
        query = step.query if isinstance(step, Task) else step.question
        return search_call(query, self._search_items, step.timestamp)

    def _respond(self, current: _Pass, received: Received) -> Iterator[FinishedItems]:
        """Make the response, at once or in another thread; yield what is finished by then."""
        finish = current.answers.begin_response(received)
        if self._readings is None:
            yield from self._finish(current, finish())
            return
        current.unread[self._readings.submit(finish)] = received.item_id
        done = [future for future in current.unread if future.done()]
        if len(current.unread) - len(done) >= MOST_UNREAD:
            done += wait(current.unread, return_when=FIRST_COMPLETED).done
        yield from self._take_read(current, done)

    def _take_read(self, current: _Pass, done: Sequence[Future[Response]]) -> Iterator[FinishedItems]:
        for future in dict.fromkeys(done):
            if current.unread.pop(future, None) is not None:
                yield from self._finish(current, future.result())

    def _read_all(self, current: _Pass) -> Iterator[FinishedItems]:
        """Wait for the reader, and yield the items that finish; after a stop, do not wait."""
        stop: MemevalError | None = None
        while current.unread:
            done = wait(current.unread, STOP_CHECK_SECONDS, FIRST_COMPLETED).done
            if not done and self._stopped():
                return
            for future in done:
                try:
                    yield from self._take_read(current, [future])
                except MemevalError as error:
                    stop = stop or error
        if stop is not None:
            raise stop

    def _finish(self, current: _Pass, response: Response) -> Iterator[FinishedItems]:
        """Add a response, and yield its item if it is finished; it is no longer open then."""
        item_id = response.item_id
        rows = current.rows.setdefault(item_id, {})
        rows[response.question_id] = response
        questions = current.open_items[item_id]
        if len(rows) == len(questions):
            del current.open_items[item_id], current.rows[item_id]
            contexts = tuple(current.answers.contexts.pop(item_id, ()))
            yield FinishedItems((item_id,), tuple(rows[question] for question in questions), contexts)


def _about(step: Retain) -> dict[str, Any]:
    return {
        "bank": step.bank,
        "timestamp": step.occurred_at or None,
        "tags": step.tags,
        "source_id": step.text_id,
        "fact_type": step.fact_type,
        "metadata": step.metadata or None,
    }
