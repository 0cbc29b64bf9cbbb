"""The input of a system: sessions and questions, in order. A system never sees anything else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field

from memeval.records.base import Record, Stored
from memeval.records.question import Question as Question
from memeval.records.trials import Crash, Trial
from memeval.records.trials_of_disks import DiskFault
from memeval.records.trials_of_use import Apart, Freshness, Growth


class TurnKind(StrEnum):
    """The kind of a turn; all kinds but ``message`` are reserved for agent trajectories."""

    MESSAGE = "message"
    ACTION = "action"
    OBSERVATION = "observation"
    TOOL_RESULT = "tool_result"
    IMAGE = "image"


class Turn(Record):
    """One message of a session."""

    turn_id: str
    """Ordinal within the scenario, such as ``s001:t02``; never the source's id, which may reveal the key."""
    role: str
    """``user`` or ``assistant``."""
    content: str
    speaker: str | None = None
    """The speaker, if the benchmark names people."""
    kind: TurnKind = TurnKind.MESSAGE


class Session(Record):
    """One conversation, as a system receives it."""

    session_id: str
    """Ordinal in order of ingestion, such as ``s001``."""
    date: str
    """Its time: an ISO 8601 date, or date and time."""
    turns: tuple[Turn, ...]


class Ingest(Record):
    """Step: the system ingests a session."""

    step: Literal["take_in"] = "take_in"
    session: Session
    """The session."""
    source_id: str
    """The benchmark's id of the session; systems never receive it."""


class Retain(Record):
    """Step: the system ingests a single text, with metadata for searches and filters.

    A system that supports only sessions receives a session of one turn; see :attr:`session`.
    """

    step: Literal["retain"] = "retain"
    text_id: str
    """Ordinal in order of ingestion, such as ``s001``; the system returns it as a source."""
    content: str
    occurred_at: str = ""
    """Time of the event, ISO 8601; blank if unknown."""
    bank: str | None = None
    tags: tuple[str, ...] | None = None
    """Tags for filters; ``None`` without tags."""
    fact_type: str | None = None
    """Its fact type, such as ``world`` or ``experience``."""
    metadata: dict[str, str | int | float | bool] = {}
    """Other metadata; each system decides how to use it."""
    source_id: str
    """The benchmark's id of the text; systems never receive it."""
    in_flight: int = Field(default=1, exclude_if=lambda number: number == 1)
    """Number of texts written at the same time. Adjacent steps with the same number are written together. Left out of
    the data for one at a time, so that digests of older data stay valid."""

    @property
    def session(self) -> Session:
        """The text as a session of one turn."""
        turn = Turn(turn_id=f"{self.text_id}:t01", role="user", content=self.content)
        return Session(session_id=self.text_id, date=self.occurred_at, turns=(turn,))


class Forget(Record):
    """Step: the system forgets everything that matches all filters. Only for systems with ``forget``."""

    step: Literal["forget"] = "forget"
    bank: str | None = None
    """Only memories of this bank."""
    ids: tuple[str, ...] | None = None
    """Only texts that were retained with these ordinals."""
    query: str | None = None
    """Only memories about this topic."""


class Ask(Question):
    """Step: the system answers a question."""

    step: Literal["ask"] = "ask"


class Task(Question):
    """Step: the system performs a task. If it only retrieves, a reader uses the results of ``query``."""

    step: Literal["task"] = "task"
    query: str
    """The search query for the memory."""


class Recall(Question):
    """Step: the system searches a bank. The results are the response; no reader answers."""

    step: Literal["recall"] = "recall"
    k: int = 10
    """Requested number of items."""
    bank: str | None = None
    tags: tuple[str, ...] | None = None
    """Only texts with one of these tags; ``None`` for no filter."""
    since: str | None = None
    """Only texts from this time or later, ISO 8601."""
    until: str | None = None
    """Only texts from before this time, ISO 8601."""
    in_flight: int = 1
    """Number of concurrent searches. Adjacent steps with the same number run together."""


class Reflect(Question):
    """Step: the system reflects on a bank to answer a question."""

    step: Literal["reflect"] = "reflect"
    bank: str | None = None
    dispositions: dict[str, int] = {}
    """Traits for the answer, such as ``skepticism``, each from 1 to 5; empty for the system's default."""


class Export(Question):
    """Step: the system exports all its memories, as the items of the response."""

    step: Literal["export"] = "export"


Step = Annotated[
    Ingest | Retain | Forget | Ask | Task | Recall | Reflect | Export | Crash | DiskFault | Freshness | Apart | Growth,
    Field(discriminator="step"),
]


class Steps(Sequence[Step], ABC):
    """Steps generated on demand, for a history that does not fit into memory."""

    @abstractmethod
    def session(self, session_id: str) -> Session:
        """Return one session, without generating earlier sessions. Raises ``KeyError`` if no session has that id."""

    @abstractmethod
    def questions(self) -> tuple[Question, ...]:
        """Return the questions in order, without generating the sessions between them."""

    @abstractmethod
    def only(self, session_ids: frozenset[str]) -> tuple[Step, ...]:
        """Return all questions, and only the named sessions, without generating the others.

        Raises ``KeyError`` if no session has such an id.
        """


EMPTY = '"steps":[]'
"""The JSON text of an empty list of steps."""


class Scenario(Stored):
    """An ordered list of steps over one fresh memory."""

    scenario_id: str
    """Unique within the benchmark; systems never receive it."""
    steps: tuple[Step, ...]
    """The steps, in order; see :meth:`streamed`."""
    agent_keeps_context: bool = False
    """Whether a reader keeps the context of earlier questions of the item, as an agent in one conversation does. It
    then answers from all context delivered so far."""

    @classmethod
    def streamed(cls, scenario_id: str, steps: Steps) -> Scenario:
        """Return a scenario whose steps are generated on demand; it can be iterated, but not stored."""
        parts: dict[str, Any] = {"scenario_id": scenario_id, "steps": steps}
        return Scenario.model_construct(**parts)

    @property
    def is_streamed(self) -> bool:
        """Whether the steps are generated on demand and may not fit into memory."""
        return isinstance(self.steps, Steps)

    @property
    def consists_of_trials(self) -> bool:
        """Whether memeval starts and stops the processes of the system itself in its steps."""
        return not self.is_streamed and bool(self.steps) and isinstance(self.steps[0], Trial)

    def json_pieces(self) -> Iterator[str]:
        """Yield the text of :meth:`to_json` step by step, for a history of any length."""
        whole = self.model_copy(update={"steps": ()}).to_json()
        head, tail = whole.split(EMPTY, 1)
        yield head + EMPTY[:-1]
        for number, step in enumerate(self.steps):
            yield f"{',' if number else ''}{step.to_json()}"
        yield EMPTY[-1] + tail

    def sessions(self) -> tuple[Session, ...]:
        """Return all sessions in order of ingestion; a retained text is a session of one turn."""
        return tuple(self.each_session())

    def each_session(self) -> Iterator[Session]:
        """Yield the sessions of :meth:`sessions` one by one, for a streamed history."""
        return (step.session for step in self.steps if isinstance(step, Ingest | Retain))

    def session(self, session_id: str) -> Session:
        """Return a session or a retained text by its ordinal. Raises ``KeyError`` if no session has that id."""
        if isinstance(self.steps, Steps):
            return self.steps.session(session_id)
        for session in self.each_session():
            if session.session_id == session_id:
                return session
        raise KeyError(session_id)

    def turn(self, turn_id: str) -> tuple[Session, Turn]:
        """Return a turn by its ordinal, with its session. Raises ``KeyError`` if no session has that id."""
        session = self.session(turn_id.partition(":")[0])
        for turn in session.turns:
            if turn.turn_id == turn_id:
                return session, turn
        raise KeyError(turn_id)

    def questions(self) -> tuple[Question, ...]:
        if isinstance(self.steps, Steps):
            return self.steps.questions()
        return tuple(step for step in self.steps if _is_question(type(step)))  # type: ignore[misc]

    def only(self, session_ids: frozenset[str]) -> Scenario:
        """Return the scenario with only the named sessions (ordinals such as ``s001``)."""
        if isinstance(self.steps, Steps):
            return self.model_copy(update={"steps": self.steps.only(session_ids)})
        kept = tuple(s for s in self.steps if not isinstance(s, Ingest | Retain) or s.session.session_id in session_ids)
        return self.model_copy(update={"steps": kept})


@cache
def _is_question(kind: type[Record]) -> bool:
    """Return whether steps of a class are questions. Five times as fast for a step as ``isinstance`` of a record."""
    return issubclass(kind, Question)


def dated_line(session: Session, turn: Turn) -> str:
    """Return a turn as a dated line of context, the format that shipped controls pass to a reader."""
    return f"[{session.date}] {turn.speaker or turn.role}: {turn.content}"
