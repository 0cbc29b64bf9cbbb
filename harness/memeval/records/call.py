"""One call to a language or embedding model: what was asked, the raw reply, and what it took."""

from __future__ import annotations

from enum import StrEnum
from functools import cached_property

from pydantic import Field, JsonValue, field_validator

from memeval.records.base import Digest, Record, Stored, canonical_json, digest_of


class Phase(StrEnum):
    """Where time, tokens and money go."""

    INGEST = "take_in"
    SETTLE = "settle"
    SEARCH = "search"
    ASK = "ask"
    READ = "read"
    JUDGE = "judge"


class Caller(StrEnum):
    """Who makes a call."""

    JUDGE = "judge"
    READER = "reader"
    SYSTEM = "system"


class Api(StrEnum):
    """The canonical forms that every dialect is brought into."""

    CHAT = "chat.completions"
    EMBEDDINGS = "embeddings"


class ModelRequest(Record):
    """What is asked of a model: the whole of what is sent, without headers or keys."""

    endpoint: str
    """Base URL it goes to, without user, password, query or fragment."""
    api: Api
    """The canonical form of ``body``."""
    body: dict[str, JsonValue]
    """The JSON body, in the form of the OpenAI API. Its ``model`` is the model asked for."""

    @field_validator("body")
    @classmethod
    def _has_canonical_json(cls, body: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """Refuse NaN, infinities and lone surrogates, which no stored row can hold."""
        canonical_json(body).encode()
        return body

    @property
    def model(self) -> str:
        """The model asked for."""
        return str(self.body.get("model", ""))

    @cached_property
    def key(self) -> Digest:
        """The digest of the request's canonical JSON: what a judge's or a reader's call is recorded under.

        It is worked out once, for every step of a call asks for it; a changed request is made anew, never copied.
        """
        return digest_of(self.data())

    def key_in(self, scenario_id: str, ordinal: int) -> Digest:
        """Return what a system's call is recorded under.

        Args:
            scenario_id: the scenario the system was in.
            ordinal: how many times it had made this very request in this pass over the scenario before; so that
                sampling one prompt five times stays five samples.
        """
        return digest_of({"request": self.data(), "scenario": scenario_id, "ordinal": ordinal})


class Call(Stored):
    """One call to a model and its raw reply. A judge's or reader's call with a reply is never made again."""

    key: Digest
    """Digest of the canonical JSON of the request; for a system's call, of request, scenario and ordinal."""
    caller: Caller
    """Who made it."""
    phase: Phase
    """What it was made in."""
    run_id: str | None = None
    """The run that paid for it; other runs have it from the record. ``None`` outside of runs (an audit)."""
    scenario_id: str | None = None
    """For a system's call: the scenario it was made in."""
    ordinal: int | None = Field(default=None, ge=0)
    """For a system's call: how many times the same request was made before it in the same pass over the scenario."""
    request: ModelRequest
    """The request as sent."""
    reply: str | None
    """The body of the reply as it came, text that may be anything; ``None`` where none came. A streamed reply is put
    together into the form that is not streamed."""
    error: str | None = None
    """Why there is no reply that could be used, as a sentence; ``None`` where there is one."""
    model: str | None = None
    """The model that replied, by its own account."""
    fingerprint: str | None = None
    """The provider's own fingerprint of the model that replied."""
    prompt_tokens: int | None = Field(default=None, ge=0)
    """Tokens of the request, as the provider counted them."""
    completion_tokens: int | None = Field(default=None, ge=0)
    """Tokens of the reply, as the provider counted them."""
    cost_usd: float | None = Field(default=None, ge=0)
    """Dollars, by the dated price list; ``None`` where the model has no known price: never 0 for that."""
    seconds: float | None = None
    """Service: from sending the last try to the last byte of its reply."""
    queued_seconds: float | None = None
    """All the rest: waiting for a place, for a rate, for a budget, and between tries."""
    tries: int = Field(default=1, ge=0)
    """How many times it was sent until it was answered or given up; 0 where it was refused and never sent."""
    at: str
    """UTC time at which it was first sent, ISO 8601."""


class UsageSource(StrEnum):
    """Who counted tokens and dollars."""

    MEASURED = "measured"
    """memeval's gateway."""
    SELF_REPORTED = "self-reported"
    """The system."""


class Seconds(Record):
    """Percentiles of a duration, over the calls of a phase."""

    p50: float
    """Median."""
    p95: float
    """95th percentile."""


class PhaseUsage(Record):
    """What the model calls of one phase took."""

    source: UsageSource
    """Who counted."""
    calls: int = Field(ge=0)
    """Calls made and paid for by this run, failed ones included."""
    failed: int = Field(default=0, ge=0)
    """How many of them brought no usable reply."""
    cached: int = Field(default=0, ge=0)
    """Calls answered from the record: made and paid for by an earlier run."""
    prompt_tokens: int | None = None
    """Sum over the calls made; ``None`` where nobody counted."""
    completion_tokens: int | None = None
    """Sum over the calls made; ``None`` where nobody counted."""
    usd: float | None = None
    """Dollars of the calls made; ``None`` where at least one has no known price."""
    unpriced: int = Field(default=0, ge=0)
    """Calls made with a reply and no known price."""
    models: tuple[str, ...] = ()
    """The models that replied, by their own account, sorted."""
    cached_usd: float | None = None
    """What the calls answered from the record cost when they were made; ``None`` where there are none, or where at
    least one has no known price."""
    service: Seconds | None = None
    """From sending to the last byte; ``None`` where no call has a time."""
    queue: Seconds | None = None
    """Waiting for a place, a rate or a budget, and between tries."""
