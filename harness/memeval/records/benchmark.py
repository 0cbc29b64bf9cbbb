"""The description of a benchmark, as data, and its errata."""

from enum import StrEnum

from pydantic import Field

from memeval.records.base import Digest, Record, Share
from memeval.records.track import Redistribution


class CategoryInfo(Record):
    """One category of a benchmark."""

    name: str
    title: str
    weight: float | None = None
    """Its share of the composite; ``None`` if every question counts the same in all categories."""
    items: int
    """Items in the full tier."""
    tests: str
    """What it tests, in one or two sentences."""
    graded: str
    """How it is graded, in one or two sentences."""
    answerable: bool = True
    """Whether a plain answer is correct; false if the question asks for doubt."""
    risk: str | None = None
    """What a buyer fears, as a question: of a system that passes every item, the answer is no."""
    promise: str | None = None
    """What a system that passes does, as a verb phrase such as ``keeps users apart``."""
    ceiling: Share | None = None
    """The highest possible score, if some published answers are known to be wrong; ``None`` if no errors are known.
    Applies only to the full tier, and only to graded answers."""


class Source(Record):
    """A data file of a benchmark."""

    name: str = "full"
    """Its name: the value of the parameter ``file``, if the benchmark has several files."""
    url: str
    filename: str
    """Its file name on this machine."""
    bytes: int
    """Its size in bytes."""
    digest: Digest


class Defect(Record):
    """A known problem of a benchmark, and how memeval handles it."""

    problem: str
    """The problem."""
    handling: str
    """How memeval handles it."""


class Direction(StrEnum):
    """Whether higher or lower values of a metric are better."""

    HIGHER = "higher"
    LOWER = "lower"


class MetricInfo(Record):
    """One number that a benchmark measures."""

    name: str
    title: str
    direction: Direction
    low: float | None = None
    """The lowest possible value; ``None`` if unbounded."""
    high: float | None = None
    """The highest possible value; ``None`` if unbounded."""
    root: bool = False
    """Whether the reported value is the square root of the mean; rows then hold squares."""
    failure: str | None = None
    """What failed items with more than 0 of it have, such as ``did not open``; ``None`` if it explains no failure."""
    besides: str | None = None
    """A metric whose items it counts too: the words stand only for what it counts besides these."""
    meaning: str
    """Its meaning, in a sentence."""


class ProtocolInfo(Record):
    """One way of asking and grading a benchmark."""

    name: str
    title: str
    summary: str
    """How it asks and grades, in two or three sentences."""
    headline: str
    """The metric whose mean is the composite."""
    apart: tuple[str, ...] = ()
    """Categories that have a column, but do not count in the composite."""
    categories: tuple[CategoryInfo, ...] = ()
    """Categories that replace those of the benchmark, if the protocol asks other questions."""
    search_items: int | None = None
    """Number of items to request from ``search``; ``None`` for the usual number."""
    reader: str | None = None
    """The one supported reader; ``None`` if every reader is supported."""
    offline_reader: str | None = None
    """The reader used if the caller names ``extractive`` or no reader; ``None`` for ``extractive`` itself."""
    shown: tuple[str, ...] = ()
    """Metrics with a column in the tables: means over all items that have them."""
    spread: str | None = None
    """The bounded error metric whose distribution is charted; ``None`` for no chart."""
    needs: tuple[str, ...] = ()
    """Methods that a system needs, besides those that its reader needs. With the reader ``native``, all methods that
    it needs."""

    @property
    def grades_rankings(self) -> bool:
        """Whether it grades what a system retrieved: no system or model writes an answer from it."""
        return self.reader not in (None, "native") or "recall" in self.needs


class TierInfo(Record):
    """A named subset or size of a benchmark's data."""

    name: str
    items: int
    clusters: int | None = None
    """Number of clusters of its items, such as people or conversations; ``None`` if unknown without the data."""
    how: str
    """How the items are chosen, in a sentence."""
    seed: int | None = None
    """The seed of the sample; ``None`` if nothing is sampled."""
    tokens: int | None = None
    """Length of a history in tokens, if the tiers differ in it; else ``None``."""


class ExampleTurn(Record):
    """One turn of an example."""

    speaker: str
    text: str


class ExampleSession(Record):
    """One session of an example."""

    date: str
    """Its date."""
    turns: tuple[ExampleTurn, ...]


class ExampleQuestion(Record):
    """One question of an example."""

    category: str
    question: str
    right: str
    """A correct answer, with the reason."""
    wrong: str
    """A wrong answer, with the reason."""


class Example(Record):
    """An example of a benchmark, written for memeval: it contains nothing from the data."""

    sessions: tuple[ExampleSession, ...]
    """The sessions that a system ingests."""
    questions: tuple[ExampleQuestion, ...]
    """The questions."""


class ChartKind(StrEnum):
    """How a chart of a catalogue is drawn."""

    BARS = "bars"
    """One bar for each system and published value."""
    LINE = "line"
    """One line for each system, over the values of a slice."""


class PublishedValue(Record):
    """A value that others published, shown beside the runs on the full tier."""

    name: str
    """Whose value it is."""
    value: float
    at: str | None = None
    """The value of the slice that it belongs to; ``None`` for bars."""


class ChartInfo(Record):
    """A chart of a benchmark's page, drawn from runs and published values."""

    name: str
    title: str
    meaning: str
    """What it shows, in a sentence or two."""
    kind: ChartKind
    """How it is drawn."""
    protocol: str | None = None
    """The protocol of the runs; ``None`` for every protocol."""
    metric: str | None = None
    """The metric that bars show; ``None`` for the headline score."""
    category: str | None = None
    """The category that lines show; ``None`` for all items of the slice."""
    slice: str | None = None
    """The slice over which lines run."""
    values: tuple[str, ...] = ()
    """The values of the slice, in the order of the axis."""
    published: tuple[PublishedValue, ...] = ()
    """Values from elsewhere."""
    origin: str | None = None
    """Where the published values are from; ``None`` if there are none."""


class TabColumn(Record):
    """A column of a benchmark's tab: how many items of some categories a system passed."""

    title: str
    protocol: str
    categories: tuple[str, ...] = Field(min_length=1)
    """The categories whose items are counted together."""


class TabMeasure(Record):
    """A column of the measures of a tab."""

    title: str
    metric: str
    """The metric whose mean it shows, by its name in files."""
    unit: str = ""
    """What its numbers count, for the head of the column."""


class TabMeasures(Record):
    """The second table of a tab: systems by means of metrics, over the items of one category."""

    title: str
    meaning: str
    """What was measured, in a sentence or two."""
    protocol: str
    category: str
    columns: tuple[TabMeasure, ...] = Field(min_length=1)
    """Its columns, in order."""


class FrontTab(Record):
    """A tab of the front page: systems by counts of passed items, each from one run on one tier."""

    title: str
    meaning: str
    """Who and what is in the table, in a sentence or two."""
    items: str = "items"
    """What its items are called, in the plural."""
    columns: tuple[TabColumn, ...] = Field(min_length=1)
    """Its columns, in order."""
    measures: TabMeasures | None = None
    """Its second table; ``None`` without one."""


class WorkKind(StrEnum):
    """The kind of a work to cite; the values are those of the Citation File Format."""

    PAPER = "conference-paper"
    """A paper of a conference."""
    ARTICLE = "article"
    """Any other paper."""
    DATA = "data"
    SOFTWARE = "software"


class CitedWork(Record):
    """A work to cite."""

    kind: WorkKind
    title: str
    authors: tuple[str, ...] = Field(min_length=1)
    """Its authors as ``Family, Given``. The name of a group or an account has no comma."""
    year: int | None = None
    """Year of its publication."""
    venue: str | None = None
    """Name of the conference."""
    doi: str | None = None
    """Its DOI, without ``https://doi.org/``."""
    url: str
    commit: str | None = None
    """The commit that memeval reads."""


class DataStatement(Record):
    """What a user of generated data should know; the fields follow the responsible-AI vocabulary of Croissant 1.0."""

    labels: str
    """How the expected answers were made."""
    personal: str
    """Personal or sensitive information in the data."""
    biases: tuple[str, ...]
    """Known biases."""
    uses: tuple[str, ...]
    """Intended uses, and uses that are not."""
    impact: str
    """Expected effects on people."""


class BenchmarkInfo(Record):
    """The description of a benchmark."""

    id: str
    """Name and version: ``beliefs@2``."""
    title: str
    summary: str
    """What it measures, in two or three sentences."""
    made: str
    """How the data was made, and its limits."""
    licence: str
    """SPDX expression of the data's licence."""
    redistribution: Redistribution
    citation: str | None = None
    """The citation."""
    works: tuple[CitedWork, ...] = ()
    """The works to cite with its scores, the most important first."""
    statement: DataStatement | None = None
    """What a user of its data should know, if memeval generates the data; else ``None``."""
    homepage: str | None = None
    sources: tuple[Source, ...] = ()
    """Its data files, the default first; empty if memeval generates the data."""
    protocols: tuple[ProtocolInfo, ...]
    """Ways of asking and grading, the default first."""
    tiers: tuple[TierInfo, ...]
    """Named choices of the data, the default first."""
    metrics: tuple[MetricInfo, ...] = ()
    """What it measures."""
    example: Example | None = None
    """An example."""
    charts: tuple[ChartInfo, ...] = ()
    """Charts of its page, besides those that memeval draws for every benchmark."""
    tab: FrontTab | None = None
    """Its tab on the front page; ``None`` for most: they are columns of a table there."""
    categories: tuple[CategoryInfo, ...]
    """Its categories, in the order of its table."""
    alternates: dict[str, str] = {}
    """Other scoring rules for the same answers, by name, each with a sentence."""
    defects: tuple[Defect, ...] = ()
    """Known problems."""
    position: int = 1000
    """Its place on boards and in lists: the lowest first; equal ones by name."""
    quick: dict[str, int] | None = None
    """Parameters of its smallest data, if it suits a first run and the check of a submission: no key, no download,
    seconds. ``None`` if it does not."""
    suite: str | None = None
    """Its name for ``memeval.run_suite``, if it can run on a live object. With ``brought``, it reads a suite file."""
    seed_of: str | None = None
    """The benchmark that it repeats with a fresh seed; ``None`` if it has its own questions."""
    by_name_only: bool = False
    """Whether it runs only if the caller names it, because it takes long."""
    brought: bool = False
    """Whether its data is the caller's own file, given with ``--data``."""
    by_hand: str | None = None
    """How to get the data by hand, as a sentence, if memeval cannot download it; else ``None``."""
    released_digests: tuple[Digest, ...] = ()
    """Digests (unpacked) of released data that memeval cannot download, or that is in several files; empty if its
    authors publish none."""

    @property
    def unverified(self) -> bool:
        """Whether the data cannot be verified, because memeval has no digest of it."""
        return self.by_hand is not None and not self.released_digests

    @property
    def known_digests(self) -> frozenset[Digest]:
        """Digests of the data of its tracks, as far as it is not generated."""
        return frozenset((*(source.digest for source in self.sources), *self.released_digests))

    @property
    def generated(self) -> bool:
        return not (self.sources or self.brought or self.by_hand)

    @property
    def items(self) -> int:
        """Number of items in the full tier."""
        return sum(category.items for category in self.categories)

    @property
    def every_category(self) -> tuple[CategoryInfo, ...]:
        return (*self.categories, *(each for protocol in self.protocols for each in protocol.categories))

    def category(self, name: str) -> CategoryInfo | None:
        """Return a category of the benchmark or of one of its protocols; ``None`` if it does not exist."""
        return next((category for category in self.every_category if category.name == name), None)

    def source(self, name: str | None = None) -> Source | None:
        """Return a data file by name, or the default one; ``None`` if it does not exist."""
        return next((source for source in self.sources if name in (None, source.name)), None)

    @property
    def name(self) -> str:
        """The id without its version."""
        return self.id.partition("@")[0]


class ErratumKind(StrEnum):
    """The problem of an item."""

    WRONG_ANSWER = "wrong_answer"
    AMBIGUOUS = "ambiguous"
    WRONG_EVIDENCE = "wrong_evidence"
    WRONG_CATEGORY = "wrong_category"


class ErratumAction(StrEnum):
    """How the corrected score treats an item."""

    EXCLUDE = "exclude"
    REPLACE = "replace"
    """Grades it by the corrected answer or evidence."""


class Erratum(Record):
    """One item that is wrong or disputed."""

    id: str
    """The item, by memeval's id."""
    kind: ErratumKind
    """The problem."""
    action: ErratumAction
    """How the corrected score treats it."""
    corrected: str | tuple[str, ...] | None = None
    """The correct answer, or the correct evidence in the benchmark's format; required for a replacement."""
    note: str
    """The reason, in a sentence."""


class Errata(Record):
    """A file of errata."""

    dataset_sha256: str
    """Digest of the data it applies to: 64 hexadecimal digits."""
    source: str
    """Who reported the problems, and where."""
    entries: tuple[Erratum, ...]
    """The items."""
