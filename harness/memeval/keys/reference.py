"""The shape of keys with a reference answer in words."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from memeval.keys.base import AnswerKey


class WrongTime(StrEnum):
    """How an answer shows that it is about another time than the question."""

    DATE = "date"
    """It names another date or duration than the reference."""
    OLDER_NUMBER = "older number"
    """It has a number of older evidence instead of the reference's number."""


class ReferenceKey(AnswerKey):
    """A reference answer in words. Subclasses add the fields of their benchmark, and say how to read the reference."""

    doubt_abstains: ClassVar[bool] = False
    """Whether a hedged answer counts as an abstention in the failure analysis."""

    @property
    def expected(self) -> str:
        """The reference answer; blank if there is none."""
        return ""

    @property
    def is_rubric(self) -> bool:
        """Whether the reference describes right answers, so that rules cannot compare with it."""
        return False

    @property
    def misleading(self) -> str | None:
        """The wrong answer that an unanswerable question suggests; ``None`` if it suggests none."""
        return None

    @property
    def is_list(self) -> bool:
        """Whether commas separate parts of the reference that a right answer must all have."""
        return False

    @property
    def is_loose(self) -> bool:
        """Whether reasons after the reference are ignored, and "or" separates alternative answers."""
        return False

    @property
    def counts_loosely(self) -> bool:
        """Whether a count of days, weeks or months may be off by one."""
        return False

    @property
    def wrong_time(self) -> WrongTime | None:
        """How an answer shows that it is about another time; ``None`` if the question is not about a time."""
        return None

    @property
    def references(self) -> tuple[str, ...]:
        """The reference."""
        return (self.expected,)
