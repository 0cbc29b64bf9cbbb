"""A track: everything that must be equal before two numbers may be compared."""

from enum import StrEnum

from pydantic import Field

from memeval.records.base import Digest, Record, Share, digest_of


class Redistribution(StrEnum):
    """Whether a benchmark's text may be published."""

    FULL = "full"
    IDS = "ids"
    """Only ids, digests, spans and scores may be published."""


class Limits(Record):
    """Limits of a system for each call. They are part of the track: another limit is another track."""

    load_seconds: float = 60.0
    """Time limit for importing the adapter and creating an instance, in seconds."""
    reset_seconds: float = 30.0
    """``reset``."""
    take_in_seconds: float = 60.0
    """Time limit for one ``ingest_session``, in seconds."""
    settle_seconds: float = 300.0
    """``settle``."""
    ask_seconds: float = 60.0
    """Time limit for one ``query`` or ``search``, in seconds."""
    search_items: int = 10
    """Number of items to request from ``search``."""
    reply_bytes: int = 4_000_000
    """Maximum size of one reply, in bytes of UTF-8."""
    reader_tokens: int = 32_000
    """Maximum context of a model reader for one question, in tokens of the track's tokenizer."""
    scenario_calls: int = 20_000
    """Maximum number of model calls of a system in one pass over a scenario."""


class CategoryPlan(Record):
    """One category of a benchmark, as planned."""

    name: str
    weight: Share
    """Its share of the composite; weights of a benchmark sum to 1."""
    items: int = Field(ge=0)
    """Planned items: the fixed denominator."""
    grader: str
    shared: bool = False
    """Whether the weight is the category's share of the items, so that every item counts the same."""


class Track(Record):
    """Everything that must be equal before two numbers may be compared."""

    benchmark: str
    """Benchmark and version: ``deepmemeval@1``."""
    data_digest: Digest
    parameters: dict[str, str | int] = {}
    """Parameters of a generated benchmark, such as seed and size."""
    protocol: str
    """The protocol: how questions are asked and graded."""
    tier: str
    """The tier: subset or size of the data."""
    categories: tuple[CategoryPlan, ...]
    """The plan, by category."""
    reader: str
    """Who writes the answers: ``native``, or a reader with its version."""
    judge: str
    """The judge with its version: ``rules@3``."""
    judge_endpoint: str | None = None
    judge_label: str | None = None
    """The submitter's label for a judge whose endpoint is not its maker's."""
    reader_endpoint: str | None = None
    """Base URL of a model reader; ``None`` for ``native`` and the extractive reader."""
    prompts: dict[str, Digest] = {}
    tokenizer: str
    """The tokenizer for context tokens."""
    limits: Limits
    """Limits of a system for each call."""
    sample: Digest | None = None
    """Digest of the planned items' ids, joined by line feeds, if the tier is a sample; ``None`` for all items."""
    errata: Digest | None = None
    """Digest of the errata of the corrected scores; ``None`` without errata."""
    released: bool = True
    """Whether the benchmark's authors released this data; runs on other data are never ranked."""

    @property
    def digest(self) -> Digest:
        """Digest of its parts."""
        return digest_of(self.identity())

    @property
    def id(self) -> str:
        """Id of the track: the first twelve hexadecimal digits of its digest. Two can be found that have the same."""
        return self.digest[7:19]

    @property
    def planned(self) -> int:
        return sum(category.items for category in self.categories)


def differing_parts(one: Track, other: Track) -> list[str]:
    return [name for name in Track.model_fields if getattr(one, name) != getattr(other, name)]
