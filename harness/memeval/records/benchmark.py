"""What a benchmark says of itself, as data."""

from __future__ import annotations

from enum import StrEnum

from memeval.records.base import Digest, Record, Share
from memeval.records.track import Redistribution


class CategoryInfo(Record):
    """One category of a benchmark."""

    name: str
    """Its name in files."""
    title: str
    """Its name for people."""
    weight: float | None = None
    """Its share of the composite; ``None`` where every question counts the same, whatever its category."""
    items: int
    """Items in the full tier."""
    tests: str
    """What it tests, in a sentence or two."""
    graded: str
    """How it is graded, in a sentence or two."""
    answerable: bool = True
    """Whether a plain answer is right; false where doubt is asked for."""
    ceiling: Share | None = None
    """The most that can be earned, where some of its published answers are known to be wrong; ``None`` where it is 1 as
    far as anyone knows. Only in the whole of it, and only where answers are graded."""


class Source(Record):
    """A file a benchmark's data comes from."""

    name: str = "full"
    """Which of the benchmark's files it is: the value of the parameter ``file``, where there are several."""
    url: str
    """Where it is."""
    filename: str
    """What it is called here."""
    bytes: int
    """Its size."""
    digest: Digest
    """Its digest."""


class Defect(Record):
    """Something known to be wrong or odd in a benchmark, and what memeval does about it."""

    problem: str
    """What is wrong."""
    handling: str
    """What memeval does."""


class Direction(StrEnum):
    """Which way a metric is better."""

    HIGHER = "higher"
    LOWER = "lower"


class MetricInfo(Record):
    """One number that a benchmark measures."""

    name: str
    """Its name in files."""
    title: str
    """Its name for people."""
    direction: Direction
    """Which way it is better."""
    low: float | None = None
    """The least it can be; ``None`` where it has no bound."""
    high: float | None = None
    """The most it can be; ``None`` where it has no bound."""
    root: bool = False
    """Whether it is told as the square root of its mean: a mean of squares is what rows hold."""
    meaning: str
    """What it says, in a sentence."""


class ProtocolInfo(Record):
    """One way of asking and grading a benchmark."""

    name: str
    """Its name in tracks."""
    title: str
    """Its name for people."""
    summary: str
    """How it asks and grades, in two or three sentences."""
    headline: str
    """The metric that the composite is a mean of."""
    apart: tuple[str, ...] = ()
    """Categories that have a column of their own and no part in the composite."""
    categories: tuple[CategoryInfo, ...] = ()
    """Categories that stand in the place of the benchmark's, where it asks for something else altogether."""
    search_items: int | None = None
    """How many items it asks of ``search``; ``None`` for the usual number."""
    reader: str | None = None
    """The one reader it goes with; ``None`` where it goes with any."""
    offline_reader: str | None = None
    """The reader that answers here where ``extractive`` is asked for, or nothing; ``None`` for that one itself."""
    shown: tuple[str, ...] = ()
    """Metrics that have a column of their own in its tables: means over all items that have them."""
    spread: str | None = None
    """The metric, a bounded error, whose distribution over the items is drawn; ``None`` for none."""
    needs: tuple[str, ...] = ()
    """Methods a system must have to take it, besides those that its reader needs; under the reader ``native``, all
    that it needs."""


class TierInfo(Record):
    """One named choice of a benchmark's data."""

    name: str
    """Its name in tracks."""
    items: int
    """Its items."""
    how: str
    """How they are chosen, in a sentence."""
    seed: int | None = None
    """The seed of the choice; ``None`` where nothing is drawn."""
    tokens: int | None = None
    """How long a history is, in tokens, where tiers differ in that; ``None`` elsewhere."""


class ExampleTurn(Record):
    """One thing said in an example."""

    speaker: str
    """Who says it."""
    text: str
    """What."""


class ExampleSession(Record):
    """One conversation of an example."""

    date: str
    """When it takes place."""
    turns: tuple[ExampleTurn, ...]
    """What is said."""


class ExampleQuestion(Record):
    """One question of an example."""

    category: str
    """Its category."""
    question: str
    """What is asked."""
    right: str
    """An answer that is right, and why."""
    wrong: str
    """An answer that is wrong, and why."""


class Example(Record):
    """What a benchmark looks like, in memeval's own words: none of it is from the data."""

    sessions: tuple[ExampleSession, ...]
    """What a system takes in."""
    questions: tuple[ExampleQuestion, ...]
    """What it is asked."""


class BenchmarkInfo(Record):
    """What a benchmark says of itself."""

    id: str
    """Name and version: ``beliefs@1``."""
    title: str
    """Its name for people."""
    summary: str
    """What it measures, in two or three sentences."""
    made: str
    """How its data came to be, and what it is not."""
    licence: str
    """SPDX expression of the data's licence."""
    redistribution: Redistribution
    """Whether its text may be published."""
    citation: str | None = None
    """What to cite."""
    homepage: str | None = None
    """Where it lives."""
    sources: tuple[Source, ...] = ()
    """Its data files, the default first; none where memeval generates the data."""
    protocols: tuple[ProtocolInfo, ...]
    """Ways of asking and grading, the default first."""
    tiers: tuple[TierInfo, ...]
    """Named choices of the data, the default first."""
    metrics: tuple[MetricInfo, ...] = ()
    """What it measures."""
    example: Example | None = None
    """What it looks like."""
    categories: tuple[CategoryInfo, ...]
    """Its categories, in the order of its own table."""
    alternates: dict[str, str] = {}
    """Other declared rules the same answers are scored under, by name, each with a sentence."""
    defects: tuple[Defect, ...] = ()
    """What is known to be wrong."""
    by_name_only: bool = False
    """Whether it is run only where it is named: it takes long."""
    brought: bool = False
    """Whether its data is a file of the caller's own, given with ``--data``."""
    by_hand: str | None = None
    """How to come by its data, as a sentence, where it has an owner and memeval cannot fetch it; ``None`` elsewhere."""
    released_digests: tuple[Digest, ...] = ()
    """Digests, unpacked, of released data that memeval cannot fetch; empty where its authors publish none."""

    @property
    def unverified(self) -> bool:
        """Whether nobody can tell its released data from an edited copy: memeval has no digest of it."""
        return self.by_hand is not None and not self.released_digests

    @property
    def generated(self) -> bool:
        """Whether memeval makes its data."""
        return not (self.sources or self.brought or self.by_hand)

    @property
    def items(self) -> int:
        """Items of the whole of it."""
        return sum(category.items for category in self.categories)

    def category(self, name: str) -> CategoryInfo | None:
        """Return one of the categories, of the benchmark or of a protocol's own; ``None`` where there is none."""
        every = (*self.categories, *(each for protocol in self.protocols for each in protocol.categories))
        return next((category for category in every if category.name == name), None)

    def source(self, name: str | None = None) -> Source | None:
        """Return one of the data files; the default one unless named, and ``None`` where there is no such file."""
        return next((source for source in self.sources if name in (None, source.name)), None)

    @property
    def name(self) -> str:
        """The id without its version."""
        return self.id.partition("@")[0]
