"""``results/conformance/<slug>/<digest>.json``: what a system did when it was checked for keeping to the contract."""

from __future__ import annotations

from enum import StrEnum

from memeval.records.base import Digest, Record, Slug, Stored
from memeval.records.run import Isolation, Network


class CheckOutcome(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    DECLARED = "declared"
    """It failed, and the submission says that it would."""
    NOT_APPLICABLE = "not applicable"
    """The system lacks what the check is about."""


class ConformanceCheck(Record):
    """One check."""

    name: str
    """Its name, such as ``reset-resets``."""
    title: str
    """What it finds out, in a sentence."""
    mandatory: bool
    """Whether a system that fails it is refused: its numbers would mean nothing."""
    outcome: CheckOutcome
    """How it ended."""
    detail: str
    """What was seen, in a sentence; text from outside may be quoted in it."""
    remedy: str | None = None
    """What its author can do; ``None`` where there is nothing to do."""
    seconds: float
    """How long it took."""


class Conformance(Stored):
    """All checks of one submission in one environment."""

    slug: Slug
    """The system."""
    version: str
    """Its version; text from outside."""
    submission_digest: Digest
    """Digest of its files."""
    environment_digest: Digest
    """Digest of what it ran with."""
    suite: str
    """Version of the suite of checks, such as ``conformance@1``."""
    isolation: Isolation
    """What the system could reach meanwhile."""
    network: Network
    """What of the network it could reach meanwhile."""
    at: str
    """UTC time, ISO 8601."""
    checks: tuple[ConformanceCheck, ...]
    """The checks, in their order."""

    @property
    def holds(self) -> bool:
        """Whether no mandatory check failed."""
        return not any(check.mandatory and check.outcome is CheckOutcome.FAILED for check in self.checks)
