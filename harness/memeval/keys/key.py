"""Types of answer keys, one for each way of being right."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from memeval.records.base import Record, Stored


class Fact(Record):
    """A fact and the phrases by which an answer can be seen to state it."""

    text: str
    """The fact as a sentence, as shown to a judge or a reader of the board."""
    phrases: tuple[str, ...] = Field(min_length=1)
    """Key phrase and aliases: an answer states the fact when one of them occurs in it as whole words, in any case."""


class Stance(StrEnum):
    """What an answer about an unrevisited fact must take."""

    DOUBT = "doubt"
    """The fact's ground has gone and nobody came back to it: say so, or ask."""
    CONFIDENT = "confident"
    """The fact stands: say it, without hedging."""


class BeliefKey(Record):
    """The state after the last update."""

    kind: Literal["belief-update"] = "belief-update"
    """Tells the keys apart."""
    current: Fact
    """What holds now."""
    stale: tuple[Fact, ...]
    """What held before, and must not be offered."""


class CascadeKey(Record):
    """A fact that depended on another which has since changed (or, in a control twin, has not)."""

    kind: Literal["cascade-propagation"] = "cascade-propagation"
    """Tells the keys apart."""
    root_change: str
    """What changed, as ``old → new``; what held, in a control twin."""
    dependent: Fact
    """The fact that rested on it."""
    stance: Stance = Stance.DOUBT
    """What the answer must take."""
    reference: str
    """A right answer in words, for people."""


class NoiseKey(Record):
    """One fact in a lot of talk."""

    kind: Literal["noise-resistance"] = "noise-resistance"
    """Tells the keys apart."""
    reference: Fact
    """The fact asked for."""
    distractors: tuple[Fact, ...] = ()
    """What others in the same talk said of themselves, and must not be offered instead."""


class TemporalKey(Record):
    """What held at a given time."""

    kind: Literal["temporal-belief"] = "temporal-belief"
    """Tells the keys apart."""
    reference: Fact
    """What held at the asked time, or the time asked for."""
    others: tuple[Fact, ...]
    """What held at other times, and must not be offered."""


class DeltaKey(Record):
    """Facts known early, and facts that come to be known between questions."""

    kind: Literal["delta-efficiency"] = "delta-efficiency"
    """Tells the keys apart."""
    facts_by_turn: tuple[tuple[Fact, ...], ...]
    """Per question, the facts that its answer should hold."""


class UncertaintyKey(Record):
    """A fact that can no longer be stated with confidence (or, in a control twin, can)."""

    kind: Literal["uncertainty-abstention"] = "uncertainty-abstention"
    """Tells the keys apart."""
    reason: str
    """Why the fact is uncertain; why it is not, in a control twin."""
    dependent: Fact
    """The fact in question."""
    stance: Stance = Stance.DOUBT
    """What the answer must take."""
    reference: str
    """A right answer in words, for people."""


AnswerKey = Annotated[
    BeliefKey | CascadeKey | NoiseKey | TemporalKey | DeltaKey | UncertaintyKey, Field(discriminator="kind")
]


class ItemKey(Stored):
    """The key of one item, and where the item counts."""

    item_id: str
    """Unique within the benchmark."""
    scenario_id: str
    """The scenario its questions stand in."""
    question_ids: tuple[str, ...] = Field(min_length=1)
    """The questions that make up the item, in order."""
    category: str
    """The category it counts in."""
    cluster: str
    """Items that share a cluster are not independent of one another."""
    slices: dict[str, str] = {}
    """Declared slices, such as ``difficulty: hard``."""
    evidence: tuple[str, ...] | None = None
    """Ordinals of the sessions (``s004``) that the answer rests on; ``None`` where the benchmark names none."""
    key: AnswerKey
    """What a right answer is."""
