"""LifeBench's answer keys."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from memeval.keys import ReferenceKey
from memeval.records.base import Record


class QuestionType(StrEnum):
    """LifeBench's question types, by their names in memeval."""

    INFORMATION = "information"
    MULTI_HOP = "multi-hop"
    NONDECLARATIVE = "nondeclarative"
    TEMPORAL = "temporal"
    UNANSWERABLE = "unanswerable"


class ScorePoint(Record):
    """One criterion of a rubric."""

    criterion: str
    """What the answer must contain, without ids of hidden events."""
    points: float
    """Points for it; positive."""


class PointKey(ReferenceKey):
    """One criterion of a rubric, for a judge. Rules cannot apply it."""

    prompts = __package__

    kind: Literal["lifebench-point"] = "lifebench-point"
    criterion: str
    """What the answer must contain."""
    answer: str
    """The reference answer, which shows what the criterion is about."""

    @property
    def prompt(self) -> str:
        return self.kind

    @property
    def shown(self) -> Mapping[str, str]:
        return {"criterion": self.criterion, "reference": self.answer}

    @property
    def expected(self) -> str:
        return self.criterion

    @property
    def is_rubric(self) -> bool:
        return True


class LifeBenchKey(ReferenceKey):
    """LifeBench's key of a question."""

    prompts = __package__

    kind: Literal["lifebench"] = "lifebench"
    question_type: QuestionType
    """The ability that the question tests."""
    answer: str
    """The reference answer; letters for a question with options."""
    options: tuple[str, ...] = ()
    """The options, A first; empty for an open question."""
    rubric: tuple[ScorePoint, ...] = ()
    """The criteria; empty if the file has none."""
    records: tuple[tuple[str, ...], ...] = ()
    """The evidence: per reference, the ordinal of the record (``s004:t03``); of two records if their id is doubled."""
    record_turns: tuple[str, ...] = ()
    """Ordinals of all turns of these records; a chat has several (``s004:t03.1``)."""
    sessions_before: int
    """Number of sessions before the question."""

    @property
    def letters(self) -> frozenset[str]:
        """Letters of the correct options; empty for an open question."""
        return frozenset(letter.strip() for letter in self.answer.split(",")) if self.options else frozenset()

    @property
    def expected(self) -> str:
        return self.answer

    @property
    def is_rubric(self) -> bool:
        return bool(self.rubric)

    @property
    def unanswerable(self) -> bool:
        """Whether the question is open and the records contain no answer."""
        return self.question_type is QuestionType.UNANSWERABLE and not self.options

    @property
    def relevant_turns(self) -> tuple[str, ...]:
        return self.record_turns

    @property
    def references(self) -> tuple[str, ...]:
        lettered = zip("ABCDEFGH", self.options, strict=False)
        return tuple(f"{letter}: {text}" for letter, text in lettered if letter in self.letters) or (self.answer,)
