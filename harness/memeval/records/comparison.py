"""The comparison of two runs, item by item, with intervals and p-values."""

from enum import StrEnum

from memeval.records.base import Record
from memeval.records.benchmark import Direction
from memeval.records.scores import Composite


class Sign(StrEnum):
    """Whether a run is significantly better or worse than the run it is compared with."""

    BETTER = "▲"
    WORSE = "▼"
    EVEN = "="


class Difference(Record):
    """The difference of two runs in one value, over the items that both have."""

    name: str
    """The compared value: ``composite``, a category or a metric."""
    direction: Direction = Direction.HIGHER
    items: int
    """Number of items that both runs have."""
    clusters: int
    first: float
    """The first run's value."""
    second: float
    """The second run's value."""
    difference: float
    """Second minus first."""
    low: float | None
    """Lower end of the 95 % interval; ``None`` if there is only one cluster."""
    high: float | None
    p: float
    """Two-sided p-value of no difference, from a test that respects clusters."""
    corrected: float
    """The same, corrected together with the other differences: composites and categories, or metrics."""
    mcnemar: float | None = None
    """The exact p-value of McNemar's test, which assumes independent items; ``None`` if there are no verdicts."""
    sign: Sign
    """Whether the second run is better or worse, by the corrected p-value at 5 %."""


class Flip(Record):
    """An item with different scores in the two runs."""

    item_id: str
    category: str
    first: float | None
    """Score of the first run, in [0, 1]; ``None`` for an error."""
    second: float | None
    """Score of the second run, in [0, 1]; ``None`` for an error."""


class ComparedRun(Record):
    """One of the runs."""

    run_id: str
    system: str
    track_id: str
    judge: str
    composite: Composite


class PairedRuns(Record):
    """A run compared with the first one."""

    run_id: str
    items: int
    """Items that both runs have."""
    alone: int
    """Items that only one of the runs has; they are skipped."""
    overall: Difference | None
    """The difference of the composites; ``None`` with a reason if absent."""
    reason: str | None = None
    """Why there is no difference of the composites."""
    categories: tuple[Difference, ...]
    metrics: tuple[Difference, ...]
    """By metric, over all items that have it."""
    better: tuple[Flip, ...]
    """Items with a higher score than in the first run, the largest difference first."""
    worse: tuple[Flip, ...]
    """Items with a lower score, the largest difference first."""


class Comparison(Record):
    """Runs compared with the first of them."""

    benchmark: str
    protocol: str
    """The first run's protocol."""
    same_answers: bool
    """Whether the runs have the same responses on different tracks; the difference then comes from the judge."""
    differing: tuple[str, ...] = ()
    """The parts in which their tracks differ."""
    runs: tuple[ComparedRun, ...]
    """The runs; the others are compared with the first."""
    pairs: tuple[PairedRuns, ...]
    """One for each run after the first."""
