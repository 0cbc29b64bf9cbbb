"""Keys of facts: what a right answer states, and what it must not state."""

from collections.abc import Mapping
from itertools import chain
from typing import ClassVar, Literal

from pydantic import Field

from memeval.keys.base import AnswerKey
from memeval.records.base import Record
from memeval.records.failure import Cause


class Fact(Record):
    """A fact, and the phrases by which a rule recognises it in an answer."""

    text: str
    """The fact as a sentence, shown to judges and readers."""
    phrases: tuple[str, ...] = Field(min_length=1)
    """Key phrase and aliases. An answer states the fact if it contains one of them as whole words, in any case."""


def listed(facts: tuple[Fact, ...]) -> str:
    """Return facts as a list in one line; the word "None" if the list is empty."""
    return ", ".join(fact.text.rstrip(".") for fact in facts) or "None"


def phrases_of(facts: tuple[Fact, ...]) -> tuple[str, ...]:
    return tuple(phrase for fact in facts for phrase in fact.phrases)


class FactsKey(AnswerKey):
    """One fact that an answer must state, and others that it must not state."""

    right_is: ClassVar[str]
    """What the right fact is, for reasons: ``current value``."""
    wrong_is: ClassVar[str]
    """What a wrong fact is, for reasons: ``a value of another time``."""
    wrong_cause: ClassVar[Cause]
    """The cause of a failure whose answer states a wrong fact."""
    replaces: ClassVar[bool] = False
    """Whether the right fact took the place of the wrong ones."""
    fact_fields: ClassVar[tuple[str, str]]
    """The names of the fields with the right fact and with the wrong ones."""

    @property
    def right(self) -> Fact:
        """The fact that a right answer states."""
        fact: Fact = getattr(self, self.fact_fields[0])
        return fact

    @property
    def wrong(self) -> tuple[Fact, ...]:
        """The facts that a right answer does not state."""
        facts: tuple[Fact, ...] = getattr(self, self.fact_fields[1])
        return facts

    @property
    def prompt(self) -> str:
        return self.kind

    @property
    def shown(self) -> Mapping[str, str]:
        return dict(zip(self.fact_fields, (self.right.text, listed(self.wrong)), strict=True))

    @property
    def references(self) -> tuple[str, ...]:
        return (self.right.text,)

    @property
    def traps(self) -> tuple[str, ...]:
        return tuple(fact.text for fact in self.wrong)


class BeliefKey(FactsKey):
    """A fact after its last update."""

    right_is = "current value"
    wrong_is = "a value that no longer holds"
    wrong_cause = Cause.WRONG_TIME
    replaces = True
    fact_fields = ("current", "stale")

    kind: Literal["belief-update"] = "belief-update"
    current: Fact
    """The current fact."""
    stale: tuple[Fact, ...]
    """Earlier facts, which the answer must not state as current."""


class NoiseKey(FactsKey):
    """One fact in a long conversation about other things."""

    right_is = "asked fact"
    wrong_is = "what someone else said"
    wrong_cause = Cause.WRONG_PERSON
    fact_fields = ("reference", "distractors")

    kind: Literal["noise-resistance"] = "noise-resistance"
    reference: Fact
    """The requested fact."""
    distractors: tuple[Fact, ...] = ()
    """Facts about other people in the conversation, which the answer must not state instead."""


class TemporalKey(FactsKey):
    """A fact at a given time."""

    right_is = "value of the asked time"
    wrong_is = "a value of another time"
    wrong_cause = Cause.WRONG_TIME
    fact_fields = ("reference", "others")

    kind: Literal["temporal-belief"] = "temporal-belief"
    reference: Fact
    """The fact at the requested time, or the requested time."""
    others: tuple[Fact, ...]
    """Facts at other times, which the answer must not state."""


class DeltaKey(AnswerKey):
    """The facts that each question's answer should contain: early ones, and ones added between questions."""

    kind: Literal["delta-efficiency"] = "delta-efficiency"
    facts_by_turn: tuple[tuple[Fact, ...], ...]
    """The facts that the answer should contain, by question."""

    @property
    def references(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(fact.text for fact in chain.from_iterable(self.facts_by_turn)))
