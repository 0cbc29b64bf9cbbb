"""Suites of benchmarks, and the overall index of the systems that are complete on one."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from memeval.records.base import Record, Slug

SuiteId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*@[1-9][0-9]*$")]
"""Name and version of a suite: ``retrieval@3``."""


class Ceiling(StrEnum):
    """The score that counts as 100."""

    ORACLE = "oracle"
    """The score of the oracle baseline on the same track."""
    PERFECT = "perfect"
    """A score of 1, where no oracle can run."""


class SuiteBenchmark(Record):
    """One benchmark of a suite, with the track that counts."""

    benchmark: str
    protocol: str
    tier: str
    reader: str
    """Who answers: ``native``, or the name of a fixed reader."""
    judge: str
    """Who grades: the name of a judge, as in tracks."""
    ceiling: Ceiling
    """The score that counts as 100."""
    weight: float = Field(default=1.0, gt=0.0)
    """Its weight in the index, above 0."""


class BenchmarkSuite(Record):
    """A named choice of benchmarks. A suite never changes: a change is a new version."""

    id: SuiteId
    """Name and version."""
    title: str
    summary: str
    """What it measures, in a sentence or two."""
    benchmarks: tuple[SuiteBenchmark, ...] = Field(min_length=1)
    """Its benchmarks."""


class SuiteFile(Record):
    """A file of suites."""

    schema_version: int = 1
    suites: tuple[BenchmarkSuite, ...]
    """The suites."""


class SuiteTrack(Record):
    """A benchmark of a suite, and the stored track that counts for it."""

    chosen: SuiteBenchmark
    """What the suite names."""
    track_id: str | None
    """The track; ``None`` if no stored run is on such a track."""
    clusters: int = 0
    """Number of independent groups of items."""
    floor: float | None = None
    """Score of the no-memory baseline; ``None`` if it did not run."""
    ceiling: float | None = None
    """Score that counts as 100; ``None`` if the oracle did not run."""
    reason: str | None = None
    """Why it has no scale, as a sentence; ``None`` if it has one."""


class JudgeRank(Record):
    """The rank of a system if another judge grades one benchmark."""

    benchmark: str
    judge: str
    rank: int
    """The rank."""


class Stability(Record):
    """The ranks of a system under other choices than those of the suite."""

    best: int
    """Best rank over the drawn weightings."""
    worst: int
    """Worst rank over the drawn weightings."""
    middle: tuple[int, int]
    """Ranks between which it is in 90 % of the drawn weightings."""
    first: float
    """Share of the drawn weightings with rank 1; shared first ranks count."""
    without: tuple[int, ...]
    """Rank without each of the benchmarks; empty for a suite of one benchmark."""
    judges: tuple[JudgeRank, ...] = ()
    """Rank with other judges, where the runs of all systems are stored."""


class OverallRow(Record):
    """One system on a suite. Shares are of the gap between floor and ceiling; they can be below 0 or above 1."""

    system: Slug
    name: str
    is_control: bool
    """Whether it is a simple baseline of memeval, which has no rank."""
    versions: tuple[str, ...]
    """Versions of the system in its runs, sorted."""
    runs: tuple[str | None, ...]
    """Its run on each benchmark of the suite; ``None`` without one that counts."""
    scores: tuple[float | None, ...]
    """Its score on each benchmark."""
    shares: tuple[float | None, ...]
    """Its share of the gap on each benchmark."""
    complete: int
    """Number of benchmarks with a run that counts."""
    index: float | None = None
    """Weighted mean of the shares; ``None`` without one."""
    low: float | None = None
    high: float | None = None
    rank: int | None = None
    """Rank by the index among the systems that have one; equal ones share the better rank."""
    ranks: tuple[int, int] | None = None
    """Best and worst rank that the tests allow; a range is a tie. ``None`` without a rank."""
    behind: tuple[Slug, ...] = ()
    """Ranked systems that are significantly better. Their ranges of ranks can still overlap with this one's."""
    against_baseline: str | None = None
    """``better``, ``worse`` or ``not better`` than the best simple baseline; ``None`` without one."""
    stability: Stability | None = None
    """Its ranks under other choices."""
    reason: str | None = None
    """Why it has no index, as a sentence."""


class TiedPair(Record):
    """Two systems that are tied although their intervals do not overlap."""

    higher: Slug
    """The system with the higher value."""
    lower: Slug
    """The other one."""
    p: float
    """Two-sided p-value of their difference alone."""
    corrected: float
    """The same, corrected for all tests of the table."""
    reason: str
    """Why they are tied, as a sentence."""


class Overall(Record):
    """The overall index of all systems on a suite."""

    suite: BenchmarkSuite
    """The suite."""
    tracks: tuple[SuiteTrack, ...]
    """The track of each benchmark, in the order of the suite."""
    rows: tuple[OverallRow, ...]
    """Systems with an index, the highest first, then the others by name."""
    baseline: Slug | None = None
    """The simple baseline with the highest index; ``None`` if none has one."""
    floors: tuple[str | None, ...] = ()
    """Run of the no-memory baseline on each benchmark; ``None`` if it did not run."""
    ceilings: tuple[str | None, ...] = ()
    """Run of the oracle that counts as 100 on each benchmark; ``None`` where a perfect score counts, or without one."""
    tied_apart: tuple[TiedPair, ...] = ()
    """Pairs of systems that are tied although their intervals do not overlap, each with the reason."""
    interval_reason: str | None = None
    """Why there are no intervals, as a sentence; ``None`` if there are."""
    weightings: int
    """Number of drawn weightings."""
    seed: str
