"""A matrix: several systems on several benchmarks, and the comparison of their scores."""

from __future__ import annotations

from enum import StrEnum

from memeval.records.base import Digest, Record, Slug, Stored, digest_of
from memeval.records.comparison import Difference
from memeval.records.scores import Composite


class MatrixBenchmark(Record):
    """A benchmark of a matrix, asked in one way."""

    id: str
    """Its id: ``beliefs@1``."""
    protocol: str | None = None
    """The way of asking and grading; ``None`` for its default."""
    tier: str | None = None
    """The choice of the data; ``None`` for its default."""
    parameters: dict[str, str | int] = {}
    """Parameters of a generated benchmark."""
    file: str | None = None
    """A local copy of its data; ``None`` for the one that memeval keeps."""

    @property
    def label(self) -> str:
        """What it is called in tables and sentences."""
        more = [f"{name}={value}" for name, value in sorted(self.parameters.items())]
        return " ".join([self.id, *(part for part in (self.protocol, self.tier, self.file) if part), *more])


class MatrixSystem(Record):
    """A configuration of a matrix: a system, perhaps under other parameters."""

    id: Slug
    """What it is called in the matrix."""
    system: str
    """The system, as ``memeval run`` takes it."""
    parameters: dict[str, str | int | float | bool] = {}
    """Parameters that are other than the system's own."""
    purpose: str | None = None
    """What it is there to show, in a sentence."""


class Gate(Record):
    """What a configuration has to reach to pass."""

    metric: str
    """What is looked at: ``composite``, ``error_rate``, ``usd_per_item``, a category, a metric or a figure."""
    minimum: float | None = None
    """The least it may be."""
    maximum: float | None = None
    """The most it may be."""
    drop: float | None = None
    """By how much it may be worse than the first configuration's."""
    systems: tuple[str, ...] = ()
    """The configurations it is for; all where none is named."""
    benchmarks: tuple[str, ...] = ()
    """The ids of the benchmarks it is for; all where none is named."""


class MatrixPlan(Record):
    """What a matrix file asks for."""

    name: Slug
    """What the matrix is called."""
    description: str | None = None
    """What it is there to show."""
    benchmarks: tuple[MatrixBenchmark, ...]
    """The benchmarks."""
    systems: tuple[MatrixSystem, ...]
    """The configurations; the others are held against the first."""
    readers: tuple[str, ...] = ()
    """The readers; where none is named, each system's usual one."""
    judge: str | None = None
    """The judge; ``None`` for the rule set."""
    promotion_gates: tuple[Gate, ...] = ()
    """What has to hold."""

    @property
    def digest(self) -> Digest:
        """Digest of what is asked for, whatever it is called."""
        return digest_of(
            {name: value for name, value in self.identity().items() if name not in ("name", "description")}
        )

    @property
    def matrix_id(self) -> str:
        """The folder it is stored in: its name and eight digits of its digest."""
        return f"{self.name}-{self.digest[7:15]}"


class CategoryShare(Record):
    """What was earned in one category."""

    name: str
    """The category."""
    share: float | None
    """The share of its points; ``None`` where nothing was planned."""


class CellState(StrEnum):
    """The state of a cell."""

    DONE = "done"
    NOT_APPLICABLE = "not applicable"
    """The system lacks a method without which it cannot be asked."""
    FAILED = "failed"


class MatrixCell(Record):
    """One configuration on one benchmark under one reader."""

    benchmark: int
    """The benchmark, by its place in the plan from 0."""
    reader: str | None
    """The reader asked for; ``None`` for the usual one."""
    system: Slug
    """The configuration."""
    state: CellState
    """The state."""
    reason: str | None = None
    """Why there is no run."""
    run: str | None = None
    """The run's folder below the results folder."""
    run_digest: Digest | None = None
    """Digest of its ``run.json``."""
    provider: str | None = None
    """The system that ran, by its name in paths; for a variant, the submission's."""
    version: str | None = None
    """Its version; text from outside."""
    parameters: dict[str, str | int | float | bool] = {}
    """All its parameters."""
    protocol: str | None = None
    """The way of asking and grading."""
    tier: str | None = None
    """The choice of the data."""
    answered_by: str | None = None
    """The reader that answered, with its version; ``native`` for the system."""
    track_id: str | None = None
    """The run's track: cells of other tracks are not compared with it."""
    composite: Composite | None = None
    """The headline."""
    planned: int | None = None
    """Items planned."""
    done: int | None = None
    """Items with a grade."""
    errors: int | None = None
    """Items without a verdict."""
    categories: tuple[CategoryShare, ...] = ()
    """Shares by category, in the benchmark's order."""
    metrics: dict[str, float | None] = {}
    """Means of what was measured beside the headline, over all items that have it, as the benchmark tells them."""
    figures: dict[str, float | None] = {}
    """Latencies in milliseconds, tokens, seconds, dollars, and a suite's own figures, by name."""


class ComparedTo(StrEnum):
    """The run that another is compared with."""

    FIRST = "first"
    """The first configuration of the plan that has a run on the track."""
    BEST = "best"
    """The one with the highest composite."""


class Test(Record):
    """A cell compared with another one of its track, item by item."""

    benchmark: int
    """The benchmark, by its place in the plan from 0."""
    reader: str | None
    """The reader asked for."""
    against: ComparedTo
    """Which one it is compared with."""
    first: Slug
    """The configuration that it is compared with."""
    system: Slug
    """The configuration."""
    overall: Difference | None
    """The difference of the composites, corrected for the number of configurations."""
    others: tuple[Difference, ...]
    """Those by category and by metric, corrected for their number."""


class GateResult(Record):
    """Whether a cell passes a gate."""

    gate: int
    """The gate, by its place in the plan from 0."""
    benchmark: int
    """The benchmark, by its place in the plan from 0."""
    reader: str | None
    """The reader asked for."""
    system: Slug
    """The configuration."""
    value: float | None
    """What it reaches; ``None`` where there is no such value."""
    passed: bool
    """Whether that is enough."""
    sentence: str
    """The limit and the value."""


class Matrix(Stored):
    """A matrix and its results: a function of the plan and of the runs, so that anyone can compute it again."""

    matrix_id: str
    """Its name and eight digits of the plan's digest."""
    plan: MatrixPlan
    """What was asked for."""
    cells: tuple[MatrixCell, ...]
    """Benchmark by benchmark, reader by reader, configuration by configuration."""
    tests: tuple[Test, ...]
    """Each run against the first and the best of its track."""
    gates: tuple[GateResult, ...] = ()
    """What of the promotion gates holds."""
    warnings: tuple[str, ...] = ()
    """What a reader of the table should know."""


class MatrixResult(Stored):
    """The results of one configuration of a matrix."""

    matrix_id: str
    """The matrix."""
    configuration: MatrixSystem
    """The configuration."""
    cells: tuple[MatrixCell, ...]
    """Its cells."""
    tests: tuple[Test, ...]
    """How it differs from others."""
    gates: tuple[GateResult, ...] = ()
    """What it was to reach."""
