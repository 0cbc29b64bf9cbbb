"""Types of answer keys, one for each way of being right."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from memeval.keys.fact import Fact
from memeval.keys.memorycd import MemoryCDKey
from memeval.keys.qa import QaKey
from memeval.keys.store import StoreKey
from memeval.keys.suites import RecallKey, ReflectKey
from memeval.records.base import Record, Stored


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


class LocomoCategory(StrEnum):
    """LoCoMo's categories; its file numbers them 1 to 5, in this order."""

    MULTI_HOP = "multi-hop"
    TEMPORAL = "temporal"
    OPEN_DOMAIN = "open-domain"
    SINGLE_HOP = "single-hop"
    ADVERSARIAL = "adversarial"


class LocomoKey(Record):
    """What LoCoMo says of a question."""

    kind: Literal["locomo"] = "locomo"
    """Tells the keys apart."""
    category: LocomoCategory
    """Decides the rule."""
    answer: str | None
    """The reference answer as text; ``None`` where the file has none, as for most adversarial questions."""
    trap: str | None = None
    """What an adversarial question leads to: right of someone else, or of another thing."""
    evidence: tuple[str, ...] = ()
    """Evidence as the file lists it, malformed pieces and repetitions among it."""
    evidence_turns: tuple[str, ...] = ()
    """Ordinals of the turns (``s004:t03``) that well-formed evidence names, each once."""
    dates: tuple[str, ...] = ()
    """When the sessions of the evidence took place: what a judge of times is shown."""
    options: tuple[str, ...] = ()
    """The two answers that an adversarial question offers, (a) first; none where it is asked without a choice."""


class LongMemEvalType(StrEnum):
    """LongMemEval's types of question."""

    SINGLE_SESSION_USER = "single-session-user"
    SINGLE_SESSION_PREFERENCE = "single-session-preference"
    SINGLE_SESSION_ASSISTANT = "single-session-assistant"
    MULTI_SESSION = "multi-session"
    TEMPORAL_REASONING = "temporal-reasoning"
    KNOWLEDGE_UPDATE = "knowledge-update"


class LongMemEvalKey(Record):
    """What LongMemEval says of a question."""

    kind: Literal["longmemeval"] = "longmemeval"
    """Tells the keys apart."""
    question_type: LongMemEvalType
    """Decides what a right answer must do."""
    abstention: bool
    """Whether the question cannot be answered: what its id says, and not its type."""
    answer: str
    """The reference answer; the rubric of a preference; the explanation of an abstention."""
    whole_number: bool = False
    """Whether the file has the answer as a number."""
    evidence_turns: tuple[str, ...] = ()
    """Ordinals of the turns (``s004:t03``) that the file marks as holding the answer."""


AnswerKey = Annotated[
    BeliefKey
    | CascadeKey
    | NoiseKey
    | TemporalKey
    | DeltaKey
    | UncertaintyKey
    | LocomoKey
    | LongMemEvalKey
    | RecallKey
    | ReflectKey
    | MemoryCDKey
    | QaKey
    | StoreKey,
    Field(discriminator="kind"),
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
