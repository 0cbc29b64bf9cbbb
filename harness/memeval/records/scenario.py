"""What a system may ever see: sessions, questions, and the order they come in."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

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


class TakeIn(Record):
    """Step: the system takes a session in."""

    step: Literal["take_in"] = "take_in"
    """Tells the two kinds of step apart."""
    session: Session
    """The session."""
    source_id: str
    """The benchmark's own id of the session; stays in memeval."""


class Ask(Record):
    """Step: the system is asked a question."""

    step: Literal["ask"] = "ask"
    """Tells the two kinds of step apart."""
    question_id: str
    """Unique within the benchmark; stays in memeval."""
    question: str
    """The question's text."""
    timestamp: str | None = None
    """The time the question is asked as of; ``None`` where the protocol passes none."""


Step = Annotated[TakeIn | Ask, Field(discriminator="step")]


class Scenario(Stored):
    """An ordered list of steps over one fresh memory."""

    scenario_id: str
    """Unique within the benchmark; stays in memeval."""
    steps: tuple[Step, ...]
    """Sessions and questions, in the order they happen."""
    agent_keeps_context: bool = False
    """Whether the one who asks still knows what earlier questions of the scenario brought up, as one agent in one
    conversation does. A reader then answers from all context delivered so far."""

    def sessions(self) -> tuple[Session, ...]:
        """Return the sessions in order of ingestion."""
        return tuple(step.session for step in self.steps if isinstance(step, TakeIn))

    def questions(self) -> tuple[Ask, ...]:
        """Return the questions in the order they are asked."""
        return tuple(step for step in self.steps if isinstance(step, Ask))

    def only(self, session_ids: frozenset[str]) -> Scenario:
        """Return the scenario with no session taken in but those named (ordinals such as ``s001``)."""
        kept = tuple(s for s in self.steps if not isinstance(s, TakeIn) or s.session.session_id in session_ids)
        return self.model_copy(update={"steps": kept})


def dated_line(session: Session, turn: Turn) -> str:
    """Return a turn as one dated line of context, the form in which shipped controls hand turns to a reader."""
    return f"[{session.date}] {turn.speaker or turn.role}: {turn.content}"
