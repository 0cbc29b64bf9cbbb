"""``memeval.toml``: the settings of a board, of its archive, its published site and its regression check."""

from __future__ import annotations

from memeval.records.base import Record


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


class Settings(Record):
    """The content of ``memeval.toml``."""

    schema_version: int = 1
    archive: ArchiveSettings = ArchiveSettings()
    publish: PublishSettings = PublishSettings()
