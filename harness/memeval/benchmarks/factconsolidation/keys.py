"""FactConsolidation's answer keys."""

from collections.abc import Mapping
from typing import Literal

from memeval.keys import Fact, FactsKey
from memeval.records.failure import Cause


class FactConsolidationKey(FactsKey):
    """The newest value of a fact."""

    right_is = "newest value"
    wrong_is = "a value that a later fact replaced"
    wrong_cause = Cause.WRONG_TIME
    replaces = True
    fact_fields = ("answer", "others")

    kind: Literal["fact-consolidation"] = "fact-consolidation"
    """Type of the key."""
    answer: Fact
    """The released answer."""
    others: tuple[Fact, ...] = ()
    """Other values of the same fact; empty if the list states one, and for a multi-hop question."""
    newest: str | None = None
    """Ordinal of the newest fact (``s004:t03``); ``None`` for a multi-hop question, or if no fact matches."""
    stale: tuple[str, ...] = ()
    """Ordinals of the facts that it replaced, in order."""

    @property
    def shown(self) -> Mapping[str, str]:
        return {"answer": self.answer.text}

    @property
    def relevant_turns(self) -> tuple[str, ...]:
        return () if self.newest is None else (self.newest,)
