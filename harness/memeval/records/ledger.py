"""The ledger: one line per decision about a run. Lines are never changed or removed."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from memeval.records.base import Digest, Stored


class LedgerEvent(StrEnum):
    """A decision about a run, or a check of it."""

    ACCEPTED = "accepted"
    """A maintainer accepted it, and says who made its answers."""
    REPRODUCED = "reproduced"
    """Its stored answers were graded again, with equal grades."""
    REPEATED = "repeated"
    """An independent run of the same system on the same track exists."""
    SUPERSEDED = "superseded"
    """A later run replaces it."""
    INVALIDATED = "invalidated"
    """It does not count: it is shown as invalidated, and has no rank."""
    REVIEWED = "reviewed"
    """A maintainer checked a suspicious result, and it counts."""
    REPLIED = "replied"
    """The vendor of the system commented on it; the reason holds the comment."""


class Runner(StrEnum):
    """Who made the answers."""

    SUBMITTER = "submitter"
    MAINTAINER = "maintainer"


class LedgerEntry(Stored):
    """One line of the ledger."""

    deed: LedgerEvent
    """What happened."""
    run_id: str
    """The run."""
    run_digest: Digest
    """Digest of its ``run.json`` at that time: a run edited afterwards no longer matches."""
    at: str
    """UTC time, ISO 8601."""
    by: str
    """Author of the entry."""
    reason: str = Field(min_length=1)
    """The reason, or the method."""
    runner: Runner | None = None
    """For ``accepted``: who made the answers."""
    other_run_id: str | None = None
    """For ``repeated`` and ``superseded``: the other run."""
    previous: Digest | None
    """Digest of the line before; ``None`` on the first. A changed or removed line breaks the chain."""


class GradeTrust(StrEnum):
    """How far a run's grades can be trusted."""

    CLAIMED = "claimed"
    RECOMPUTED = "recomputed"


class AnswerTrust(StrEnum):
    """How far a run's answers can be trusted."""

    CONTROL = "control"
    """A control: shipped with memeval, made by anyone who runs it."""
    IMPORTED = "imported"
    """Made elsewhere."""
    SELF_RUN = "self-run"
    """Made by the submitter."""
    MAINTAINER_RUN = "maintainer-run"
    """Made by a maintainer."""
    REPEATED = "repeated"
    """Made twice, independently."""
