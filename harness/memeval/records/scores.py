"""Scores of a run: counts over a fixed denominator, shares with intervals."""

from memeval.records.base import Record, Share
from memeval.records.grade import FlagCount

ERROR_GATE = 0.02
"""Maximum share of errors of a ranked run."""


class Interval(Record):
    """A 95 % interval of a share."""

    low: Share
    high: Share


class Tally(Record):
    """Counts of a set of items, and the shares that follow from them."""

    planned: int
    """Items planned: the denominator of ``accuracy``."""
    done: int
    """Items with a grade; the rest were skipped."""
    correct: int
    """Correct items. For a grader with partial credit: items with full credit."""
    points: float | None = None
    """Sum of the credits, for a grader with partial credit; ``None`` for a grader with verdicts."""
    errors: int
    """Items without a verdict: the system, its reader or the judge failed."""
    accuracy: Share | None
    """``correct / planned``, or ``points / planned`` for partial credit; ``None`` if nothing is planned."""
    interval: Interval | None
    """Wilson 95 % interval of ``accuracy``."""
    graded_accuracy: Share | None
    """The same over ``done - errors``, the items without an error; ``None`` if there are no such items."""


class CategoryScore(Record):
    """The score of a run in one category."""

    name: str
    weight: Share
    tally: Tally
    flags: tuple[FlagCount, ...] = ()
    """Flags raised in the category."""
    alternates: dict[str, Tally] = {}
    """The category by other scoring rules, by name; only rules that at least one item has."""
    metrics: dict[str, float | None] = {}
    """Means of other metrics over the items that have them, by name."""


class SliceScore(Record):
    """The score of a run on one slice of a category."""

    category: str
    slice: str
    """The slice, such as ``difficulty``."""
    value: str
    """Its value, such as ``hard``."""
    tally: Tally


class Composite(Record):
    """The weighted score of a run."""

    value: Share | None
    """Sum of weight times accuracy over all categories; ``None`` with a reason if one is absent or incomplete."""
    interval: Interval | None
    """95 % interval; see ``memeval.statistics.composite``."""
    reason: str | None = None
    """Why there is no value."""

    @property
    def ends(self) -> tuple[float, float] | tuple[None, None]:
        """The ends of the interval; ``None`` without one."""
        return (self.interval.low, self.interval.high) if self.interval else (None, None)


class Scores(Record):
    """All scores of a run."""

    composite: Composite
    alternates: dict[str, Composite] = {}
    """The composite by other scoring rules, by name."""
    overall: Tally
    """All items, unweighted."""
    categories: tuple[CategoryScore, ...]
    """By category, in the benchmark's order."""
    slices: tuple[SliceScore, ...]
    states: dict[str, int]
    """Number of items by state of their grade, including ``skipped``."""
    false_hedge_rate: Share | None
    """Share of hedges among graded answers to questions with a plain answer; ``None`` if there are no such answers."""
