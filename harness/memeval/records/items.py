"""The item statistics of a track: how hard items are, how well they tell systems apart, and what headroom is left."""

from pydantic import Field

from memeval.records.base import Record, Share, Stored


class ItemLine(Record):
    """The statistics of one item."""

    item_id: str
    category: str
    cluster: str
    """Its cluster: the person, conversation or history that it is about."""
    difficulty: Share
    """Share of the systems that get it right; for partial credit, the mean score. High values are easy items."""
    discrimination: float | None = Field(ge=-1.0, le=1.0)
    """Correlation of the item with the composite score without it, over the systems. Below 0, weak systems get it and
    strong ones do not. ``None`` with fewer than three systems, or if all have the same score."""
    everyone: bool
    """Whether every system has the full score."""
    nobody: bool
    """Whether every system scores 0."""
    moved: int
    """Number of systems whose place by score changes if the item is removed."""
    best_control: Share | None
    """Highest score of a control; ``None`` without controls. At 0, not even the whole history helps."""


class CategoryItems(Record):
    """The items of a category."""

    category: str
    items: int
    difficulty: Share
    """Mean difficulty."""
    everyone: int
    """Number of items that every system gets."""
    nobody: int
    """Number of items that no system gets."""
    negative: int
    """Number of items with a discrimination below 0."""
    moving: int
    """Number of items whose removal changes a place by score."""
    detectable: Share | None
    """Minimum detectable difference of two systems in the category; ``None`` if no difference can be shown."""


class Saturation(Record):
    """How much of a benchmark's range the best system has used up."""

    system: str
    """Slug of the best system."""
    best: Share
    """Its composite score."""
    floor: Share | None
    """Composite score of the no-memory baseline; ``None`` if it did not run."""
    ceiling: Share
    """Composite score of the oracle baseline; 1 if it did not run or cannot run."""
    oracle: bool
    """Whether the ceiling is the score of the oracle baseline."""
    reached: float | None
    """Share of the gap between floor and ceiling that the best system has reached; it can exceed 1. ``None`` without a
    floor, or if the gap is below 5 points."""
    headroom: float
    """Ceiling minus best; negative if the best system exceeds the ceiling."""
    detectable: Share | None
    """Minimum detectable difference of two composite scores: the smallest true difference that the paired test finds in
    80 % of cases. ``None`` if no difference can be shown."""
    saturated: bool | None
    """Whether the headroom is below the minimum detectable difference: a better system could not be told apart from the
    best one. ``None`` if no difference can be shown."""


class ItemReport(Stored):
    """The item statistics of a track."""

    benchmark: str
    protocol: str
    tier: str
    reader: str
    judge: str
    track_id: str
    systems: tuple[str, ...]
    """Slugs of the ranked systems: the statistics are over them, best first."""
    controls: tuple[str, ...]
    """Slugs of the controls of every benchmark, which only count in ``best_control``."""
    clusters: int
    saturation: Saturation
    """What is left of the range."""
    categories: tuple[CategoryItems, ...]
    """By category, in plan order."""
    items: tuple[ItemLine, ...]
    """By category, then by item."""
