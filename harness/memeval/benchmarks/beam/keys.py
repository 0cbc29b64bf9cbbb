"""BEAM's answer keys: the rubric of a question, and one of its sentences."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from memeval.keys import ReferenceKey


class Ability(StrEnum):
    """BEAM's ten abilities, in the order of its files."""

    ABSTENTION = "abstention"
    CONTRADICTION_RESOLUTION = "contradiction-resolution"
    EVENT_ORDERING = "event-ordering"
    INFORMATION_EXTRACTION = "information-extraction"
    INSTRUCTION_FOLLOWING = "instruction-following"
    KNOWLEDGE_UPDATE = "knowledge-update"
    MULTI_SESSION_REASONING = "multi-session-reasoning"
    PREFERENCE_FOLLOWING = "preference-following"
    SUMMARIZATION = "summarization"
    TEMPORAL_REASONING = "temporal-reasoning"


class BeamKey(ReferenceKey):
    """BEAM's key of a question."""

    prompts = __package__

    kind: Literal["beam"] = "beam"
    """Type of the key."""
    ability: Ability
    """The ability that it tests."""
    reference: str
    """The reference answer; for some abilities a description of a good answer."""
    rubric: tuple[str, ...]
    """What an answer must contain, a sentence each."""
    evidence_turns: tuple[str, ...] = ()
    """Ordinals of the messages with the evidence (``s004:t03``); empty if the file names none."""

    @property
    def expected(self) -> str:
        return self.reference

    @property
    def is_rubric(self) -> bool:
        return True

    @property
    def unanswerable(self) -> bool:
        return self.ability is Ability.ABSTENTION

    @property
    def relevant_turns(self) -> tuple[str, ...]:
        return self.evidence_turns

    @property
    def shown(self) -> Mapping[str, str]:
        return {"reference": self.reference}
