"""The JSON files under ``api/v1/`` of a site. Paths in them are relative to the root of the site."""

from memeval.records.base import Digest, Record, Stored
from memeval.records.comparison import Difference
from memeval.records.submission import Configuration, Product


class ApiFile(Record):
    """A published file for programs."""

    path: str
    """Its path."""
    what: str
    """Its content, in a sentence."""
    schema_path: str | None = None
    """Path of its JSON Schema; ``None`` if it has none."""


class ApiIndex(Stored):
    """``api/v1/index.json``: what a program can read."""

    title: str
    release: str | None
    """Version of the release; ``None`` for a board that is not published."""
    latest: str | None
    """UTC time of the newest data, ISO 8601; ``None`` without data."""
    files: tuple[ApiFile, ...]
    """The files, those of this folder first."""


class ApiBoard(Record):
    """The table of a track."""

    track_id: str
    title: str
    """Heading of the table."""
    benchmark: str
    benchmark_title: str
    """Name of the benchmark."""
    headline: bool
    """Whether the front page shows the track."""
    protocol: str
    """How the benchmark is asked and graded."""
    tier: str
    reader: str
    judge: str
    items: int
    """Number of planned items."""
    systems: int
    """Number of rows, controls included."""
    ranked: int
    """Number of ranked rows."""
    baseline: str | None
    """Slug of the best simple baseline; ``None`` without one."""
    page: str
    json_path: str
    """All columns of the table as JSON."""
    csv_path: str
    """The same as CSV."""


class ApiBoards(Stored):
    """``api/v1/boards.json``: all tables."""

    boards: tuple[ApiBoard, ...]
    """The tables, in the order of the site."""


class ApiResult(Record):
    """The row of a system in a table."""

    track_id: str
    run_id: str
    standing: str
    rank_best: int | None
    """Best rank that the data allow; ``None`` without a rank."""
    rank_worst: int | None
    """Worst rank that the data allow; ``None`` without a rank."""
    score: float | None
    low: float | None
    high: float | None


class ApiSystem(Record):
    """A system with its current results."""

    slug: str
    """Its name in addresses."""
    name: str
    version: str
    """Version of its latest run."""
    kind: str
    """``control`` for a control that memeval ships."""
    summary: str | None
    """What it is, in a sentence, by its submission; ``None`` if not stated."""
    configured: str | None
    """Product, version and configuration of its latest run; ``None`` if not stated."""
    product: Product | None
    """The product under test, with its licence; ``None`` if not stated, and for a system of its own."""
    configuration: Configuration | None
    """Which settings of the product ran; ``None`` if not stated."""
    mock: bool
    """Whether a stand-in replaces a part that the product needs. A mock is never ranked."""
    adapter_licence: str | None
    """Licence of the adapter, by its submission, not of the product; ``None`` if not stated."""
    homepage: str | None
    """Its web address, by its submission; ``None`` if not stated."""
    page: str
    results: tuple[ApiResult, ...]
    """Its rows, one for each table."""


class ApiSystems(Stored):
    """``api/v1/systems.json``: all systems."""

    systems: tuple[ApiSystem, ...]
    """The systems by slug."""


class ApiRun(Record):
    """A run."""

    run_id: str
    system: str
    benchmark: str
    track_id: str
    started: str
    standing: str
    score: float | None
    crashes: int
    """How often the system's process crashed and was started again."""
    cost_usd: float | None
    """US dollars of its model calls; ``None`` if unknown."""
    cost_note: str | None
    """Why the cost is 0 or unknown; ``None`` if it is measured."""
    grades: str
    """How its scores were checked."""
    answers: str
    """Who made its answers."""
    accepted: bool
    """Whether a maintainer accepted it."""
    page: str
    head: str
    """Its ``run.json``, with everything about it."""
    digest: Digest
    """Digest of its ``run.json``."""


class ApiRuns(Stored):
    """``api/v1/runs.json``: all runs, invalidated and superseded ones included."""

    runs: tuple[ApiRun, ...]
    """The runs, newest first."""


class ApiVersion(Record):
    """A version of a product on a track."""

    version: str
    """The released version, or that of the submission."""
    released: str | None
    """Date of its release, ISO 8601; ``None`` if unknown."""
    run_id: str | None
    """The run that counts; ``None`` if the version did not run."""
    gap: str | None
    """Why it did not run, in a sentence."""
    score: float | None
    """Composite score in [0, 1]."""
    low: float | None
    """Lower end of its 95 % interval."""
    high: float | None
    search_ratio: float | None
    """Search time, as a multiple of that of the control bm25 beside; ``None`` if not measured."""
    ingest_ratio: float | None
    """Ingest time, as a multiple of that of the control bm25 beside; ``None`` if not measured."""


class ApiStep(Record):
    """A version whose score differs from the versions before."""

    version: str
    """The first version with the new score."""
    version_before: str
    """The version before it that ran."""
    before: float
    """Mean score of the versions since the step before, in [0, 1]."""
    after: float
    """Mean score of the versions up to the next step, in [0, 1]."""
    p: float
    """P-value of no change, corrected for the number of versions."""
    page: str | None
    """Page with the items that flipped."""


class ApiTrend(Record):
    """The versions of a product on a track."""

    system: str
    package: str | None
    """The package whose versions these are; ``None`` if unknown."""
    track_id: str
    title: str
    """The track, in words."""
    page: str
    versions: tuple[ApiVersion, ...]
    """Oldest first."""
    change: Difference | None
    """The last version minus the first; ``None`` if it cannot be computed."""
    steps: tuple[ApiStep, ...]
    """Oldest first."""


class ApiTrends(Stored):
    """``api/v1/trends.json``: the products with at least two versions on one track."""

    trends: tuple[ApiTrend, ...]
    """One a system and track."""
