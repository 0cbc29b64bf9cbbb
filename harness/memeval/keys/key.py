"""Types of answer keys, one for each kind of question."""

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
    """The stance that an answer about a dependent fact must take."""

    DOUBT = "doubt"
    """The basis of the fact changed and nobody confirmed the fact: the answer must say so, or ask."""
    CONFIDENT = "confident"
    """The fact is valid: the answer must state it without hedging."""


class BeliefKey(Record):
    """A fact after its last update."""

    kind: Literal["belief-update"] = "belief-update"
    """Type of the key."""
    current: Fact
    """The current fact."""
    stale: tuple[Fact, ...]
    """Earlier facts, which the answer must not state as current."""


class CascadeKey(Record):
    """A fact that depends on another one, which changed later (in a control twin: did not change)."""

    kind: Literal["cascade-propagation"] = "cascade-propagation"
    """Type of the key."""
    root_change: str
    """The change, as ``old → new``; in a control twin, the unchanged fact."""
    dependent: Fact
    """The dependent fact."""
    stance: Stance = Stance.DOUBT
    """The stance that the answer must take."""
    reference: str
    """A right answer, for readers."""


class NoiseKey(Record):
    """One fact in a long conversation about other things."""

    kind: Literal["noise-resistance"] = "noise-resistance"
    """Type of the key."""
    reference: Fact
    """The requested fact."""
    distractors: tuple[Fact, ...] = ()
    """Facts about other people in the conversation, which the answer must not state instead."""


class TemporalKey(Record):
    """A fact at a given time."""

    kind: Literal["temporal-belief"] = "temporal-belief"
    """Type of the key."""
    reference: Fact
    """The fact at the requested time, or the requested time."""
    others: tuple[Fact, ...]
    """Facts at other times, which the answer must not state."""


class DeltaKey(Record):
    """The facts that each question's answer should contain: early ones, and ones added between questions."""

    kind: Literal["delta-efficiency"] = "delta-efficiency"
    """Type of the key."""
    facts_by_turn: tuple[tuple[Fact, ...], ...]
    """The facts that the answer should contain, by question."""


class UncertaintyKey(Record):
    """A fact that is no longer certain (in a control twin: is certain)."""

    kind: Literal["uncertainty-abstention"] = "uncertainty-abstention"
    """Type of the key."""
    reason: str
    """Why the fact is uncertain; in a control twin, why it is certain."""
    dependent: Fact
    """The fact in question."""
    stance: Stance = Stance.DOUBT
    """The stance that the answer must take."""
    reference: str
    """A right answer, for readers."""


class LocomoCategory(StrEnum):
    """LoCoMo's categories, numbered 1 to 5 in its file, in this order."""

    MULTI_HOP = "multi-hop"
    TEMPORAL = "temporal"
    OPEN_DOMAIN = "open-domain"
    SINGLE_HOP = "single-hop"
    ADVERSARIAL = "adversarial"


class LocomoKey(Record):
    """LoCoMo's key of a question."""

    kind: Literal["locomo"] = "locomo"
    """Type of the key."""
    category: LocomoCategory
    """The category; it determines the scoring rule."""
    answer: str | None
    """The reference answer as text; ``None`` if the file has none, as for most adversarial questions."""
    trap: str | None = None
    """The wrong answer that an adversarial question suggests; it is right about another person or thing."""
    evidence: tuple[str, ...] = ()
    """Evidence as in the file, including malformed and repeated entries."""
    evidence_turns: tuple[str, ...] = ()
    """Ordinals of the turns (``s004:t03``) in well-formed evidence, without repetitions."""
    dates: tuple[str, ...] = ()
    """Dates of the evidence's sessions, shown to judges of times."""
    options: tuple[str, ...] = ()
    """The two options of an adversarial question, (a) first; empty if the question has no options."""


class LongMemEvalType(StrEnum):
    """LongMemEval's question types."""

    SINGLE_SESSION_USER = "single-session-user"
    SINGLE_SESSION_PREFERENCE = "single-session-preference"
    SINGLE_SESSION_ASSISTANT = "single-session-assistant"
    MULTI_SESSION = "multi-session"
    TEMPORAL_REASONING = "temporal-reasoning"
    KNOWLEDGE_UPDATE = "knowledge-update"


class LongMemEvalKey(Record):
    """LongMemEval's key of a question."""

    kind: Literal["longmemeval"] = "longmemeval"
    """Type of the key."""
    question_type: LongMemEvalType
    """The question type; it determines the judge's prompt."""
    abstention: bool
    """Whether the question is unanswerable; given by its id, not by its type."""
    answer: str
    """The reference answer; the rubric for preferences; the explanation for abstentions."""
    whole_number: bool = False
    """Whether the answer is a number in the file."""
    evidence_turns: tuple[str, ...] = ()
    """Ordinals of the turns (``s004:t03``) that contain the answer, according to the file."""


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
    """The key of one item, with its category and slices."""

    item_id: str
    """Unique within the benchmark."""
    scenario_id: str
    """The scenario of its questions."""
    question_ids: tuple[str, ...] = Field(min_length=1)
    """The item's questions, in order."""
    category: str
    """The item's category."""
    cluster: str
    """The item's cluster; items of one cluster are not statistically independent."""
    slices: dict[str, str] = {}
    """Declared slices, such as ``difficulty: hard``."""
    evidence: tuple[str, ...] | None = None
    """Ordinals of the evidence sessions (``s004``); ``None`` if the benchmark lists no evidence."""
    key: AnswerKey
    """The answer key."""
