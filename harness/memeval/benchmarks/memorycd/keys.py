"""MemoryCD's key: a person's rating, text or choice; and the released domains."""

from enum import StrEnum
from typing import Literal

from memeval.keys import AnswerKey

DOMAINS = ("Beauty_and_Personal_Care", "Books", "Electronics", "Home_and_Kitchen")
"""Domains in their fixed order. The paper has twelve; these four were released."""


class MemoryCDTask(StrEnum):
    """The kind of prediction."""

    RATING = "rating"
    TITLE = "title"
    """The title of a review; upstream's ``review_summarization``."""
    REVIEW = "review"
    """The text of a review; upstream's ``review_generation``."""
    RANKING = "ranking"


class MemoryCDKey(AnswerKey):
    """A person's rating, text or choice."""

    kind: Literal["memorycd"] = "memorycd"
    task: MemoryCDTask
    """What is asked for: a rating, a ranking or a text."""
    rating: float | None = None
    """Stars from 1 to 5, for a rating; ``None`` otherwise."""
    text: str | None = None
    """The title or the review, for a text; ``None`` otherwise."""
    chosen: str | None = None
    """The id of the item the person chose, for a ranking; ``None`` otherwise."""
    candidates: tuple[str, ...] = ()
    """The ids to rank, in the order of the prompt; empty otherwise."""

    @property
    def references(self) -> tuple[str, ...]:
        return (next(str(value) for value in (self.rating, self.text, self.chosen, "") if value is not None),)
