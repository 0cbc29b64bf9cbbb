"""The answer keys: a number, or a place. No system ever sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from memeval.keys import AnswerKey, Fact, FactsKey, listed
from memeval.records.failure import Cause


class CountKey(AnswerKey):
    """How many there are."""

    kind: Literal["pantry-count"] = "pantry-count"
    """Type of the key."""
    number: int
    """The right number."""

    @property
    def references(self) -> tuple[str, ...]:
        """The right number."""
        return (str(self.number),)


class PlaceKey(FactsKey):
    """Where something is."""

    prompts = __package__
    right_is = "current place"
    wrong_is = "an earlier place"
    wrong_cause = Cause.WRONG_TIME
    replaces = True

    kind: Literal["pantry-place"] = "pantry-place"
    """Type of the key, and name of its judge prompt."""
    place: Fact
    """The current place."""
    before: tuple[Fact, ...]
    """Earlier places."""

    @property
    def right(self) -> Fact:
        """The current place."""
        return self.place

    @property
    def wrong(self) -> tuple[Fact, ...]:
        """The earlier places."""
        return self.before

    @property
    def shown(self) -> Mapping[str, str]:
        """The placeholders of the judge prompt."""
        return {"place": self.place.text, "before": listed(self.before)}
