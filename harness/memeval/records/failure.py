"""What went wrong with an item, and whether its evidence was found: the rows of a run's failure analysis."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from memeval.records.base import Record, Share, Stored


class Cause(StrEnum):
    """Why an item is not right; the first that holds counts."""

    ERROR = "error"
    """The system, its reader or the judge failed."""
    ABSTAINED_WRONGLY = "abstained wrongly"
    """The answer says that it does not know what the history says."""
    WRONG_PERSON = "wrong person"
    """The answer is what someone else said of themselves, or what is true of someone else."""
    ANSWERED_WRONGLY = "answered the unanswerable"
    """The answer gives something where the history holds nothing."""
    BROKE_THE_FILTER = "broke the filter"
    """What was brought up is of another bank, tag or time than was asked for."""
    WRONG_TIME = "wrong time"
    """The answer is what held at another time, or another time than asked for."""
    NOT_RETRIEVED = "evidence not retrieved"
    """Not all of the evidence is among what was retrieved."""
    RETRIEVED_TOO_LOW = "evidence retrieved too low"
    """All of the evidence was retrieved, and not all of it stood high enough to be read, or to count."""
    NOT_USED = "evidence retrieved but not used"
    """All of the evidence was there to be read, and the answer is wrong."""
    UNKNOWN = "unknown"
    """Nothing is known of what was retrieved, the benchmark names no evidence, or evidence does not explain it."""


class EvidenceFound(StrEnum):
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
    found: EvidenceFound
    """How much of its evidence was retrieved: of its turns where key and system name turns and answers are graded,
    else of its sessions."""
    rank: int | None = Field(default=None, ge=1)
    """Place of the last piece of evidence among the turns or sessions retrieved, from 1; ``None`` unless all of it is
    among the items of one question."""
    cause: Cause | None = None
    """Why it is not right; ``None`` where it is."""


class CategoryFailures(Record):
    """How a category came out, by cause."""

    category: str
    """The category."""
    items: int
    """Items with a grade."""
    right: int
    """How many of them are right."""
    causes: dict[Cause, int]
    """How many are not, by cause; causes of none are left out."""


class FoundCount(Record):
    """The items of which so much evidence was retrieved, by how they came out."""

    found: EvidenceFound
    """How much of their evidence was retrieved."""
    right: int
    """How many of them are right."""
    wrong: int
    """How many are not."""
    share_right: Share | None
    """``right / (right + wrong)``; ``None`` where there are none."""


class FailureSummary(Record):
    """A run's failure analysis, counted."""

    items: int
    """Items with a grade."""
    right: int
    """How many of them are right."""
    causes: dict[Cause, int]
    """How many are not, by cause; causes of none are left out."""
    categories: tuple[CategoryFailures, ...]
    """The same by category, in the order they first occur."""
    found: tuple[FoundCount, ...]
    """Evidence found against answer right; a line for each way of being found, those of none among them."""

    @property
    def says_something(self) -> bool:
        """Whether anything is known of why items are not right, or of what was retrieved for any."""
        explained = any(cause is not Cause.UNKNOWN for cause in self.causes)
        return explained or any(
            line.right + line.wrong for line in self.found if line.found is not EvidenceFound.UNKNOWN
        )
