"""Makes responses from the replies of a system, with its usage; where it only retrieves, the reader answers."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memeval.execution.contexts import TurnTexts
from memeval.execution.readers import NoReader
from memeval.execution.secrets import redact
from memeval.execution.steps import ScenarioWork
from memeval.reading import Reader, ReaderAnswer, ReaderFailed
from memeval.records.response import Context, Outcome, ReportedUsage, Response, Timings
from memeval.records.scenario import Ask, Export, Question, Recall, Reflect, Task
from memeval.systems.errors import SystemFailure, SystemNotReady, SystemTimedOut
from memeval.systems.messages import FoundItem, SystemReply
from memeval.systems.process import SystemProcess
from memeval.tokens import count_tokens


class UsageMeter:
    """Computes the usage per question from the totals that a system reports.

    A system whose ``usage`` fails or decreases is not asked again; its answers still count.

    ``system``: the system; its totals are read if it has ``usage``. ``warn``: receives, once, the reason why the system
    is not asked again.
    """

    def __init__(self, system: SystemProcess, warn: Callable[[str], None]) -> None:
        self._system = system
        self._warn = warn
        self._before: ReportedUsage | None = None
        self._given_up = False

    @property
    def wanted(self) -> bool:
        return not self._given_up and self._system.adapter.can("usage")

    def begin(self) -> None:
        """Count from now on; after a reset, totals may restart or continue."""
        self._before = self._totals()

    def since(self) -> ReportedUsage | None:
        """Return the usage since the last call, or since :meth:`begin`; ``None`` if not reported."""
        before, now = self._before, self._totals()
        if before is None or now is None:
            return None
        self._before = now
        used = {name: _difference(getattr(before, name), getattr(now, name)) for name in ReportedUsage.model_fields}
        if any(amount is not None and amount < 0 for amount in used.values()):
            self._give_up("usage returned less than before.")
            return None
        return ReportedUsage.model_validate(used)

    def _totals(self) -> ReportedUsage | None:
        if not self.wanted:
            return None
        try:
            return self._system.usage()
        except SystemFailure as failure:
            self._give_up(str(failure))
            return None

    def _give_up(self, reason: str) -> None:
        self._given_up = True
        self._warn(f"{redact(reason)} The system is not asked for its usage again.")


def _difference(before: float | None, now: float | None) -> float | None:
    """Return the difference, without float rounding errors; integers stay integers."""
    if before is None or now is None:
        return None
    return round(now - before, 9)


OUTCOMES: tuple[tuple[type[SystemFailure], Outcome], ...] = (
    (SystemTimedOut, Outcome.TIMEOUT),
    (SystemNotReady, Outcome.NOT_READY),
    (SystemFailure, Outcome.ADAPTER_ERROR),
)
"""The outcome of each kind of failure; the first match counts."""

NO_ITEMS = "The reply has a context but no items. Return items: the benchmark grades them."


def outcome_of(failure: SystemFailure) -> Outcome:
    return next(outcome for kind, outcome in OUTCOMES if isinstance(failure, kind))


@dataclass
class Ingested:
    """What was ingested between two questions, in seconds."""

    seconds: float = 0.0
    sessions: int = 0
    retain_seconds: list[float] = field(default_factory=list)
    settle_seconds: float | None = None


@dataclass(frozen=True)
class Received:
    step: Question
    item_id: str
    result: SystemReply | SystemFailure
    started: str
    """When the question was sent, UTC."""
    usage: ReportedUsage | None = None
    """The self-reported usage since the reply before."""
    ingested: Ingested | None = None
    """What was ingested before the question; ``None`` for all but the first question after it."""


class Answers:
    """Makes the responses of one pass over a scenario.

    ``reader``: answers from what the system retrieves; ``None`` if the system answers itself.
    """

    def __init__(
        self, work: ScenarioWork, reader: Reader | None, search_items: int, log: Callable[[str, str, str], None]
    ) -> None:
        self._work = work
        self._reader = reader
        self._search_items = search_items
        self._log = log
        self._texts = TurnTexts(work.scenario)
        self._delivered: dict[str, tuple[str, ...]] = {}
        self.contexts: dict[str, list[Context]] = {}

    def begin_response(self, received: Received) -> Callable[[], Response]:
        """Store the context of a reply. Returns a function that makes the response, for which the reader answers.

        A reader with a model takes long, so that function may run in another thread while further questions are asked.
        """
        step, item_id, result = received.step, received.item_id, received.result
        reply = result if isinstance(result, SystemReply) else None
        outcome, error = Outcome.OK, None
        if isinstance(result, SystemFailure):
            outcome, error = outcome_of(result), redact(str(result))
        found = None if reply is None else reply.items
        if found is not None and not isinstance(step, Export):
            found = found[: step.k if isinstance(step, Recall) else self._search_items]
        context = _context(step, reply, found)
        digest = None
        if context is not None:
            stored = self._texts.context(context, found or ())
            digest = stored.digest
            self.contexts.setdefault(item_id, []).append(stored)
            self._delivered[item_id] = (*self._delivered.get(item_id, ()), context)
        contexts = self._delivered.get(item_id, ()) if self._work.scenario.agent_keeps_context else (context or "",)
        answers, shows = answers_itself(step, self._reader), isinstance(step, Recall | Export)
        if reply is not None and found is None and (shows or isinstance(self._reader, NoReader)):
            outcome, error = Outcome.ADAPTER_ERROR, NO_ITEMS
        reads = reply is not None and error is None and not answers and not shows and self._reader is not None
        items = None
        if found is not None:
            items = tuple(self._texts.item(item.text, item.source_ids, item.score) for item in found)

        def finished() -> Response:
            reading, outcome_read, error_read, read_seconds = ReaderAnswer(""), outcome, error, None
            if reply is not None and error is None and answers:
                reading = ReaderAnswer(reply.answer)
            elif reads:
                began = time.monotonic()
                reading, outcome_read, error_read = self._read(step, contexts)
                read_seconds = time.monotonic() - began
            if outcome_read is Outcome.OK and not reading.answer.strip() and not shows:
                outcome_read = Outcome.EMPTY
            return Response(
                item_id=item_id,
                scenario_id=self._work.scenario.scenario_id,
                question_id=step.question_id,
                attempt=self._work.attempt,
                outcome=outcome_read,
                answer=reading.answer,
                error=error_read,
                items=items,
                context_digest=digest,
                context_tokens=None if context is None else count_tokens(context),
                reported_tokens=None if reply is None else reply.reported_tokens,
                reader_key=reading.key,
                usage=received.usage,
                timings=_timings(received, None if reply is None else reply.seconds, answers, read_seconds),
            )

        return finished

    def _read(self, step: Question, contexts: Sequence[str]) -> tuple[ReaderAnswer, Outcome, str | None]:
        assert self._reader is not None  # noqa: S101 - the caller looks
        try:
            reading = self._reader.read(step.question, step.timestamp, contexts)
        except ReaderFailed as failure:
            return ReaderAnswer("", failure.key), Outcome.READER_ERROR, redact(str(failure))
        if reading.note is not None:
            self._log("read", f"{step.question_id}: {reading.note}", self._work.scenario.scenario_id)
        return reading, Outcome.OK, None


def _timings(received: Received, seconds: float | None, answers: bool, read_seconds: float | None) -> Timings:
    """Return the times of a question. ``seconds``: those of the reply; ``answers``: whether it is an answer."""
    taken = received.ingested or Ingested()
    return Timings(
        started=received.started,
        ask_seconds=_stored(seconds) if answers else None,
        search_seconds=None if answers else _stored(seconds),
        read_seconds=_stored(read_seconds),
        take_in_seconds=None if received.ingested is None else _stored(taken.seconds),
        take_in_sessions=taken.sessions,
        retain_seconds=tuple(round(each, 6) for each in taken.retain_seconds),
        settle_seconds=_stored(taken.settle_seconds),
    )


def _stored(seconds: float | None) -> float | None:
    """Return a clock reading to the microsecond, as rows store it."""
    return None if seconds is None else round(seconds, 6)


def answers_itself(step: Question, reader: Reader | None) -> bool:
    return isinstance(step, Reflect) or (isinstance(step, Ask | Task) and reader is None)


def _context(step: Question, reply: SystemReply | None, found: Sequence[FoundItem] | None) -> str | None:
    """Return the context of a reply: the one that the system returned, else the texts of its items.

    An export has no context.
    """
    if isinstance(step, Export):
        return None
    if reply is not None and reply.context is not None:
        return reply.context
    return None if found is None else "\n".join(item.text for item in found)
