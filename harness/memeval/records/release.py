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
    """Its headline score."""
    best_rank: int | None
    """Best rank that the data allow; ``None`` where the row is not ranked."""
    worst_rank: int | None
    """Worst rank that the data allow; ``None`` where the row is not ranked."""
    grades: GradeTrust
    """How far its grades can be trusted."""
    answers: AnswerTrust
    """How far its answers can be trusted."""


class Release(Stored):
    """A frozen leaderboard: which runs, which ranks, which digests."""

    version: str = Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z._-]*$")
    """Its version, such as ``2026.11``; never used twice."""
    date: str
    """UTC date it was frozen, ISO 8601."""
    memeval: str
    """Version of memeval that froze it."""
    rows: tuple[ReleaseRow, ...]
    """The rows, by benchmark, track and place."""
    ledger_digest: Digest | None
    """Digest of the ledger's bytes; ``None`` where it was empty."""
    state: Digest
    """Digest of the board as built: equal states need no new release."""
