"""``memeval.toml``: the settings of a board, of its archive, its published site and its regression check."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from memeval.records.base import Record

Percent = Annotated[float, Field(ge=0, le=100)]
"""A percentage in [0, 100]."""


class StoreSettings(Record):
    """A folder or a bucket."""

    to: str | None = None
    """The folder, or ``s3://BUCKET/PREFIX``; ``None`` for none."""
    endpoint: str | None = None
    """Address of an S3-compatible service; ``None`` for that of the environment, or AWS."""
    region: str | None = None
    """Region of the bucket; ``None`` for that of the environment."""


class ArchiveSettings(StoreSettings):
    """The archive of runs."""

    after_run: bool = False
    """Whether ``memeval run`` pushes each finished run."""


class PublishSettings(StoreSettings):
    """Where the board is published: also ``git:BRANCH``."""


class CostMetric(StrEnum):
    """The costs that ``memeval check`` compares."""

    CONTEXT_TOKENS = "context_tokens"
    """Tokens of context per question."""
    MODEL_TOKENS = "model_tokens"
    """Tokens of model calls per question, without the judge's."""
    DOLLARS = "dollars"
    """Dollars of model calls per question, without the judge's."""
    LATENCY = "latency_p95"
    """95th percentile of the answer latency, in seconds."""


class CheckThresholds(Record):
    """The thresholds of ``memeval check``."""

    baseline_runs: int = Field(default=5, ge=1, le=100)
    """Number of accepted runs whose mean is the baseline."""
    relative_percent: Percent = 5.0
    """Largest tolerated relative loss of any metric, in percent. A loss of more than twice as much is critical."""
    overall_points: Percent = 2.0
    """Largest tolerated loss of the composite, in points of 100."""
    category_points: Percent = 3.0
    """Largest tolerated loss of a category, in points of 100."""
    retrieval_points: Percent = 3.0
    """Largest tolerated loss of a retrieval metric, in points of 100."""
    significance_percent: float = Field(default=5.0, gt=0, le=50)
    """A loss is a regression if its corrected one-sided p-value is below this, in percent."""
    warn_only: tuple[CostMetric, ...] = ()
    """Costs that never fail the check."""


class CheckSettings(CheckThresholds):
    """The regression check, ``memeval check``."""

    require_baseline: bool = False
    """Whether a check without a baseline fails."""
    on_regression: str | tuple[str, ...] | None = None
    """A webhook URL, or a command as a list of arguments; it receives the result as JSON. ``None`` for nothing."""


class Settings(Record):
    """The content of ``memeval.toml``."""

    schema_version: int = 1
    """Version of the format of the file."""
    archive: ArchiveSettings = ArchiveSettings()
    """The archive of runs."""
    publish: PublishSettings = PublishSettings()
    """Where the board is published."""
    check: CheckSettings = CheckSettings()
    """Limits and hook of ``memeval check``."""
