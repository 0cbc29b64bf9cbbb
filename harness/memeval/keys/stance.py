"""Keys of facts that may no longer be certain: the stance that an answer must take."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from memeval.keys.base import AnswerKey
from memeval.keys.facts import Fact


class Stance(StrEnum):
    """The stance that an answer about a dependent fact must take."""

    DOUBT = "doubt"
    """The basis of the fact changed and nobody confirmed the fact: the answer must say so, or ask."""
    CONFIDENT = "confident"
    """The fact is valid: the answer must state it without hedging."""


class StanceKey(AnswerKey):
    """A fact that depends on another one, and the stance that an answer must take."""

    dependent: Fact
    """The dependent fact."""
    stance: Stance = Stance.DOUBT
    """The stance that the answer must take."""
    reference: str
    """A right answer, for readers."""

    @property
    def prompt(self) -> str:
        """The kind of the key, with an ending for a control twin."""
        return self.kind if self.unanswerable else f"{self.kind}-confirmed"

    @property
    def unanswerable(self) -> bool:
        """Whether doubt is right."""
        return self.stance is Stance.DOUBT

    @property
    def references(self) -> tuple[str, ...]:
        """The reference."""
        return (self.reference,)


class CascadeKey(StanceKey):
    """A fact that depends on another one, which changed later (in a control twin: did not change)."""

    kind: Literal["cascade-propagation"] = "cascade-propagation"
    """Type of the key."""
    root_change: str
    """The change, as ``old → new``; in a control twin, the unchanged fact."""

    @property
    def shown(self) -> Mapping[str, str]:
        """The change and the dependent fact."""
        return {"root_change": self.root_change, "dependent": self.dependent.text}


class UncertaintyKey(StanceKey):
    """A fact that is no longer certain (in a control twin: is certain)."""

    kind: Literal["uncertainty-abstention"] = "uncertainty-abstention"
    """Type of the key."""
    reason: str
    """Why the fact is uncertain; in a control twin, why it is certain."""

    @property
    def shown(self) -> Mapping[str, str]:
        """The reason and the fact."""
        return {"reason": self.reason, "dependent": self.dependent.text}
