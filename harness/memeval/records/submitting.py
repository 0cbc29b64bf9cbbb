"""The report of ``memeval submit check``, the source of a pull request's comment."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from memeval.records.base import Digest, Record, Slug, Stored
from memeval.records.conformance import ConformanceCheck


class StepName(StrEnum):
    """A step of the check, in order."""

    READ = "read"
    """The manifest and the other files."""
    SECRETS = "secrets"
    """Search for secrets, such as keys."""
    INSTALL = "install"
    """Building the environment from its lock file, and starting the system."""
    CONFORMANCE = "conformance"
    """The conformance checks."""
    SMOKE = "smoke"
    """A few items of a benchmark, end to end."""


class StepOutcome(StrEnum):
    """The result of a step."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    """It was skipped; the detail gives the reason."""


class Problem(Record):
    """One problem that the author must fix."""

    where: str | None = None
    """The file, or ``file:line``; ``None`` if the problem is not in a file."""
    sentence: str
    """The problem."""
    remedy: str | None = None
    """The fix."""

    def __str__(self) -> str:
        head = f"{self.where}: {self.sentence}" if self.where else self.sentence
        return f"{head} {self.remedy}" if self.remedy else head


class Step(Record):
    """One step of the check."""

    name: StepName
    outcome: StepOutcome
    detail: str
    """What happened, in a sentence; it may quote untrusted text."""
    seconds: float = Field(ge=0)
    problems: tuple[Problem, ...] = ()
    """Problems to fix; empty if it passed."""


class SubmissionCheck(Stored):
    """All steps of one check of one submission."""

    folder: str
    """The checked folder, as the caller named it."""
    slug: Slug | None
    """Slug of the submission; ``None`` if its manifest has none."""
    submission_digest: Digest | None
    """Digest of its files; ``None`` if they are not a valid submission."""
    environment_digest: Digest | None
    """Digest of its environment; ``None`` if it did not run."""
    memeval: str
    """Version of memeval."""
    sandbox: str | None
    """The sandbox, such as ``bubblewrap 0.8.0``; ``None`` without one, or if the system did not run."""
    at: str
    steps: tuple[Step, ...]
    conformance: tuple[ConformanceCheck, ...] = ()
    """The conformance checks, in order."""

    @property
    def holds(self) -> bool:
        return not any(step.outcome is StepOutcome.FAILED for step in self.steps)
