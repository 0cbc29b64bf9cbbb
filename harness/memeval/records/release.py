"""A release: a frozen, versioned leaderboard."""

from __future__ import annotations

from pydantic import Field

from memeval.records.base import Digest, Record, Share, Slug, Stored
from memeval.records.ledger import AnswerTrust, GradeTrust


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
    """A frozen leaderboard: runs, ranks and digests."""

    version: str = Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z._-]*$")
    """Its version, such as ``2026.11``; unique."""
    date: str
    """UTC date of the release, ISO 8601."""
    memeval: str
    """The version of memeval that made it."""
    rows: tuple[ReleaseRow, ...]
    """The rows, ordered by benchmark, track and position."""
    ledger_digest: Digest | None
    """Digest of the ledger's bytes; ``None`` if it was empty."""
    state: Digest
    """Digest of the board. An unchanged board needs no new release."""
