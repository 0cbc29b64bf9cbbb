"""A track: everything that must be equal before two numbers may be compared."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from memeval.records.base import Digest, Record, Share, digest_of


class Redistribution(StrEnum):
    """Whether a benchmark's text may be published."""

    FULL = "full"
    IDS = "ids"
    """Only ids, digests, spans and scores may be."""


class Limits(Record):
    """What a system is allowed, per call. Part of the track: a longer limit is another track."""

    load_seconds: float = 60.0
    """Importing the adapter and making an instance."""
    reset_seconds: float = 30.0
    """``reset``."""
    take_in_seconds: float = 60.0
    """``ingest_session``, each."""
    settle_seconds: float = 300.0
    """``settle``."""
    ask_seconds: float = 60.0
    """``query`` or ``search``, each."""
    search_items: int = 10
    """How many items are asked of ``search``."""
    reply_bytes: int = 4_000_000
    """The longest reply to one call, in bytes of UTF-8."""
    reader_tokens: int = 32_000
    """The most context, in tokens of the track's tokenizer, that a model reader is sent for one question."""
    scenario_calls: int = 20_000
    """How many model calls a system may make in one pass over a scenario."""


class CategoryPlan(Record):
    """One category of a benchmark, as planned."""

    name: str
    """The category."""
    weight: Share
    """Its share of the composite; weights of a benchmark sum to 1."""
    items: int = Field(ge=0)
    """Planned items: the fixed denominator."""
    grader: str
    """Name and version of the grader."""
    shared: bool = False
    """Whether the weight is the category's share of the items, so that every item counts the same."""


class Track(Record):
    """Everything that must be equal before two numbers may be compared."""

    benchmark: str
    """Benchmark and version: ``deepmemeval@1``."""
    data_digest: Digest
    """Digest of the data the scenarios and keys were read from."""
    parameters: dict[str, str | int] = {}
    """Parameters of a generated benchmark, such as seed and size."""
    protocol: str
    """The way of asking and grading."""
    tier: str
    """The named choice of the data."""
    categories: tuple[CategoryPlan, ...]
    """What is planned, by category."""
    reader: str
    """Who answers: ``native``, or a reader with its version."""
    judge: str
    """The judge with its version: ``rules@1``."""
    judge_endpoint: str | None = None
    """Base URL at which a model judge is reached; ``None`` for the rule set."""
    judge_label: str | None = None
    """What the submitter calls a judge at an endpoint that is not its maker's."""
    reader_endpoint: str | None = None
    """Base URL at which a model reader is reached; ``None`` for ``native`` and the extractive reader."""
    prompts: dict[str, Digest] = {}
    """Digest of every prompt in use, by name."""
    tokenizer: str
    """What context tokens are counted with."""
    limits: Limits
    """What a system is allowed, per call."""
    sample: Digest | None = None
    """Digest of the planned items' ids, joined by line feeds, where the tier is a sample; ``None`` for all of them."""
    errata: Digest | None = None
    """Digest of the errata that corrected scores follow; ``None`` where there are none."""
    released: bool = True
    """Whether the data is what the benchmark's authors released; runs on other data are never ranked."""

    @property
    def id(self) -> str:
        """The track's id: twelve hexadecimal digits of the hash of its parts."""
        return digest_of(self.identity())[7:19]

    @property
    def planned(self) -> int:
        """The number of planned items."""
        return sum(category.items for category in self.categories)
