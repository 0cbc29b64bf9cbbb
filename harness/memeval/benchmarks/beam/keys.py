"""BEAM's answer keys: the rubric of a question, and one of its sentences."""

import re
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


SHORT = 4
"""Most words of a fact of a rubric that the offline rules can compare with an answer."""

_LEAD = re.compile(r"^(?:the )?(?:llm )?response should (?P<verb>[a-z]+):\s*", re.IGNORECASE)
_FACTS = frozenset({"state", "mention"})
"""Verbs before a fact. What an answer should contain is described."""
_ABSTAIN = re.compile(r"^based on the provided chat, there is no information\b", re.IGNORECASE)


class Asked(StrEnum):
    """What a judge is asked about a sentence of a rubric; the values are names of prompts."""

    WHOLE = "beam-nugget"
    """Whether the answer meets it."""
    PART = "beam-nugget-part"
    """Whether the answer meets a part of it."""
    SAME = "beam-same"
    """Whether a line of the answer is about the same event."""


class NuggetKey(ReferenceKey):
    """One sentence of a rubric, for a judge. Rules can read short facts, and the one form about abstention."""

    prompts = __package__
    unread_is_wrong = False

    kind: Literal["beam-nugget"] = "beam-nugget"
    criterion: str
    """The sentence of the rubric."""
    asked: Asked = Asked.WHOLE
    """What the judge is asked."""

    @property
    def prompt(self) -> str:
        return self.asked.value

    @property
    def shown(self) -> Mapping[str, str]:
        return {"criterion": self.criterion}

    @property
    def expected(self) -> str:
        return _LEAD.sub("", self.criterion)

    @property
    def unanswerable(self) -> bool:
        return bool(_ABSTAIN.match(self.criterion))

    @property
    def is_rubric(self) -> bool:
        lead = _LEAD.match(self.criterion)
        is_fact = lead is not None and lead["verb"].lower() in _FACTS
        return not self.unanswerable and not (is_fact and len(self.expected.split()) <= SHORT)


class BeamKey(ReferenceKey):
    """BEAM's key of a question."""

    prompts = __package__
    unread_is_wrong = False

    kind: Literal["beam"] = "beam"
    ability: Ability
    """The ability that it tests."""
    reference: str
    """The reference answer; for some abilities a description of a good answer."""
    rubric: tuple[str, ...]
    """What an answer must contain, a sentence each."""
    evidence_turns: tuple[str, ...] = ()
    """Ordinals of the messages with the evidence (``s004:t03``); empty if the file names none."""

    @property
    def prompt(self) -> str:
        return "beam-answer"

    @property
    def expected(self) -> str:
        return self.reference

    @property
    def is_rubric(self) -> bool:
        return not self.unanswerable

    @property
    def unanswerable(self) -> bool:
        return self.ability is Ability.ABSTENTION

    @property
    def relevant_turns(self) -> tuple[str, ...]:
        return self.evidence_turns

    @property
    def shown(self) -> Mapping[str, str]:
        return {"reference": self.reference}
