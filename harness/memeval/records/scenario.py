"""What a system may ever see: sessions, questions, and the order they come in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from memeval.records.base import Record, Stored


class TurnKind(StrEnum):
    """What a turn is; all but ``message`` are reserved for agent trajectories."""

    MESSAGE = "message"
    ACTION = "action"
    OBSERVATION = "observation"
    TOOL_RESULT = "tool_result"
    IMAGE = "image"


class Turn(Record):
    """One thing said in a session."""

    turn_id: str
    """Ordinal within the scenario, such as ``s001:t02``; never the source's own id, which may leak the key."""
    role: str
    """``user`` or ``assistant``."""
    content: str
    """What was said."""
    speaker: str | None = None
    """Who said it, where the benchmark names people."""
    kind: TurnKind = TurnKind.MESSAGE
    """What the turn is."""


class Session(Record):
    """One conversation, as it is handed to a system."""

    session_id: str
    """Ordinal in order of ingestion, such as ``s001``."""
    date: str
    """When it took place: an ISO 8601 date, or date and time."""
    turns: tuple[Turn, ...]
    """What was said, in order."""


class Ingest(Record):
    """Step: the system takes a session in."""

    step: Literal["take_in"] = "take_in"
    """Tells the kinds of step apart."""
    session: Session
    """The session."""
    source_id: str
    """The benchmark's own id of the session; stays in memeval."""


class Retain(Record):
    """Step: the system takes a single text in, with what it can be found and filtered by.

    A system that only knows sessions takes it as a session of one turn; see :attr:`session`.
    """

    step: Literal["retain"] = "retain"
    """Tells the kinds of step apart."""
    text_id: str
    """Ordinal in order of ingestion, such as ``s001``; the system gives it back as a source."""
    content: str
    """The text."""
    occurred_at: str = ""
    """When it happened, ISO 8601; blank where nothing says."""
    bank: str | None = None
    """The bank it belongs in; ``None`` for the system's own default."""
    tags: tuple[str, ...] | None = None
    """What it can be filtered by; ``None`` where it has no tags."""
    fact_type: str | None = None
    """What sort of thing it is, such as ``world`` or ``experience``."""
    metadata: dict[str, str | int | float | bool] = {}
    """What else goes with it; a system may do with it what it likes."""
    source_id: str
    """The benchmark's own id of the text; stays in memeval."""

    @property
    def session(self) -> Session:
        """The text as a session of one turn."""
        turn = Turn(turn_id=f"{self.text_id}:t01", role="user", content=self.content)
        return Session(session_id=self.text_id, date=self.occurred_at, turns=(turn,))


class Question(Record):
    """What all steps have in common to which the system gives a response."""

    step: str
    """Which kind of step it is."""
    question_id: str
    """Unique within the benchmark; stays in memeval."""
    question: str
    """What is asked, as text."""
    timestamp: str | None = None
    """The time the question is asked as of; ``None`` where the protocol passes none."""


class Ask(Question):
    """Step: the system is asked a question."""

    step: Literal["ask"] = "ask"
    """Tells the kinds of step apart."""


class Task(Question):
    """Step: the system does a piece of work; where it only retrieves, a reader does it from what ``query`` finds."""

    step: Literal["task"] = "task"
    """Tells the kinds of step apart."""
    query: str
    """What the memory is searched for."""


class Recall(Question):
    """Step: a bank is searched; what comes back is the response, and nobody answers."""

    step: Literal["recall"] = "recall"
    """Tells the kinds of step apart."""
    k: int = 10
    """How many items are asked for."""
    bank: str | None = None
    """Where; ``None`` for the system's own default."""
    tags: tuple[str, ...] | None = None
    """Only what has one of them; ``None`` for no such filter."""
    since: str | None = None
    """Only what happened then or later, ISO 8601."""
    until: str | None = None
    """Only what happened before, ISO 8601."""
    in_flight: int = 1
    """How many such calls are on their way at once: neighbours of one number go together."""


class Reflect(Question):
    """Step: a bank is asked a question."""

    step: Literal["reflect"] = "reflect"
    """Tells the kinds of step apart."""
    bank: str | None = None
    """Where; ``None`` for the system's own default."""
    dispositions: dict[str, int] = {}
    """Traits the answer is given under, such as ``skepticism``, each from 1 to 5; none for the system's own."""


class Export(Question):
    """Step: the system shows all that it keeps; the response's items are its memories."""

    step: Literal["export"] = "export"
    """Tells the kinds of step apart."""


Step = Annotated[Ingest | Retain | Ask | Task | Recall | Reflect | Export, Field(discriminator="step")]


class Steps(Sequence[Step], ABC):
    """Steps that are made when they are asked for, of a history too long to be held."""

    @abstractmethod
    def session(self, session_id: str) -> Session:
        """Return one session, without making those before it.

        Raises:
            KeyError: there is none of that id.
        """

    @abstractmethod
    def questions(self) -> tuple[Question, ...]:
        """Return the questions in the order they are asked, without making the sessions between them."""

    @abstractmethod
    def only(self, session_ids: frozenset[str]) -> tuple[Step, ...]:
        """Return the steps with nothing taken in but what is named, without making the rest.

        Raises:
            KeyError: there is no session of such an id.
        """


EMPTY = '"steps":[]'
"""How a scenario without steps is written."""


class Scenario(Stored):
    """An ordered list of steps over one fresh memory."""

    scenario_id: str
    """Unique within the benchmark; stays in memeval."""
    steps: tuple[Step, ...]
    """What is taken in and what is asked, in the order it happens; see :meth:`streamed`."""
    agent_keeps_context: bool = False
    """Whether the one who asks still knows what earlier questions of the scenario brought up, as one agent in one
    conversation does. A reader then answers from all context delivered so far."""

    @classmethod
    def streamed(cls, scenario_id: str, steps: Steps) -> Scenario:
        """Return a scenario whose steps are made when they are asked for; it can be walked, and not stored."""
        parts: dict[str, Any] = {"scenario_id": scenario_id, "steps": steps}
        return Scenario.model_construct(**parts)

    @property
    def is_streamed(self) -> bool:
        """Whether the steps are made when they are asked for, so that nobody should hold all of them."""
        return isinstance(self.steps, Steps)

    def json_pieces(self) -> Iterator[str]:
        """Yield :meth:`to_json` step by step, so that a history of any length can be written."""
        whole = self.model_copy(update={"steps": ()}).to_json()
        head, tail = whole.split(EMPTY, 1)
        yield head + EMPTY[:-1]
        for number, step in enumerate(self.steps):
            yield f"{',' if number else ''}{step.to_json()}"
        yield EMPTY[-1] + tail

    def sessions(self) -> tuple[Session, ...]:
        """Return the sessions, and each retained text as a session of one turn, in order of ingestion: all at once."""
        return tuple(self.each_session())

    def each_session(self) -> Iterator[Session]:
        """Yield what :meth:`sessions` returns, one by one: the way to go through a streamed history."""
        return (step.session for step in self.steps if isinstance(step, Ingest | Retain))

    def session(self, session_id: str) -> Session:
        """Return one session, or retained text, by its ordinal.

        Raises:
            KeyError: there is none of that id.
        """
        if isinstance(self.steps, Steps):
            return self.steps.session(session_id)
        for session in self.each_session():
            if session.session_id == session_id:
                return session
        raise KeyError(session_id)

    def turn(self, turn_id: str) -> tuple[Session, Turn]:
        """Return one turn, by its ordinal, with the session it stands in.

        Raises:
            KeyError: there is none of that id.
        """
        session = self.session(turn_id.partition(":")[0])
        for turn in session.turns:
            if turn.turn_id == turn_id:
                return session, turn
        raise KeyError(turn_id)

    def questions(self) -> tuple[Question, ...]:
        """Return the questions in the order they are asked."""
        if isinstance(self.steps, Steps):
            return self.steps.questions()
        return tuple(step for step in self.steps if isinstance(step, Question))

    def only(self, session_ids: frozenset[str]) -> Scenario:
        """Return the scenario with nothing taken in but what is named (ordinals such as ``s001``)."""
        if isinstance(self.steps, Steps):
            return self.model_copy(update={"steps": self.steps.only(session_ids)})
        kept = tuple(s for s in self.steps if not isinstance(s, Ingest | Retain) or s.session.session_id in session_ids)
        return self.model_copy(update={"steps": kept})


def dated_line(session: Session, turn: Turn) -> str:
    """Return a turn as one dated line of context, the form in which shipped controls hand turns to a reader."""
    return f"[{session.date}] {turn.speaker or turn.role}: {turn.content}"
