"""A plan of runs, as data: systems on benchmarks. A matrix compares their scores."""

import re
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from memeval.records.base import Digest, Record, Slug, Stored, digest_of
from memeval.records.comparison import Difference
from memeval.records.scores import Composite


class MatrixBenchmark(Record):
    """A benchmark of a matrix, with one protocol, tier and data."""

    id: str
    """Its id: ``beliefs@2``."""
    protocol: str | None = None
    """The protocol; ``None`` for the default."""
    tier: str | None = None
    """The tier; ``None`` for the default."""
    parameters: dict[str, str | int] = {}
    """Parameters of a generated benchmark."""
    file: str | None = None
    """A local copy of its data; ``None`` for the data that memeval downloaded or generates."""

    @property
    def label(self) -> str:
        """Its name in tables and sentences."""
        more = [f"{name}={value}" for name, value in sorted(self.parameters.items())]
        return " ".join([self.id, *(part for part in (self.protocol, self.tier, self.file) if part), *more])


class MatrixSystem(Record):
    """A configuration of a matrix: a system, with its parameters."""

    id: Slug
    """Its name in the matrix."""
    system: str
    """The system, as in ``memeval run SYSTEM``."""
    parameters: dict[str, str | int | float | bool] = {}
    """Parameters that differ from the system's defaults."""
    purpose: str | None = None
    """Its purpose, in a sentence."""


class Gate(Record):
    """A promotion gate: the limits that a configuration must meet."""

    metric: str
    """The checked value: ``composite``, ``error_rate``, ``usd_per_item``, a category, a metric or a figure."""
    minimum: float | None = None
    """Minimum."""
    maximum: float | None = None
    """Maximum."""
    drop: float | None = None
    """How much worse than the first configuration it may be."""
    systems: tuple[str, ...] = ()
    """The configurations it applies to; empty for all."""
    benchmarks: tuple[str, ...] = ()
    """Ids of the benchmarks it applies to; empty for all."""


class MatrixPlan(Record):
    """The content of a matrix file."""

    name: Slug
    description: str | None = None
    benchmarks: tuple[MatrixBenchmark, ...]
    """The benchmarks."""
    systems: tuple[MatrixSystem, ...]
    """The configurations; the others are compared with the first."""
    readers: tuple[str, ...] = ()
    """The readers; empty for the default reader of each system."""
    judge: str | None = None
    """The judge; ``None`` for the rule set."""
    promotion_gates: tuple[Gate, ...] = ()
    """The promotion gates."""

    @property
    def digest(self) -> Digest:
        return digest_of(
            {name: value for name, value in self.identity().items() if name not in ("name", "description")}
        )

    @property
    def matrix_id(self) -> str:
        """Name of its folder: its name and eight digits of its digest."""
        return f"{self.name}-{self.digest[7:15]}"


class CategoryShare(Record):
    """The score of one category."""

    name: str
    share: float | None
    """The share of its points; ``None`` if it has no planned items."""


class CellState(StrEnum):
    """The state of a cell."""

    DONE = "done"
    NOT_APPLICABLE = "not applicable"
    """The system lacks a method that the benchmark needs."""
    FAILED = "failed"


class MatrixCell(Record):
    """One configuration on one benchmark with one reader."""

    benchmark: int
    """Index of the benchmark in the plan, from 0."""
    reader: str | None
    """The requested reader; ``None`` for the default."""
    system: Slug
    """The configuration."""
    state: CellState
    reason: str | None = None
    """Why there is no run."""
    run: str | None = None
    """The run's folder, relative to the results folder."""
    run_digest: Digest | None = None
    provider: str | None = None
    """The slug of the system; for a variant, of its submission."""
    version: str | None = None
    parameters: dict[str, str | int | float | bool] = {}
    protocol: str | None = None
    tier: str | None = None
    answered_by: str | None = None
    """The reader with its version; ``native`` for the system itself."""
    track_id: str | None = None
    """The run's track; cells of different tracks are not compared."""
    composite: Composite | None = None
    planned: int | None = None
    """Items planned."""
    done: int | None = None
    """Items with a grade."""
    errors: int | None = None
    """Items without a verdict."""
    categories: tuple[CategoryShare, ...] = ()
    """Scores by category, in the benchmark's order."""
    metrics: dict[str, float | None] = {}
    """Other metrics: the mean over all items that have one, in the unit that the benchmark reports."""
    figures: dict[str, float | None] = {}
    """Latencies in milliseconds, tokens, seconds, dollars, and the metrics of a suite, by name."""


class ComparedTo(StrEnum):
    """The run that is the reference of a comparison."""

    FIRST = "first"
    """The first configuration of the plan that has a run on the track."""
    BEST = "best"
    """The run with the highest composite."""


class Test(Record):
    """A cell compared with another cell of its track, item by item."""

    benchmark: int
    """Index of the benchmark in the plan, from 0."""
    reader: str | None
    """The requested reader."""
    against: ComparedTo
    """How the reference was chosen."""
    first: Slug
    """The configuration of the reference."""
    system: Slug
    """The configuration."""
    overall: Difference | None
    """The difference of the composites; its p-value is corrected together with those of the categories."""
    others: tuple[Difference, ...]
    """The differences by category and by metric; their p-values are corrected together."""


class GateResult(Record):
    """Whether a cell passes a gate."""

    gate: int
    """Index of the gate in the plan, from 0."""
    benchmark: int
    """Index of the benchmark in the plan, from 0."""
    reader: str | None
    """The requested reader."""
    system: Slug
    """The configuration."""
    value: float | None
    """The value; ``None`` if absent."""
    passed: bool
    """Whether the value meets the limits."""
    sentence: str
    """The limit and the value, as a sentence."""


class Matrix(Stored):
    """A matrix and its results: computed from the plan and the runs, and repeatable."""

    matrix_id: str
    """Its name and eight digits of the plan's digest."""
    plan: MatrixPlan
    """The plan."""
    cells: tuple[MatrixCell, ...]
    """The cells, ordered by benchmark, reader and configuration."""
    tests: tuple[Test, ...]
    """Comparisons of each run with the first and the best run of its track."""
    gates: tuple[GateResult, ...] = ()
    warnings: tuple[str, ...] = ()
    """Warnings about the table."""


class MatrixResult(Stored):
    """The results of one configuration of a matrix."""

    matrix_id: str
    configuration: MatrixSystem
    cells: tuple[MatrixCell, ...]
    tests: tuple[Test, ...]
    """Its comparisons."""
    gates: tuple[GateResult, ...] = ()


def slug_of(text: str) -> str:
    """Return a name for a text: lower-case letters, digits and single hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _configuration(value: Any) -> Any:
    """Return the configuration of a system that is only named."""
    return {"id": slug_of(value), "system": value} if isinstance(value, str) else value


class PlanGroup(Record):
    """Runs on one benchmark: each system under each protocol, tier and reader."""

    benchmark: str
    protocols: tuple[str, ...] = ()
    """Its protocols; empty for the default one."""
    tiers: tuple[str, ...] = ()
    """Its tiers; empty for the default one."""
    parameters: dict[str, str | int] = {}
    """Parameters of a generated benchmark."""
    file: str | None = None
    """Your own file of its data."""
    readers: tuple[str, ...] = ()
    """The readers; empty for those of the plan. Ignored under a protocol that has one fixed reader."""
    systems: tuple[str, ...] = ()
    """Names of systems, as in ``memeval run SYSTEM``; ``controls`` for all controls; ``submissions`` for all
    submissions that need no key; empty for the systems of the plan."""
    without: tuple[str, ...] = ()
    """Slugs of systems to leave out."""


class PlanFile(Record):
    """A file of runs: the systems of a matrix on its benchmarks, or groups that name systems of their own."""

    schema_version: int = 1
    name: str | None = None
    """Name of the matrix; ``None`` for that of the file."""
    description: str | None = None
    systems: tuple[Annotated[MatrixSystem, BeforeValidator(_configuration)], ...] = ()
    """The systems of a matrix: names as in ``memeval run SYSTEM``, or configurations. The first is the reference."""
    groups: tuple[PlanGroup, ...] = Field(min_length=1)
    """The groups, in the order in which they run."""
    readers: tuple[str, ...] = ()
    """The readers; empty for all readers of each control, and the default reader of each other system."""
    judge: str | None = None
    """The judge; ``None`` for the rule set."""
    promotion_gates: tuple[Gate, ...] = ()
    """What the systems of a matrix must reach."""
    matrices: tuple[str, ...] = ()
    """Files of further plans, relative to this file: they run after the groups, each as a matrix."""
