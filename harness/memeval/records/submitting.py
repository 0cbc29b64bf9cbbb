"""What ``memeval submit check`` found; a pull request's comment is made of it."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from memeval.records.base import Digest, Record, Slug, Stored
from memeval.records.conformance import ConformanceCheck


class StepName(StrEnum):
    """A step of the check, in its order."""

    READ = "read"
    """The manifest and the files beside it."""
    SECRETS = "secrets"
    """Whether something looks like a key."""
    INSTALL = "install"
    """The environment from its lock, and the first words of the system."""
    CONFORMANCE = "conformance"
    """The suite of checks for keeping to the contract."""
    SMOKE = "smoke"
    """A few items of a benchmark, from end to end."""


class StepOutcome(StrEnum):
    """How a step ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    """It was not made; the detail says why."""


class Problem(Record):
    """One thing that an author has to mend."""

    where: str | None = None
    """The file, or ``file:line``; ``None`` where no file is at fault."""
    sentence: str
    """What is wrong."""
    remedy: str | None = None
    """What to do."""

    def __str__(self) -> str:
        head = f"{self.where}: {self.sentence}" if self.where else self.sentence
        return f"{head} {self.remedy}" if self.remedy else head


class Step(Record):
    """One step of the check."""

    name: StepName
    """Which one."""
    outcome: StepOutcome
    """How it ended."""
    detail: str
    """What was seen, in a sentence; text from outside may be quoted in it."""
    seconds: float = Field(ge=0)
    """How long it took."""
    problems: tuple[Problem, ...] = ()
    """What has to be mended; none where it passed."""


class SubmissionCheck(Stored):
    """All steps of one check of one submission."""

    folder: str
    """The folder that was checked, as it was named."""
    slug: Slug | None
    """The submission; ``None`` where its manifest does not say."""
    submission_digest: Digest | None
    """Digest of its files; ``None`` where they cannot be read as a submission."""
    environment_digest: Digest | None
    """Digest of what it ran with; ``None`` where it did not run."""
    memeval: str
    """Version of memeval that checked."""
    sandbox: str | None
    """What held the system, such as ``bubblewrap 0.8.0``; ``None`` where it did not run, or nothing held it."""
    at: str
    """UTC time, ISO 8601."""
    steps: tuple[Step, ...]
    """The steps, in their order."""
    conformance: tuple[ConformanceCheck, ...] = ()
    """The checks of the suite, in their order."""

    @property
    def holds(self) -> bool:
        """Whether no step failed."""
        return not any(step.outcome is StepOutcome.FAILED for step in self.steps)
