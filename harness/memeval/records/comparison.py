"""How two runs differ, item by item, and how sure that is."""

from __future__ import annotations

from enum import StrEnum

from memeval.records.base import Record
from memeval.records.benchmark import Direction
from memeval.records.scores import Composite


class Sign(StrEnum):
    """Whether a run is better or worse than the one it is compared with; never said of what chance may have done."""

    BETTER = "▲"
    WORSE = "▼"
    EVEN = "="


class Difference(Record):
    """The difference of two runs in one number, over the items that both have."""

    name: str
    """What is compared: ``composite``, a category or a metric."""
    direction: Direction = Direction.HIGHER
    """Which way it is better."""
    items: int
    """How many items both have."""
    clusters: int
    """How many clusters the items lie in: as many things as can differ on their own."""
    first: float
    """The first run's value."""
    second: float
    """The second run's value."""
    difference: float
    """Second minus first."""
    low: float | None
    """Lower end of the 95 % interval; ``None`` where a single cluster says nothing about others."""
    high: float | None
    """Upper end."""
    p: float
    """Two-sided p-value of no difference, with items of a cluster taken together."""
    corrected: float
    """The same, corrected by Holm's method for the number of differences that are told side by side."""
    mcnemar: float | None = None
    """The exact p-value of McNemar's test, which takes items as independent; ``None`` where there are no verdicts."""
    sign: Sign
    """Whether the second run is better or worse: by the corrected p-value, at 5 %."""


class Flip(Record):
    """An item that the two runs did not do alike."""

    item_id: str
    """The item."""
    category: str
    """Its category."""
    first: float | None
    """What the first run earned on it, in [0, 1]; ``None`` for an error."""
    second: float | None
    """What the second run earned on it."""


class ComparedRun(Record):
    """One of the runs."""

    run_id: str
    """The run."""
    system: str
    """The system's name in paths."""
    track_id: str
    """Its track."""
    judge: str
    """Who judged it."""
    composite: Composite
    """Its own headline, over all its items."""


class PairedRuns(Record):
    """A run held against the first one."""

    run_id: str
    """The run."""
    items: int
    """Items that both runs have."""
    alone: int
    """Items that one of them has and the other has not; they are left out."""
    overall: Difference | None
    """The difference of the composites; ``None`` with a reason where there is none."""
    reason: str | None = None
    """Why there is none."""
    categories: tuple[Difference, ...]
    """By category."""
    metrics: tuple[Difference, ...]
    """By metric, over all items that have it."""
    better: tuple[Flip, ...]
    """Items that earned more than in the first run, by how much."""
    worse: tuple[Flip, ...]
    """Items that earned less, by how much."""


class Comparison(Record):
    """Runs held against the first of them."""

    benchmark: str
    """The benchmark."""
    protocol: str
    """The first run's protocol."""
    same_answers: bool
    """Whether the runs are of different tracks over the very same responses: the difference is then the judge's."""
    differing: tuple[str, ...] = ()
    """In what parts their tracks differ."""
    runs: tuple[ComparedRun, ...]
    """The runs, the first being what the others are held against."""
    pairs: tuple[PairedRuns, ...]
    """One for each run after the first."""
