"""Failure analysis of a run: why an item is wrong, and whether its evidence was retrieved."""

from enum import StrEnum

from pydantic import Field

from memeval.records.base import Record, Share, Stored


class Cause(StrEnum):
    """Why an item is wrong. The first cause that applies counts."""

    ERROR = "error"
    """The system, its reader or the judge failed."""
    ABSTAINED_WRONGLY = "abstained wrongly"
    """The answer says that it does not know, but the history holds the answer."""
    WRONG_PERSON = "wrong person"
    """The answer is true of another person."""
    ANSWERED_WRONGLY = "answered the unanswerable"
    """The answer states a fact, but the history does not contain one."""
    BROKE_THE_FILTER = "broke the filter"
    """A retrieved text is from another bank, tag or time than requested."""
    WRONG_TIME = "wrong time"
    """The answer was true at another time, or names another time than the question asks about."""
    NOT_RETRIEVED = "evidence not retrieved"
    """Some of the evidence was not retrieved."""
    RETRIEVED_TOO_LOW = "evidence retrieved too low"
    """All evidence was retrieved, but some ranked too low to be read or to count."""
    NOT_USED = "evidence retrieved but not used"
    """All evidence was retrieved and read, but the answer is wrong."""
    UNKNOWN = "unknown"
    """The retrieved texts are unknown, the benchmark names no evidence, or the evidence does not explain it."""


class EvidenceFound(StrEnum):
    """Whether the evidence of an item was retrieved."""

    ALL = "all"
    SOME = "some"
    NONE = "none"
    UNKNOWN = "unknown"
    """The system does not report what it retrieved, or the benchmark names no evidence."""


class Failure(Stored):
    """The result of one item, with the evidence retrieved for it."""

    item_id: str
    category: str
    right: bool
    """Whether the answer is correct. For a grader with partial credit: at least half of the credit."""
    found: EvidenceFound
    """Whether its evidence was retrieved. Evidence is compared by turn if key and system name turns and answers are
    graded, else by session."""
    rank: int | None = Field(default=None, ge=1)
    """Rank of the last piece of evidence among the retrieved turns or sessions, from 1; ``None`` unless one question
    retrieved all evidence."""
    cause: Cause | None = None
    """Why it is wrong; ``None`` if it is correct."""


class CategoryFailures(Record):
    """The failures of a category, by cause."""

    category: str
    items: int
    """Items with a grade."""
    right: int
    causes: dict[Cause, int]


class FoundCount(Record):
    """Counts of correct and wrong items, for one value of ``EvidenceFound``."""

    found: EvidenceFound
    """Whether their evidence was retrieved."""
    right: int
    wrong: int
    """Number of wrong items."""
    share_right: Share | None
    """``right / (right + wrong)``; ``None`` if there are no such items."""


class FailureSummary(Record):
    """The counts of a run's failure analysis."""

    items: int
    """Items with a grade."""
    right: int
    causes: dict[Cause, int]
    categories: tuple[CategoryFailures, ...]
    """The same by category, in the order they first occur."""
    found: tuple[FoundCount, ...]
    """Correct and wrong items by ``EvidenceFound``: one line per value, also if it has no items."""

    @property
    def says_something(self) -> bool:
        """Whether the cause of a wrong item, or the evidence of any item, is known."""
        explained = any(cause is not Cause.UNKNOWN for cause in self.causes)
        return explained or any(
            line.right + line.wrong for line in self.found if line.found is not EvidenceFound.UNKNOWN
        )
