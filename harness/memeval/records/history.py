"""Released versions of a product: which one a run measured, and what happened to each version that was chosen."""

from enum import StrEnum
from typing import Annotated

from pydantic import StringConstraints

from memeval.records.base import Digest, Record, Slug, Stored
from memeval.records.dates import Day

VersionName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.!+_-]*$", max_length=80)]
"""A version as its package index writes it. It is safe as the name of a folder."""

PackageName = Annotated[str, StringConstraints(pattern=r"^(@[a-z0-9._~-]+/)?[A-Za-z0-9._~-]+$", max_length=214)]
"""The name of a package in its index."""


class PackageIndex(StrEnum):
    """Where the released versions of a package are listed."""

    PYPI = "pypi"
    """The Python package index, or another one with the same interface."""
    NPM = "npm"
    """The registry of npm."""


class ProductVersion(Record):
    """The released version of the product that a run measured, in an environment of the day of its release."""

    package: PackageName
    """Its package, whose versions are counted."""
    version: VersionName
    index: PackageIndex
    """The index that lists its versions."""
    released: Day | None
    """Date of its release, UTC; ``None`` if the index gives no dates that rise with the versions."""
    form: str
    """The file of the adapter that ran, inside the folder of the submission."""
    lock: Digest
    """Digest of the lock file, which is stored with the files of the system."""
    substituted: tuple[str, ...] = ()
    """Packages that were taken from a later day than the release, each in a sentence with the reason."""


class VersionOutcome(StrEnum):
    """What happened to a chosen version."""

    RAN = "ran"
    """At least one benchmark has a run."""
    NOT_RESOLVED = "not resolved"
    """No set of packages fits it, not even of later days."""
    NOT_INSTALLED = "not installed"
    """A package of its lock cannot be installed here."""
    NOT_LOADED = "not loaded"
    """The adapter does not load with it."""
    FAILED_CONFORMANCE = "failed conformance"
    """The adapter loads, but a conformance check fails with it."""
    FAILED_RUN = "failed run"
    """Every benchmark failed."""
    UNFINISHED = "unfinished"
    """The command was interrupted here; the same command resumes."""


class VersionRun(Record):
    """A chosen version on a benchmark."""

    benchmark: str
    protocol: str
    tier: str
    run_id: str | None = None
    """Id of the run; ``None`` if there is none."""
    reason: str | None = None
    """Why there is no run, in a sentence; ``None`` for a finished run."""


class MeasuredVersion(Record):
    """A chosen version and what happened to it."""

    version: VersionName
    released: Day | None
    """Date of its release, UTC; ``None`` if unknown."""
    outcome: VersionOutcome
    """What happened to it."""
    reason: str | None = None
    """Why there is no run, in a sentence; ``None`` if it ran."""
    yanked: str | None = None
    """Why its author withdrew it, blank without a reason; ``None`` if it was not withdrawn."""
    form: str | None = None
    """The file of the adapter for this version; ``None`` if it was not reached."""
    lock: Digest | None = None
    """Digest of its lock file; ``None`` without one."""
    substituted: tuple[str, ...] = ()
    """Packages of a later day than the release, each in a sentence with the reason."""
    runs: tuple[VersionRun, ...] = ()
    """Its benchmarks, in the order of the command."""
    megabytes: float | None = None
    """Size of its environment; ``None`` if none was built."""
    seconds: float | None = None
    """Time to resolve, install and check it, without the runs; ``None`` if unknown."""


class AdapterForm(Record):
    """A form of the adapter for old versions, which lack an argument or a method that the present adapter uses."""

    versions: str
    """The versions that it is for, as a version specifier: ``<1``."""
    file: str
    """The file, in the folder ``history`` of the submission."""
    replaces: str | None = None
    """The file of the submission that it replaces; ``None`` for the file with the adapter class."""
    both: VersionName | None = None
    """A version with which this form and the present adapter must give equal rows; ``None`` if none has both."""


class HistoryDeclaration(Record):
    """``history/history.toml`` of a submission: how its old versions are installed and run.

    The folder ``history`` is no part of what the submission runs today, so no digest of it covers the folder.
    """

    schema_version: int = 1
    package: PackageName | None = None
    """The package whose versions are counted; ``None`` for the package of the product."""
    together: tuple[str, ...] = ()
    """Other packages of the product: each version takes the newest of its day."""
    brings: tuple[str, ...] = ()
    """Packages that the adapter brings: pinned for every version as in today's lock."""
    forms: tuple[AdapterForm, ...] = ()
    """Forms of the adapter for old versions, the first that fits a version counts."""


class CheckedForm(Record):
    """A form beside the present adapter on a version that both accept."""

    file: str
    """The file of the form."""
    version: VersionName
    benchmark: str
    protocol: str
    tier: str
    equal: bool
    """Whether both gave equal rows."""


class VersionHistory(Stored):
    """``results/history/SLUG.json``: the chosen versions of a product, oldest first, gaps included.

    The runs of a version are in ``results/history/SLUG/VERSION/``, a results folder of its own.
    """

    slug: Slug
    """The submission whose adapter ran."""
    product: str
    """Name of the product."""
    package: PackageName
    """Its package, whose versions are counted."""
    index: PackageIndex
    """The index that lists its versions."""
    dated: bool
    """Whether the dates of the index rise with the versions. If not, no version has a date."""
    known_versions: int
    """How many released versions the index listed, without pre-releases and yanked ones."""
    versions: tuple[MeasuredVersion, ...] = ()
    """The chosen versions, oldest first, in the order of their numbers."""
    forms: tuple[CheckedForm, ...] = ()
    """The forms of the adapter that were compared with the present one."""

    def of(self, version: str) -> MeasuredVersion | None:
        return next((each for each in self.versions if each.version == version), None)
