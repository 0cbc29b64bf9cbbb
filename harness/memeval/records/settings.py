"""``memeval.toml``: the settings of a board, of its archive, its published site and its regression check."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from memeval.records.base import Record

Percent = Annotated[float, Field(ge=0, le=100)]
"""A percentage in [0, 100]."""

Colour = Annotated[str, StringConstraints(pattern=r"^#[0-9a-fA-F]{6}$")]
"""An sRGB colour: ``#`` and six hexadecimal digits."""

_INSIDE = r'<>"\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069'
Title = Annotated[str, StringConstraints(max_length=60, pattern=rf"^[^\s{_INSIDE}][^{_INSIDE}]*$")]
"""One line of plain text, without characters of HTML, control characters and marks that change the text direction."""

WebAddress = Annotated[
    str, StringConstraints(max_length=300, pattern=r"^https://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~/%+-]*)?$")
]
"""An address on the web, without a user, a password or a query."""

Contact = Annotated[
    str,
    StringConstraints(
        max_length=300,
        pattern=r"^(https://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~/%+-]*)?|[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+)$",
    ),
]
"""An address on the web, as above, or an e-mail address."""

Weight = Annotated[float, Field(gt=0, le=1)]
"""A share of the composite, in (0, 1]."""


class Colours(Record):
    """Colours of the pages. A colour that is not set is memeval's own."""

    primary: Colour | None = None
    """Background of the header, below white text."""
    primary_dark: Colour | None = None
    """The same in the dark theme; ``None`` for ``primary``."""
    accent: Colour | None = None
    """Links and bars in the light theme."""
    accent_dark: Colour | None = None
    """Links and bars in the dark theme; required with ``accent``."""


class TrackChoice(Record):
    """Selects one track of a benchmark. Every value that is set must be that of the track."""

    track: str | None = None
    """Id of the track, as on the Tracks page."""
    protocol: str | None = None
    tier: str | None = None
    reader: str | None = None
    """The reader, with its version: ``extractive@2``, or ``native``."""
    judge: str | None = None
    """The judge, with its version: ``rules@3``."""


class BoardSettings(Record):
    """The settings that the pages of a board follow from. They are published as ``board.json``."""

    title: Title = "memeval"
    repository: WebAddress | None = None
    """Address of the board's repository, linked in the header; ``None`` for no link."""
    contact: Contact | None = None
    """E-mail or web address for messages about the board; the page *Contact* shows it. ``None`` for none."""
    site_url: WebAddress | None = None
    """Address of the published board, for link previews, the sitemap and the feed; ``None`` if it is not known. Pages
    link to each other by relative addresses in any case."""
    hub: (
        Annotated[str, StringConstraints(max_length=96, pattern=r"^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$")] | None
    ) = None
    """User or organization that has the board's generated data on the Hub of Hugging Face, as ``HUB/beliefs-2``;
    ``None`` if nobody has. With it, the scores of each system are also files for the Hub."""
    benchmarks: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """The benchmarks that the board shows, with their versions; ``None`` for all. Runs of other benchmarks are neither
    shown nor published."""
    authors: tuple[Title, ...] = ()
    """Authors of the board, for its citation; empty to name the board itself."""
    licence: Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9.+-]*$")] | None = None
    """SPDX id of the licence of the published results, such as ``Apache-2.0``; ``None`` if none is stated."""
    colours: Colours = Colours()
    """Colours of the pages."""
    headline: dict[str, TrackChoice] = {}
    """The headline track of a benchmark: its table is on top of the front page, and other tracks are folded below."""
    weights: dict[str, dict[str, Weight]] = {}
    """Own weights of a benchmark's categories, summing to 1; categories without a weight do not count. They make an
    additional score. Ranks and all other scores keep the weights of the benchmark."""


class StoreSettings(Record):
    """A folder or a bucket."""

    to: str | None = None
    """The folder, or ``s3://BUCKET/PREFIX``; ``None`` for none."""
    endpoint: str | None = None
    """Address of an S3-compatible service; ``None`` for that of the environment, or AWS."""
    region: str | None = None
    """Region of the bucket; ``None`` for that of the environment."""


class ArchiveSettings(StoreSettings):
    """The archive of runs."""

    after_run: bool = False
    """Whether ``memeval run`` pushes each finished run."""


class PublishSettings(StoreSettings):
    """Where the board is published: also ``git:BRANCH``."""

    remote: str | None = None
    """The Git remote to push the branch to; ``None`` to push nothing."""


class CostMetric(StrEnum):
    """The costs that ``memeval check`` compares."""

    CONTEXT_TOKENS = "context_tokens"
    """Tokens of context per question."""
    MODEL_TOKENS = "model_tokens"
    """Tokens of model calls per question, without the judge's."""
    DOLLARS = "dollars"
    """Dollars of model calls per question, without the judge's."""
    LATENCY = "latency_p95"
    """95th percentile of the answer latency, in seconds."""


class CheckThresholds(Record):
    """The thresholds of ``memeval check``."""

    baseline_runs: int = Field(default=5, ge=1, le=100)
    """Number of accepted runs whose mean is the baseline."""
    relative_percent: Percent = 5.0
    """Largest tolerated relative loss of any metric, in percent. A loss of more than twice as much is critical."""
    overall_points: Percent = 2.0
    """Largest tolerated loss of the composite, in points of 100."""
    category_points: Percent = 3.0
    """Largest tolerated loss of a category, in points of 100."""
    retrieval_points: Percent = 3.0
    """Largest tolerated loss of a retrieval metric, in points of 100."""
    significance_percent: float = Field(default=5.0, gt=0, le=50)
    """A loss is a regression if its corrected one-sided p-value is below this, in percent."""
    warn_only: tuple[CostMetric, ...] = ()
    """Costs that never fail the check."""


class CheckSettings(CheckThresholds):
    """The regression check, ``memeval check``."""

    against_release: bool = True
    """Whether a run is also compared with the system's run in the last release."""
    against_best: bool = True
    """Whether a run is also compared with the best accepted run."""
    drift_runs: int = Field(default=20, ge=0, le=100)
    """Number of accepted runs in which a drift is searched for; 0 to search for none. Fewer than seven show none."""
    require_baseline: bool = False
    """Whether a check without a baseline fails."""
    on_regression: str | tuple[str, ...] | None = None
    """A webhook URL, or a command as a list of arguments; it receives the result as JSON. ``None`` for nothing."""


class Settings(BoardSettings):
    """The content of ``memeval.toml``."""

    schema_version: int = 1
    archive: ArchiveSettings = ArchiveSettings()
    """The archive of runs."""
    publish: PublishSettings = PublishSettings()
    """Where the board is published."""
    check: CheckSettings = CheckSettings()
    """Limits and hook of ``memeval check``."""
