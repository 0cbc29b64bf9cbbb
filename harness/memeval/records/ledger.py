"""The ledger: one line for each thing that happened to a published run; nothing is ever taken out."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from memeval.records.base import Digest, Stored


class Deed(StrEnum):
    """What happened to a run."""

    ACCEPTED = "accepted"
    """A maintainer took it onto the board."""
    REPRODUCED = "reproduced"
    """Its stored answers were graded again and gave the same grades."""
    REPEATED = "repeated"
    """Another, independent run of the same system on the same track stands beside it."""
    SUPERSEDED = "superseded"
    """A later run takes its place."""
    INVALIDATED = "invalidated"
    """It no longer counts."""
    REVIEWED = "reviewed"
    """A maintainer looked into a result that cannot be right at first sight, and lets it stand."""
    REPLIED = "replied"
    """The system's vendor says something about it; the reason is what they say."""


class Runner(StrEnum):
    """Who made the answers."""

    SUBMITTER = "submitter"
    MAINTAINER = "maintainer"


class LedgerEntry(Stored):
    """One line of the ledger."""

    deed: Deed
    """What happened."""
    run_id: str
    """To which run."""
    run_digest: Digest
    """Digest of its ``run.json`` when it happened: a run edited afterwards no longer matches."""
    at: str
    """UTC time, ISO 8601."""
    by: str
    """Who says so."""
    reason: str = Field(min_length=1)
    """Why, or how."""
    runner: Runner | None = None
    """For ``accepted``: who made the answers."""
    other_run_id: str | None = None
    """For ``repeated`` and ``superseded``: the other run."""
    previous: Digest | None
    """Digest of the line before; ``None`` on the first. A line taken out or changed breaks the chain."""


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
