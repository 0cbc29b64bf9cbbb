"""Keys of the protocol ``retrieval``: the turns that answer a question, and those that mislead."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from memeval.keys import AnswerKey
from memeval.records.base import Record


class Kind(StrEnum):
    """Why a turn misleads."""

    STALE = "stale"
    """It states a value of another time."""
    DROPPED = "dropped"
    """It announces a value that was taken back."""
    HYPOTHETICAL = "hypothetical"
    """It is a daydream, or a memory of long before."""
    OTHER_PERSON = "other person"
    """It states the value of somebody else."""


class StatedValue(Record):
    """A value, and the turns that state it."""

    phrases: tuple[str, ...] = Field(min_length=1)
    """Key phrase and aliases of the value."""
    turns: tuple[str, ...] = Field(min_length=1)
    """Ordinals of the turns, the shortest first. One of them is enough."""


class MisleadingValue(StatedValue):
    """A value that an answer to the question must not be taken from."""

    why: Kind
    """Why it misleads."""


class EvidenceKey(AnswerKey):
    """The evidence of a question, as computed from the timeline."""

    kind: Literal["expected-turns"] = "expected-turns"
    """Type of the key."""
    expected: tuple[StatedValue, ...] = Field(min_length=1)
    """What the evidence consists of. All of it is needed."""
    misleading: tuple[MisleadingValue, ...] = ()
    """What is also said about the subject of the question."""
    reference: str
    """The right answer, for readers."""

    @property
    def relevant_turns(self) -> tuple[str, ...]:
        """The smallest sufficient evidence: the shortest turn of each part."""
        return tuple(dict.fromkeys(part.turns[0] for part in self.expected))

    @property
    def references(self) -> tuple[str, ...]:
        """The right answer."""
        return (self.reference,)
