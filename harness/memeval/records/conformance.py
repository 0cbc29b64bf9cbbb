"""Reports about a submission: the conformance checks of its system, and ``memeval submit check``."""

from enum import StrEnum

from pydantic import Field

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


class StepName(StrEnum):
    """A step of the check, in order."""

    READ = "read"
    """The manifest and the other files."""
    SECRETS = "secrets"
    """Search for secrets, such as keys."""
    INSTALL = "install"
    """Building the environment from its lock file, and starting the system."""
    CONFORMANCE = "conformance"
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
