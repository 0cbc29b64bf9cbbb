"""What went wrong with an item, and whether its evidence was found: the rows of a run's failure analysis."""

from __future__ import annotations

from enum import StrEnum

from memeval.records.base import Stored


class Cause(StrEnum):
    """Why an item is not right; the first that holds counts."""

    ERROR = "error"
    """The system, its reader or the judge failed."""
    ABSTAINED_WRONGLY = "abstained wrongly"
    """The answer says that it does not know what the history says."""
    ANSWERED_WRONGLY = "answered the unanswerable"
    """The answer gives something where the history holds nothing."""
    WRONG_PERSON = "wrong person"
    """The answer is what someone else said of themselves."""
    WRONG_TIME = "wrong time"
    """The answer is what held at another time, or another time than asked for."""
    NOT_RETRIEVED = "evidence not retrieved"
    """Not all of the evidence is among the retrieved items."""
    RETRIEVED_TOO_LOW = "evidence retrieved too low"
    """All of the evidence was retrieved, and not all of it reached the context."""
    NOT_USED = "evidence retrieved but not used"
    """All of the evidence was in the context, and the answer is wrong."""
    UNKNOWN = "unknown"
    """Nothing is known of what was retrieved, or the benchmark names no evidence."""


class Found(StrEnum):
    """How much of an item's evidence was retrieved."""

    ALL = "all"
    SOME = "some"
    NONE = "none"
    UNKNOWN = "unknown"
    """The system does not say what it retrieved, or the benchmark names no evidence."""


class Failure(Stored):
    """What an item came to, looked at against its evidence."""

    item_id: str
    """The item."""
    category: str
    """Its category."""
    right: bool
    """Whether it came back right; where the grader measures, with at least half of its credit."""
    found: Found
    """How much of its evidence was retrieved."""
    rank: int | None = None
    """Place of the last piece of evidence among the retrieved items, from 1; ``None`` unless all was found."""
    cause: Cause | None = None
    """Why it is not right; ``None`` where it is."""
