"""``run.json``: the small, reviewable head of a run."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Self

from memeval.records.base import Digest, Record, Slug, Stored, digest_of
from memeval.records.call import Phase, PhaseUsage
from memeval.records.imported import Imported
from memeval.records.scores import Scores
from memeval.records.submission import AdapterKind, HostName, ServiceName, Vendor
from memeval.records.track import Redistribution, Track

BLIND_CONTROLS = frozenset(
    {"no-memory", "echo-question", "always-hedge", "always-hedge-shrinking", "always-error", "judge-injection"}
)
"""Controls that know nothing of the history: the floor that a memory must rise above."""


class SystemKind(StrEnum):
    """Where a system comes from."""

    CONTROL = "control"
    """Shipped by memeval to calibrate tracks."""
    SUBMISSION = "submission"
    """A folder with a ``submission.toml``."""
    FILE = "file"
    """A file with an adapter class in it."""
    IMPORTED = "imported"
    """Its answers were made elsewhere, and only graded here."""


class View(StrEnum):
    """Which sessions a system was shown."""

    ALL = "all"
    EVIDENCE = "evidence"
    """Only those the key names; shipped controls alone may have this."""


class ContextSource(StrEnum):
    """What answers were drawn from; LongMemEval's own words, used for every benchmark."""

    NONE = "none"
    """Nothing of the history."""
    ORACLE = "dataset-oracle-sessions"
    """The evidence sessions alone."""
    FULL_CONTEXT = "dataset-full-context"
    """The whole history."""
    SEARCH = "actor-retrieve-only-search"
    """What the system retrieved, read by the track's reader."""
    ASK = "actor-ask"
    """Whatever the system drew on to answer by itself."""
    UNKNOWN = "unknown"
    """The answers were made elsewhere, and nobody says."""


class EnvironmentIdentity(Record):
    """The environment that was built for a system from its lock."""

    digest: Digest
    """Digest of the lock and of what it was built for."""
    tool: str
    """What built it, such as ``uv 0.9.11``."""
    locked: bool
    """Whether the submission holds the lock; else it was made when the environment was built."""


class ServiceIdentity(Record):
    """A service that ran beside a system."""

    name: ServiceName
    """Which one."""
    version: str
    """Its version, as it says."""
    digest: Digest
    """Digest of its program."""


class HostUse(Record):
    """A host that a system's requests were forwarded to."""

    host: HostName
    """The host it declares."""
    origin: str
    """Where the requests really went: scheme, host and port."""

    @property
    def elsewhere(self) -> bool:
        """Whether the caller sent them elsewhere than to the host itself."""
        return self.origin != f"https://{self.host}"


class SystemIdentity(Record):
    """The system that ran."""

    slug: Slug
    """Its name in paths and URLs."""
    name: str
    """Its name for people; text from outside."""
    version: str
    """Its version; text from outside."""
    kind: SystemKind
    """Where it comes from."""
    adapter_class: str
    """The class that was loaded."""
    submission_digest: Digest
    """Digest of its files."""
    environment_digest: Digest
    """Digest of the interpreter and packages it ran with, of its lock where one was built from, and of its services."""
    view: View = View.ALL
    """Which sessions it was shown."""
    capabilities: tuple[str, ...] = ()
    """The optional methods found."""
    declared_models: tuple[str, ...] = ()
    """Models it says it uses."""
    parameters: dict[str, str | int | float | bool] = {}
    """Its parameters."""
    variant: str | None = None
    """Which variant of a submission it is, as in ``SLUG:NAME``; ``None`` for one as it stands."""
    adapter_kind: AdapterKind = AdapterKind.PYTHON
    """How memeval talked to it."""
    deterministic: bool = True
    """Whether it says that a second identical run gives the same answers."""
    self_reported: tuple[str, ...] = ()
    """What of its figures is its own account."""
    label: str | None = None
    """Why its scores say nothing of the product; such a run is never ranked."""
    vendor: Vendor | None = None
    """Whose hosted product it is; ``None`` where everything ran here."""
    environment: EnvironmentIdentity | None = None
    """The environment built for it; ``None`` where it ran with what was there."""
    services: tuple[ServiceIdentity, ...] = ()
    """Services that ran beside it."""
    hosts: tuple[HostUse, ...] = ()
    """Hosts that its requests were forwarded to."""

    @property
    def named(self) -> str:
        """What it is called on the command line, where it is no file: ``SLUG``, or ``SLUG:NAME`` for a variant."""
        if self.variant is None:
            return self.slug
        return f"{self.slug.removesuffix(self.variant).removesuffix('-')}:{self.variant}"


class Isolation(StrEnum):
    """What a system could reach while it ran."""

    FILES_REACHABLE = "files reachable"
    """Another process with a clean environment, and no sandbox around it."""
    SANDBOXED = "sandboxed"
    """Nothing of the machine but the programs it needs: no data, no results, no home, no other process."""
    ELSEWHERE = "made elsewhere"
    """Nobody here knows: its answers were made elsewhere. Of the network, all of it, for all that is known."""


class Network(StrEnum):
    """What of the network a system could reach while it ran."""

    OPEN = "open"
    """All of it."""
    NONE = "none"
    """Nothing."""
    GATEWAY = "gateway"
    """memeval's endpoint for models, and nothing else."""
    DECLARED = "declared"
    """The hosts that the submission declares, through memeval; what models are used there cannot be observed."""


class Harness(Record):
    """The memeval that ran it."""

    version: str
    """Version of memeval."""
    commit: str | None
    """Commit of the checkout, where it ran from one."""
    dirty: bool | None
    """Whether the checkout had uncommitted changes."""
    python: str
    """Version of the interpreter."""
    platform: str
    """Operating system and machine."""
    packages: dict[str, str]
    """Versions of the packages that decide the numbers."""
    argv: tuple[str, ...]
    """The call, without paths of the machine."""


class Percentiles(Record):
    """Seconds of a phase, over its calls."""

    calls: int
    """How many calls."""
    p50: float | None
    """Median."""
    p95: float | None
    """95th percentile."""
    total: float
    """Sum."""


class Timing(Record):
    """When a run took place and how long its phases took. Never the same twice."""

    started: str
    """UTC start, ISO 8601."""
    ended: str
    """UTC end, ISO 8601."""
    concurrency: int
    """Scenarios in flight while it was measured."""
    phases: dict[Phase, Percentiles]
    """By phase; a phase that did not occur is left out."""


class TokenSource(StrEnum):
    """Who counted a run's context tokens."""

    MEASURED = "measured"
    """memeval, with the track's tokenizer."""
    SELF_REPORTED = "self-reported"
    """The system."""
    NONE = "none"
    """Nobody."""


class Tokens(Record):
    """Context tokens of a run."""

    source: TokenSource
    """Who counted."""
    per_question: float | None
    """Mean over the questions with a count; ``None`` where there is none."""
    total: float | None
    """Sum over the questions with a count."""


class Cost(Record):
    """Dollars of a run."""

    usd: float | None
    """``None`` where unknown."""
    reason: str | None
    """Why it is unknown, or what it leaves out; ``None`` where there is nothing to add."""


class Coverage(Record):
    """How much of the plan was done."""

    planned: int
    """Items planned by the track."""
    done: int
    """Items with a grade."""
    limit: int | None = None
    """The caller's own limit on items, where there was one."""
    retried: int = 0
    """Items that were tried more than once; all attempts are on record, and the last one counts."""

    @property
    def full(self) -> bool:
        """Whether every planned item has a grade."""
        return self.done == self.planned


class FileDigest(Record):
    """A file of the run."""

    digest: Digest
    """Digest of its uncompressed bytes."""
    rows: int
    """Its number of rows."""


class Inputs(Record):
    """What decides a run's answers. Its hash is the run's fingerprint: no clock, argv, concurrency, path or commit."""

    track: Track
    """The track."""
    submission_digest: Digest
    """The system's files."""
    environment_digest: Digest
    """The system's environment."""
    parameters: dict[str, str | int | float | bool] = {}
    """The system's parameters."""
    declared_models: tuple[str, ...] = ()
    """Models the system says it uses."""
    view: View = View.ALL
    """Which sessions the system is shown."""
    hosts: dict[str, str] = {}
    """Hosts that the caller sent elsewhere than where they are, each with where: a server of the caller's own, say."""
    limit: int | None = None
    """The caller's own limit on items."""

    @classmethod
    def of(cls, track: Track, system: SystemIdentity, limit: int | None) -> Self:
        """Return the inputs that a system on a track stands for."""
        return cls(
            track=track,
            submission_digest=system.submission_digest,
            environment_digest=system.environment_digest,
            parameters=system.parameters,
            declared_models=system.declared_models,
            view=system.view,
            hosts={use.host: use.origin for use in system.hosts if use.elsewhere},
            limit=limit,
        )

    @property
    def fingerprint(self) -> str:
        """The hash of all of it, 64 hexadecimal digits."""
        return digest_of(self.identity())[7:]


class Run(Stored):
    """The head of a sealed run. The rows lie beside it, and their digests are in it."""

    VOLATILE: ClassVar[frozenset[str]] = frozenset(
        {"run_id", "timing", "harness", "files", "isolation", "network", "sandbox"}
    )
    """Fields that differ between equal runs."""

    run_id: str
    """UTC start to the second, a dash, eight digits of the fingerprint."""
    fingerprint: str
    """Hash of all that decides the answers."""
    track_id: str
    """Id of the track."""
    track: Track
    """The track."""
    system: SystemIdentity
    """The system."""
    redistribution: Redistribution
    """Whether the benchmark's text may be published with the run."""
    isolation: Isolation
    """What the system could reach while it ran."""
    network: Network = Network.OPEN
    """What of the network it could reach while it ran."""
    sandbox: str | None = None
    """What held it in, such as ``bubblewrap 0.8.0``; ``None`` where nothing did."""
    harness: Harness
    """The memeval that ran it."""
    seeds: dict[str, int]
    """Every seed in use."""
    timing: Timing
    """When, and how long. Not compared."""
    tokens: Tokens
    """Context tokens."""
    cost: Cost
    """Dollars."""
    usage: dict[Phase, PhaseUsage] = {}
    """What model calls took, by phase; a phase without any is left out."""
    prices: str | None = None
    """The dated price list that dollars follow from; ``None`` where there was nothing to price."""
    answers_from: str | None = None
    """The run whose stored responses were graded again under another judge; ``None`` for a run of its own answers."""
    imported: Imported | None = None
    """Where the answers come from, if they were made elsewhere."""
    replayed: bool = False
    """Whether all model calls were answered from a record. Such a run is no independent repetition."""
    coverage: Coverage
    """How much of the plan was done."""
    scores: Scores
    """Scores, computed from the grades."""
    files: dict[str, FileDigest]
    """The run's files, by name without ``.gz``."""

    @property
    def context_source(self) -> ContextSource:
        """What the answers were drawn from."""
        system = self.system
        if system.kind is SystemKind.IMPORTED:
            return ContextSource.UNKNOWN
        if system.kind is SystemKind.CONTROL and system.slug in BLIND_CONTROLS:
            return ContextSource.NONE
        if system.view is View.EVIDENCE or self.track.parameters.get("file") == "oracle":
            return ContextSource.ORACLE
        if system.kind is SystemKind.CONTROL and system.slug == "full-context":
            return ContextSource.FULL_CONTEXT
        return ContextSource.ASK if self.track.reader == "native" else ContextSource.SEARCH
