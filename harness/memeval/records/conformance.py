"""``results/conformance/<slug>/<digest>.json``: the report of the conformance checks of a system."""

from __future__ import annotations

from enum import StrEnum

from memeval.records.base import Digest, Record, Slug, Stored
from memeval.records.run import Isolation, Network


class CheckOutcome(StrEnum):
    """The result of a check."""

    PASSED = "passed"
    FAILED = "failed"
    DECLARED = "declared"
    """It failed, as the submission declares."""
    NOT_APPLICABLE = "not applicable"
    """The system lacks the method that the check tests."""


class ConformanceCheck(Record):
    """One check."""

    name: str
    """Its name, such as ``reset-resets``."""
    title: str
    """What it tests, in a sentence."""
    mandatory: bool
    """Whether a failure blocks the system, since its scores would mean nothing."""
    outcome: CheckOutcome
    detail: str
    """What happened, in a sentence; it may quote untrusted text."""
    remedy: str | None = None
    """What its author can do; ``None`` if nothing needs to be done."""
    seconds: float


class Conformance(Stored):
    """All checks of one submission in one environment."""

    slug: Slug
    """The system."""
    version: str
    """Its version; text from outside."""
    submission_digest: Digest
    environment_digest: Digest
    suite: str
    """Version of the suite of checks, such as ``conformance@2``."""
    isolation: Isolation
    """What the system could reach during the checks."""
    network: Network
    """The network access of the system during the checks."""
    at: str
    checks: tuple[ConformanceCheck, ...]
    """The checks, in their order."""

    @property
    def holds(self) -> bool:
        """Whether no mandatory check failed."""
        return not any(check.mandatory and check.outcome is CheckOutcome.FAILED for check in self.checks)
