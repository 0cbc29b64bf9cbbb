"""The set of runs that ``make results`` makes, as data."""

from __future__ import annotations

from pydantic import Field

from memeval.records.base import Record


class ResultGroup(Record):
    """Runs on one benchmark: each system under each protocol, tier and reader."""

    benchmark: str
    """Benchmark and version."""
    protocols: tuple[str, ...] = Field(min_length=1)
    """Its protocols."""
    tiers: tuple[str, ...] = Field(default=("full",), min_length=1)
    """Its tiers."""
    readers: tuple[str, ...] = ()
    """The readers; empty for all readers of each control, and the default reader of each submission. Ignored under a
    protocol that has one fixed reader."""
    systems: tuple[str, ...] = Field(min_length=1)
    """Names of systems, as in ``memeval run SYSTEM``; ``controls`` for all controls; ``submissions`` for all
    submissions that need no key."""
    without: tuple[str, ...] = ()
    """Slugs of systems to leave out."""


class ResultSet(Record):
    """A file of groups of runs, and of matrices."""

    schema_version: int = 1
    """Version of the format of the file."""
    groups: tuple[ResultGroup, ...] = Field(min_length=1)
    """The groups, in the order in which they run."""
    matrices: tuple[str, ...] = ()
    """Matrix files, relative to the file; they run after the groups and reuse their runs."""
