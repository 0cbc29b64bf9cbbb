"""Keys of the probes: what must be found, what must not, and where it was said."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from memeval.keys import AnswerKey
from memeval.records.base import Record


class ProbeRule(StrEnum):
    """When a probe passes."""

    FIRST = "first"
    """The expected statements are found before any wrong one."""
    ONLY = "only"
    """The expected statements are found, and no wrong one is returned."""
    SOURCE = "source"
    """The expected statements are found, and their sources are named correctly. Here a wrong statement has the same
    words, is about somebody else, and stands in another source."""


class ProbeStatement(Record):
    """A statement, and where it was made."""

    phrases: tuple[str, ...] = Field(min_length=1)
    """Phrases of which a text that makes the statement contains one, as whole words."""
    turns: tuple[str, ...] = ()
    """Ordinals of the turns that make it; empty if none does."""

    @property
    def sessions(self) -> frozenset[str]:
        """Ordinals of the sessions or texts that make it."""
        return frozenset(turn.partition(":")[0] for turn in self.turns)


class ProbeStage(Record):
    """What the response to one question of an item must and must not contain."""

    rule: ProbeRule
    """When the stage passes."""
    expected: tuple[ProbeStatement, ...] = ()
    """What must be found. Empty if the right result is any without a wrong statement."""
    wrong: tuple[ProbeStatement, ...] = ()
    """What must not be found, or not before what is expected."""


class ProbeKey(AnswerKey):
    """The stages of a probe, one for each question; all of them must pass."""

    kind: Literal["lifecycle"] = "lifecycle"
    stages: tuple[ProbeStage, ...] = Field(min_length=1)
    """The stages, in the order of the item's questions."""
    reference: str
    """The right result, for readers."""

    @property
    def unanswerable(self) -> bool:
        """Whether nothing may be found in the end."""
        return not self.stages[-1].expected

    @property
    def relevant_turns(self) -> tuple[str, ...]:
        """The first turn of each expected statement, and its others."""
        turns = (turn for stage in self.stages for part in stage.expected for turn in part.turns)
        return tuple(dict.fromkeys(turns))

    @property
    def references(self) -> tuple[str, ...]:
        return (self.reference,)
