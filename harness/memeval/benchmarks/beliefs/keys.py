"""Keys of the protocol ``retrieval``: the turns that answer a question, and those that mislead."""

from __future__ import annotations

from collections.abc import Mapping
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


_SAID: Mapping[Kind, str] = {
    Kind.STALE: "at another time",
    Kind.DROPPED: "taken back",
    Kind.HYPOTHETICAL: "a daydream, or long before",
    Kind.OTHER_PERSON: "another person",
}


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
    expected: tuple[StatedValue, ...] = Field(min_length=1)
    """What the evidence consists of. All of it is needed."""
    misleading: tuple[MisleadingValue, ...] = ()
    """What is also said about the subject of the question."""
    reference: str
    """The right answer, for readers."""

    def moved(self, ordinals: Mapping[str, str]) -> EvidenceKey:
        """Return the key with other ordinals of sessions.

        ``ordinals``: for each session, its ordinal in the other history.
        """

        def turns(value: StatedValue) -> tuple[str, ...]:
            parts = (turn.partition(":") for turn in value.turns)
            return tuple(f"{ordinals[session]}:{place}" for session, _, place in parts)

        return self.model_copy(
            update={
                "expected": tuple(each.model_copy(update={"turns": turns(each)}) for each in self.expected),
                "misleading": tuple(each.model_copy(update={"turns": turns(each)}) for each in self.misleading),
            }
        )

    @property
    def relevant_turns(self) -> tuple[str, ...]:
        """The smallest sufficient evidence: the shortest turn of each part."""
        return tuple(dict.fromkeys(part.turns[0] for part in self.expected))

    @property
    def references(self) -> tuple[str, ...]:
        return (self.reference,)

    @property
    def traps(self) -> tuple[str, ...]:
        """The misleading values, each with its reason."""
        return tuple(f"{value.phrases[0]} ({_SAID[value.why]})" for value in self.misleading)
