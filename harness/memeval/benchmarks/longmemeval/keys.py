"""LongMemEval's answer key."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from memeval.keys import ReferenceKey, WrongTime


class LongMemEvalType(StrEnum):
    """LongMemEval's question types."""

    SINGLE_SESSION_USER = "single-session-user"
    SINGLE_SESSION_PREFERENCE = "single-session-preference"
    SINGLE_SESSION_ASSISTANT = "single-session-assistant"
    MULTI_SESSION = "multi-session"
    TEMPORAL_REASONING = "temporal-reasoning"
    KNOWLEDGE_UPDATE = "knowledge-update"


_PROMPTS = {
    LongMemEvalType.TEMPORAL_REASONING: "longmemeval-time",
    LongMemEvalType.KNOWLEDGE_UPDATE: "longmemeval-update",
    LongMemEvalType.SINGLE_SESSION_PREFERENCE: "longmemeval-preference",
}

_WRONG_TIMES = {
    LongMemEvalType.TEMPORAL_REASONING: WrongTime.DATE,
    LongMemEvalType.KNOWLEDGE_UPDATE: WrongTime.OLDER_NUMBER,
}


class LongMemEvalKey(ReferenceKey):
    """LongMemEval's key of a question."""

    prompts = __package__

    kind: Literal["longmemeval"] = "longmemeval"
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

    @property
    def prompt(self) -> str:
        return "longmemeval-abstention" if self.abstention else _PROMPTS.get(self.question_type, "longmemeval-answer")

    @property
    def shown(self) -> Mapping[str, str]:
        """The reference under the name that each prompt gives it."""
        return dict.fromkeys(("reference", "rubric", "explanation"), self.answer)

    @property
    def expected(self) -> str:
        return self.answer

    @property
    def relevant_turns(self) -> tuple[str, ...]:
        return self.evidence_turns

    @property
    def unanswerable(self) -> bool:
        return self.abstention

    @property
    def is_rubric(self) -> bool:
        """Whether the question is about a preference."""
        return self.question_type is LongMemEvalType.SINGLE_SESSION_PREFERENCE

    @property
    def counts_loosely(self) -> bool:
        """Whether the question is about times."""
        return self.question_type is LongMemEvalType.TEMPORAL_REASONING

    @property
    def wrong_time(self) -> WrongTime | None:
        """Another date in questions about times, an older number in questions about updates."""
        return _WRONG_TIMES.get(self.question_type)
