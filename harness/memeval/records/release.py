"""A release: a frozen, versioned leaderboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from memeval.records.base import Digest, Record, Share, Slug, Stored, Upgrade
from memeval.records.ledger import AnswerTrust, GradeTrust, SignatureText


class ReleaseRow(Record):
    """One row of a frozen leaderboard."""

    benchmark: str
    """Benchmark and version."""
    track_id: str
    """The track."""
    system: Slug
    """The system."""
    run_id: str
    """The run."""
    run_digest: Digest
    """Digest of its ``run.json``."""
    composite: Share | None
    """Its composite score."""
    best_rank: int | None
    """Best rank that the data allow; ``None`` if the row is not ranked."""
    worst_rank: int | None
    """Worst rank that the data allow; ``None`` if the row is not ranked."""
    grades: GradeTrust
    """How far its grades can be trusted."""
    answers: AnswerTrust
    """How far its answers can be trusted."""


class Release(Stored):
    """A frozen leaderboard: runs, ranks, and digests down to the last published file."""

    SCHEMA: ClassVar[int] = 3
    UPGRADES: ClassVar[Mapping[int, Upgrade]] = {1: dict, 2: dict}
    """Version 1 named only the runs that have a row, and no published file. Version 2 had no shared files."""

    schema_version: int = 3
    """Schema version of this record."""
    version: str = Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z._-]*$")
    """Its version, such as ``2026.11``; unique."""
    date: str
    """UTC date of the release, ISO 8601."""
    memeval: str
    """The version of memeval that made it."""
    rows: tuple[ReleaseRow, ...]
    """The rows, ordered by benchmark, track and position."""
    ranks_method: str | None = None
    """Name of the method that made the rows and their ranks; ``None`` in schema version 1."""
    weights: dict[str, dict[str, float]] = {}
    """Weights of the categories, by track."""
    price_lists: tuple[str, ...] = ()
    """The price lists behind the costs of the runs, sorted."""
    runs: dict[str, Digest] = {}
    """Digest of the ``run.json`` of every run on the board, also of those without a row."""
    ledger_digest: Digest | None
    """Digest of the ledger's bytes before the release; ``None`` if it was empty."""
    files: dict[str, Digest] | None = None
    """Digest of every published file, by its path inside the published folder. It leaves out the release itself, which
    is published as ``release.json``. ``None`` in schema version 1."""
    data_files: tuple[str, ...] | None = None
    """The files that its pages share with other releases, by their paths beside the published folder, sorted. The names
    are digests: ``data/sha256/ab/abcd….json``. ``None`` in older schema versions: all files are in the folder."""
    state: Digest
    """Digest of the canonical JSON of all other fields but ``signature``; in schema version 1, of the board."""
    signature: SignatureText | None = None
    """Signature of the canonical JSON of all other fields; ``None`` if the release is not signed."""
