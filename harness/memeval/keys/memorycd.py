"""MemoryCD's key: what a person rated, wrote or chose."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from memeval.records.base import Record


class MemoryCDTask(StrEnum):
    """What is predicted of a person."""

    RATING = "rating"
    TITLE = "title"
    """The title that sums a review up; upstream's ``review_summarization``."""
    REVIEW = "review"
    """The text of a review; upstream's ``review_generation``."""
    RANKING = "ranking"


class MemoryCDKey(Record):
    """What a person did."""

    kind: Literal["memorycd"] = "memorycd"
    """Tells the keys apart."""
    task: MemoryCDTask
    """What is predicted."""
    rating: float | None = None
    """Stars from 1 to 5, for a rating; ``None`` otherwise."""
    text: str | None = None
    """The title or the text, where one is written; ``None`` otherwise."""
    chosen: str | None = None
    """The id of the item the person chose, for a ranking; ``None`` otherwise."""
    candidates: tuple[str, ...] = ()
    """The ids that are to be ranked, in the order they are shown; none otherwise."""
