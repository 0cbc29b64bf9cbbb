"""What a benchmark says of itself, as data."""

from __future__ import annotations

from memeval.records.base import Digest, Record
from memeval.records.track import Redistribution


class CategoryInfo(Record):
    """One category of a benchmark."""

    name: str
    """Its name in files."""
    title: str
    """Its name for people."""
    weight: float
    """Its share of the composite."""
    items: int
    """Items in the full tier."""
    tests: str
    """What it tests, in a sentence or two."""
    graded: str
    """How it is graded, in a sentence or two."""
    answerable: bool = True
    """Whether a plain answer is right; false where doubt is asked for."""


class Source(Record):
    """A file a benchmark's data comes from."""

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
    citation: str | None
    """What to cite."""
    homepage: str | None
    """Where it lives."""
    source: Source | None
    """Its data file; ``None`` where memeval generates the data."""
    protocols: tuple[str, ...]
    """Ways of asking and grading, the default first."""
    tiers: tuple[str, ...]
    """Named choices of the data, the default first."""
    categories: tuple[CategoryInfo, ...]
    """Its categories, in the order of its own table."""
    alternates: dict[str, str] = {}
    """Other declared rules the same answers are scored under, by name, each with a sentence."""
    defects: tuple[Defect, ...] = ()
    """What is known to be wrong."""

    @property
    def name(self) -> str:
        """The id without its version."""
        return self.id.partition("@")[0]
