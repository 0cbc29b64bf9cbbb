"""``run.json``: the small, reviewable head of a run."""

from enum import StrEnum
from typing import ClassVar, Self

from pydantic import Field

from memeval.records.base import Digest, Record, ShownName, Slug, Stored, digest_of
from memeval.records.beside import BesideTimes
from memeval.records.call import Phase, PhaseUsage
from memeval.records.history import ProductVersion
from memeval.records.imported import Imported
from memeval.records.scores import Scores
from memeval.records.submission import (
    AdapterKind,
    Configuration,
    HostName,
    Product,
    ServiceName,
    Storage,
    Vendor,
    configuration_text,
)
from memeval.records.track import Redistribution, Track

BLIND_CONTROLS = frozenset(
    {
        *("no-memory", "placebo", "echo-question", "always-hedge", "always-hedge-shrinking"),
        *("always-error", "judge-injection"),
    }
)
"""Controls that use nothing of the history: a memory system must score higher."""


class SystemKind(StrEnum):
    """The origin of a system."""

    CONTROL = "control"
    """Shipped by memeval to calibrate tracks."""
    SUBMISSION = "submission"
    """A folder with a ``submission.toml``."""
    FILE = "file"
    """A Python file with an adapter class."""
    IMPORTED = "imported"
    """Imported answers: memeval only graded them."""


class View(StrEnum):
    """The sessions that a system received."""

    ALL = "all"
    EVIDENCE = "evidence"
    """Only the sessions that the key names; for shipped controls only."""
    TURNS = "turns"
    """Only the turns that the key names; for shipped controls only."""


class ContextSource(StrEnum):
    """The context of the answers, in the terms of LongMemEval, for every benchmark."""

    NONE = "none"
    """No history."""
    ORACLE = "dataset-oracle-sessions"
    """Only the evidence sessions."""
    FULL_CONTEXT = "dataset-full-context"
    """The whole history."""
    SEARCH = "actor-retrieve-only-search"
    """Retrieved by the system, then read by the track's reader."""
    ASK = "actor-ask"
    """Chosen by the system, which writes the answer itself."""
    UNKNOWN = "unknown"
    """Unknown: the answers are imported."""


class EnvironmentIdentity(Record):
    """The environment that memeval built for a system from its lock file."""

    digest: Digest
    """Digest of the lock file and the target platform."""
    tool: str
    """The tool that built it, such as ``uv 0.9.11``."""
    locked: bool
    """Whether the submission contains the lock file; else the build made it."""


class ServiceIdentity(Record):
    """A service that ran with a system."""

    name: ServiceName
    version: str
    """Its version, as it reports it."""
    digest: Digest
    """Digest of its program."""


class HostUse(Record):
    """A host to which memeval forwarded a system's requests."""

    host: HostName
    """The declared host."""
    origin: str
    """The actual target of the requests: scheme, host and port."""

    @property
    def elsewhere(self) -> bool:
        """Whether the caller redirected them to another server."""
        return self.origin != f"https://{self.host}"


class SystemIdentity(Record):
    """The system that ran."""

    slug: Slug
    """Its name in paths and URLs."""
    name: ShownName
    """Its name for people; untrusted text."""
    version: ShownName
    kind: SystemKind
    """Its origin."""
    adapter_class: ShownName
    """The class that was loaded."""
    submission_digest: Digest
    environment_digest: Digest
    """Digest of its interpreter, packages and services, and of its lock file if it has one."""
    view: View = View.ALL
    """The sessions it received."""
    capabilities: tuple[str, ...] = ()
    """Its optional methods."""
    declared_models: tuple[str, ...] = ()
    parameters: dict[str, str | int | float | bool] = {}
    variant: str | None = None
    """Name of the variant, as in ``SLUG:NAME``; ``None`` for the submission itself."""
    adapter_kind: AdapterKind = AdapterKind.PYTHON
    """Its interface."""
    deterministic: bool = True
    """Whether it declares that an identical second run gives the same answers."""
    self_reported: tuple[str, ...] = ()
    """The values that it reports itself."""
    mock: bool = False
    """Whether a stand-in replaces a part that the product needs; such a run is never ranked."""
    product: Product | None = None
    """The product under test; ``None`` if not stated, and for a system of its own."""
    configuration: Configuration | None = None
    """Which settings of the product ran; ``None`` if not stated."""
    vendor: Vendor | None = None
    environment: EnvironmentIdentity | None = None
    """The environment built for it; ``None`` if it used an existing one."""
    services: tuple[ServiceIdentity, ...] = ()
    hosts: tuple[HostUse, ...] = ()
    """Hosts to which its requests were forwarded."""
    storage: Storage | None = Field(default=None, exclude_if=lambda storage: storage is None)
    """Its storage folder; left out of the data without one, so that the bytes of older runs stay valid."""

    @property
    def configured(self) -> str | None:
        """Product, version and configuration for people; see :func:`configuration_text`."""
        return configuration_text(self.name, self.version, self.product, self.configuration)

    @property
    def named(self) -> str:
        """Its name on the command line, unless it is a file: ``SLUG``, or ``SLUG:NAME`` for a variant."""
        if self.variant is None:
            return self.slug
        return f"{self.slug.removesuffix(self.variant).removesuffix('-')}:{self.variant}"


class Isolation(StrEnum):
    """What a system could reach during a run."""

    FILES_REACHABLE = "files reachable"
    """No sandbox: a separate process with a clean environment."""
    SANDBOXED = "sandboxed"
    """Only the programs it needs: no data, no results, no home folder, no other process."""
    ELSEWHERE = "made elsewhere"
    """Unknown: the answers are imported. Network access is assumed."""


class Network(StrEnum):
    """The network access of a system during a run."""

    OPEN = "open"
    """The whole network."""
    NONE = "none"
    """Nothing."""
    GATEWAY = "gateway"
    """Only memeval's model gateway."""
    DECLARED = "declared"
    """The declared hosts, through memeval. memeval cannot observe which models they use."""


class Harness(Record):
    """The version and platform of memeval."""

    version: str
    """Version of memeval."""
    commit: str | None
    """Commit of the checkout; ``None`` without one."""
    dirty: bool | None
    """Whether the checkout had uncommitted changes."""
    python: str
    """Version of Python."""
    platform: str
    """Operating system and machine."""
    digest: Digest | None = None
    """Digest of memeval's own files; ``None`` in runs of an older memeval."""
    packages: dict[str, str]
    """Versions of the packages that affect the scores."""
    argv: tuple[str, ...]
    """The command line, without secrets and paths of the machine."""


class Percentiles(Record):
    """Seconds of a phase, over its calls."""

    calls: int
    """Number of calls."""
    p50: float | None
    p95: float | None
    total: float
    """Sum."""


class Timing(Record):
    """Start, end and duration of a run. They differ between equal runs."""

    started: str
    ended: str
    """UTC end, ISO 8601."""
    concurrency: int
    """Questions in flight at the same time: scenarios, where each instance answers one question at a time."""
    phases: dict[Phase, Percentiles]
    """Durations by phase, for the phases that occurred."""


class TokenSource(StrEnum):
    """The source of a run's context token counts."""

    MEASURED = "measured"
    """memeval, with the track's tokenizer."""
    SELF_REPORTED = "self-reported"
    """The system."""
    NONE = "none"
    """Nobody."""


class Tokens(Record):
    """Context tokens of a run."""

    source: TokenSource
    per_question: float | None
    """Mean over the questions with a count; ``None`` without any."""
    total: float | None
    """Sum over the questions with a count."""


class Cost(Record):
    """Dollars of a run."""

    usd: float | None
    """Total in dollars; ``None`` if unknown."""
    reason: str | None
    """Why the total is unknown, or what it excludes; ``None`` if there is nothing to add."""


class Coverage(Record):
    """Planned and completed items."""

    planned: int
    """Items that the track plans."""
    done: int
    """Items with a grade."""
    limit: int | None = None
    retried: int = 0
    """Items with more than one attempt. All attempts are stored, and the last one counts."""

    @property
    def full(self) -> bool:
        return self.done == self.planned


class FileDigest(Record):
    """A file of the run."""

    digest: Digest
    """Digest of its uncompressed bytes."""
    rows: int


class Inputs(Record):
    """All inputs that affect a run's answers. Its hash is the fingerprint. No clock, argv, concurrency or path."""

    track: Track
    submission_digest: Digest
    environment_digest: Digest
    parameters: dict[str, str | int | float | bool] = {}
    declared_models: tuple[str, ...] = ()
    view: View = View.ALL
    """The sessions that the system receives."""
    hosts: dict[str, str] = {}
    """Hosts that the caller redirected, each with the target, such as a local server."""
    limit: int | None = None

    @classmethod
    def of(cls, track: Track, system: SystemIdentity, limit: int | None) -> Self:
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
        """The hash of all inputs, 64 hexadecimal digits."""
        return digest_of(self.identity())[7:]


class Run(Stored):
    """The head of a sealed run. It holds the digests of the row files in the same folder."""

    VOLATILE: ClassVar[frozenset[str]] = frozenset(
        {"run_id", "timing", "beside", "harness", "files", "isolation", "network", "sandbox", "crashes"}
    )
    """See :class:`Stored`."""

    run_id: str
    """UTC start to the second, a dash, eight digits of the fingerprint."""
    fingerprint: str
    """Hash of all inputs that affect the answers."""
    track_id: str
    track: Track
    system: SystemIdentity
    redistribution: Redistribution
    isolation: Isolation
    network: Network = Network.OPEN
    sandbox: str | None = None
    harness: Harness
    """The version and platform of memeval."""
    seeds: dict[str, int]
    timing: Timing
    """Start, end and durations. Comparisons ignore them."""
    beside: BesideTimes | None = None
    """Its times beside a control; ``None`` if they were not measured. Comparisons ignore them."""
    tokens: Tokens
    """Context tokens."""
    cost: Cost
    """Dollars."""
    usage: dict[Phase, PhaseUsage] = {}
    """Model usage by phase, for phases with model calls."""
    prices: str | None = None
    """The dated price list behind the dollars; ``None`` if no call needed a price."""
    answers_from: str | None = None
    """The run whose stored responses another judge graded; ``None`` if this run made its own answers."""
    imported: Imported | None = None
    product_version: ProductVersion | None = None
    """The released version of the product that ran, in a history of versions; ``None`` for all other runs. A run with
    it is on no board: it is never ranked, and never the current row of its system."""
    replayed: bool = False
    """Whether the record answered all model calls. Such a run is not an independent repetition."""
    coverage: Coverage
    """Planned and completed items."""
    crashes: int = 0
    """How often the system's process, or the server that it started, ended by itself. Its items were repeated."""
    scores: Scores
    """Scores, computed from the grades."""
    files: dict[str, FileDigest]
    """The run's files, by name without ``.gz``."""
    responses_digest: Digest
    """Digest of the responses without their timings: equal in equal runs, like the digests of contexts, grades and
    failures."""

    @property
    def ingested_in_vain(self) -> int | None:
        """How many histories were ingested if no question brought up anything of them; ``None`` for other runs.

        Known only where memeval counts the tokens of what is brought up: who answers by itself may show no context.
        """
        ingested = self.timing.phases.get(Phase.INGEST)
        is_empty = self.tokens.source is TokenSource.MEASURED and self.tokens.total == 0
        return ingested.calls if is_empty and ingested is not None and ingested.calls else None

    @property
    def context_source(self) -> ContextSource:
        system = self.system
        if system.kind is SystemKind.IMPORTED:
            return ContextSource.UNKNOWN
        if system.kind is SystemKind.CONTROL and system.slug in BLIND_CONTROLS:
            return ContextSource.NONE
        if system.view is not View.ALL or self.track.parameters.get("file") == "oracle":
            return ContextSource.ORACLE
        if system.kind is SystemKind.CONTROL and system.slug == "full-context":
            return ContextSource.FULL_CONTEXT
        return ContextSource.ASK if self.track.reader == "native" else ContextSource.SEARCH
