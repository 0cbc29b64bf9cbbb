"""LoCoMo's answer key, and the two options of adversarial questions: the trap, or that it was not mentioned.

LoCoMo chooses the order of the options at random. Here the id of the question decides, so that runs are repeatable.
"""

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from memeval.keys import ReferenceKey, WrongTime

UNANSWERABLE = "No answer: the history does not say."


class LocomoCategory(StrEnum):
    """LoCoMo's categories, numbered 1 to 5 in its file, in this order."""

    MULTI_HOP = "multi-hop"
    TEMPORAL = "temporal"
    OPEN_DOMAIN = "open-domain"
    SINGLE_HOP = "single-hop"
    ADVERSARIAL = "adversarial"


_PROMPTS = {
    LocomoCategory.SINGLE_HOP: "locomo-answer",
    LocomoCategory.OPEN_DOMAIN: "locomo-answer",
    LocomoCategory.MULTI_HOP: "locomo-all-parts",
    LocomoCategory.TEMPORAL: "locomo-period",
    LocomoCategory.ADVERSARIAL: "locomo-adversarial",
}


class LocomoKey(ReferenceKey):
    """LoCoMo's key of a question."""

    prompts = __package__

    kind: Literal["locomo"] = "locomo"
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

    @property
    def prompt(self) -> str:
        return _PROMPTS[self.category]

    @property
    def shown(self) -> Mapping[str, str]:
        return {"reference": self.answer or "None", "dates": ", ".join(self.dates) or "Not known"}

    @property
    def expected(self) -> str:
        return self.answer or ""

    @property
    def references(self) -> tuple[str, ...]:
        return (UNANSWERABLE if self.answer is None else self.answer,)

    @property
    def relevant_turns(self) -> tuple[str, ...]:
        return self.evidence_turns

    @property
    def unanswerable(self) -> bool:
        return self.category is LocomoCategory.ADVERSARIAL

    @property
    def misleading(self) -> str | None:
        return self.trap

    @property
    def is_list(self) -> bool:
        return self.category is LocomoCategory.MULTI_HOP

    @property
    def is_loose(self) -> bool:
        return self.category is LocomoCategory.OPEN_DOMAIN

    @property
    def wrong_time(self) -> WrongTime | None:
        return WrongTime.DATE if self.category is LocomoCategory.TEMPORAL and self.answer is not None else None


NOT_MENTIONED = "Not mentioned in the conversation"
"""The correct option. The rule of the category looks for these words."""


def options_of(question_id: str, trap: str) -> tuple[str, str]:
    right_first = hashlib.sha256(question_id.encode()).digest()[0] % 2 == 0
    return (NOT_MENTIONED, trap) if right_first else (trap, NOT_MENTIONED)


def with_options(question: str, options: tuple[str, ...]) -> str:
    if not options:
        return question
    first, second = options
    return f"{question}\nOne of these two is right: (a) {first} (b) {second}\nAnswer with (a) or (b)."


def chosen(answer: str, options: tuple[str, ...]) -> str:
    """Return the option that an answer names, by the rule of LoCoMo (``task_eval/gpt_utils.py``).

    ``a`` and ``(a)`` name the first option. Any other answer of one or three characters names the second. A longer
    answer is returned in lower case.
    """
    text = answer.strip().lower()
    if len(text) not in (1, 3):
        return text
    first, second = options
    return first if text in ("a", "(a)") else second
