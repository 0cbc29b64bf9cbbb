"""Scores of a run: counts over a fixed denominator, shares with intervals."""

from __future__ import annotations

from memeval.records.base import Record, Share
from memeval.records.grade import FlagCount


class Interval(Record):
    """A 95 % interval of a share."""

    low: Share
    """Lower end."""
    high: Share
    """Upper end."""


class Tally(Record):
    """Counts of a set of items, and the shares that follow from them."""

    planned: int
    """Items planned: the denominator of ``accuracy``."""
    done: int
    """Items with a grade; the rest were skipped."""
    correct: int
    """Items that came back right; where the grader measures, those with full credit."""
    points: float | None = None
    """Sum of the items' credits, where the grader measures; ``None`` where it rules, and each right item is a point."""
    errors: int
    """Items without a verdict: the system, its reader or the judge failed."""
    accuracy: Share | None
    """``correct / planned``, or ``points / planned`` where the grader measures; ``None`` where nothing was planned."""
    interval: Interval | None
    """Wilson 95 % interval of ``accuracy``."""
    graded_accuracy: Share | None
    """The same over ``done - errors``: what the error-free items show; ``None`` where there are none."""


class CategoryScore(Record):
    """How a run did in one category."""

    name: str
    """The category."""
    weight: Share
    """Its share of the composite."""
    tally: Tally
    """Counts and shares."""
    flags: tuple[FlagCount, ...] = ()
    """Flags raised in the category."""
    alternates: dict[str, Tally] = {}
    """The category under other declared rules, by name; only where at least one item says so."""
    metrics: dict[str, float | None] = {}
    """Means of further measurements over the items that have them, by name."""


class SliceScore(Record):
    """How a run did on one declared slice of a category."""

    category: str
    """The category."""
    slice: str
    """The slice, such as ``difficulty``."""
    value: str
    """Its value, such as ``hard``."""
    tally: Tally
    """Counts and shares."""


class Composite(Record):
    """The weighted score of a run."""

    value: Share | None
    """Sum of weight times accuracy over all categories; ``None`` with a reason where one is absent or incomplete."""
    interval: Interval | None
    """95 % interval; see ``memeval.statistics.composite``."""
    reason: str | None = None
    """Why there is no value."""


class Scores(Record):
    """All scores of a run."""

    composite: Composite
    """The headline."""
    alternates: dict[str, Composite] = {}
    """The composite under other declared rules, by name."""
    overall: Tally
    """All items, unweighted."""
    categories: tuple[CategoryScore, ...]
    """By category, in the benchmark's order."""
    slices: tuple[SliceScore, ...]
    """By declared slice."""
    states: dict[str, int]
    """Items by state of their grade, ``skipped`` among them."""
    false_hedge_rate: Share | None
    """Share of the graded answers to plainly answerable questions that hedge; ``None`` where there are none."""
