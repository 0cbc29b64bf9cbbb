"""Calls of a run: to language and embedding models, with their prompts, and to other hosts."""

from enum import StrEnum
from functools import cached_property

from pydantic import Field, JsonValue, field_validator
from pydantic_core import from_json

from memeval.records.base import Digest, Record, Stored, canonical_json, digest_bytes, digest_of


class Phase(StrEnum):
    """A phase of a run, for which time, tokens and cost are summed."""

    INGEST = "take_in"
    SETTLE = "settle"
    SEARCH = "search"
    ASK = "ask"
    READ = "read"
    JUDGE = "judge"


class Caller(StrEnum):
    """The component that makes a call."""

    JUDGE = "judge"
    READER = "reader"
    SYSTEM = "system"


class Api(StrEnum):
    """The canonical request formats; requests of other dialects are converted."""

    CHAT = "chat.completions"
    EMBEDDINGS = "embeddings"


class ModelRequest(Record):
    """A request to a model: everything that is sent, except headers and keys."""

    endpoint: str
    """Base URL of the endpoint, without user, password, query or fragment."""
    api: Api
    """The canonical form of ``body``."""
    body: dict[str, JsonValue]
    """The JSON body, in the format of the OpenAI API. Its ``model`` is the requested model."""

    @field_validator("body")
    @classmethod
    def _has_canonical_json(cls, body: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """Reject NaN, infinities, lone surrogates and deep nesting: stored rows cannot contain them."""
        from_json(b"[[%b]]" % canonical_json(body).encode())  # in a row, two objects enclose it
        return body

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @cached_property
    def key(self) -> Digest:
        """The digest of the request's canonical JSON: the key of a judge's or a reader's call in the record.

        Computed once, since each step of a call needs it. A changed request is a new object, never a copy.
        """
        return digest_of(self.data())

    def key_in(self, scenario_id: str, ordinal: int) -> Digest:
        """Return the key of a system's call in the record.

        ``ordinal``: number of earlier equal requests in this pass over the scenario. Five samples of one prompt
        therefore have five keys.
        """
        return digest_of({"request": self.data(), "scenario": scenario_id, "ordinal": ordinal})


class Call(Stored):
    """One call to a model and its raw reply. A judge's or reader's call with a reply is never made again."""

    key: Digest
    """Digest of the canonical JSON of the request; for a system's call, of request, scenario and ordinal."""
    caller: Caller
    """The component that made it."""
    phase: Phase
    run_id: str | None = None
    """The run that paid for it; other runs reuse the record. ``None`` outside a run, as in an audit."""
    scenario_id: str | None = None
    """For a system's call: the scenario."""
    ordinal: int | None = Field(default=None, ge=0)
    """For a system's call: number of earlier equal requests in the same pass over the scenario."""
    request: ModelRequest
    """The request as sent."""
    reply: str | None
    """The body of the reply, unchanged and untrusted; ``None`` if no reply came. A streamed reply is stored in the
    format of a reply that is not streamed."""
    error: str | None = None
    """Why there is no usable reply, as a sentence; ``None`` if there is one."""
    model: str | None = None
    """The model that replied, as the reply names it."""
    fingerprint: str | None = None
    """The provider's fingerprint of the model that replied."""
    ended_early: str | None = None
    """The provider's word for the end of a reply that has text but is not complete, such as ``length`` or
    ``content_filter``; ``None`` if the model finished, or if the provider does not say."""
    prompt_tokens: int | None = Field(default=None, ge=0)
    """Tokens of the request, counted by the provider; for a failed call, of all attempts."""
    completion_tokens: int | None = Field(default=None, ge=0)
    """Tokens of the reply, counted by the provider; for a failed call, of all attempts."""
    cost_usd: float | None = Field(default=None, ge=0)
    """Dollars, by the dated price list; ``None`` (never 0) if the price is unknown. For a failed call, of all attempts
    that the provider counted."""
    seconds: float | None = None
    """Service time in seconds: from sending the last attempt to the last byte of its reply."""
    queued_seconds: float | None = None
    """Waiting time in seconds: for a free slot, a rate limit or a budget, and between attempts."""
    tries: int = Field(default=1, ge=0)
    """Number of times it was sent; 0 if it was rejected before sending."""
    at: str
    """UTC time of the first attempt, ISO 8601."""

    @property
    def tokens(self) -> int | None:
        """All tokens; ``None`` if the provider did not count them."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens

    @property
    def is_unpriced(self) -> bool:
        """Whether the model replied, as far as known, and the price is unknown; false for other failed calls."""
        return self.cost_usd is None and (self.error is None or self.tokens is not None)


class UsageSource(StrEnum):
    """The source of the counts of tokens and dollars."""

    MEASURED = "measured"
    """memeval's gateway."""
    SELF_REPORTED = "self-reported"
    """The system."""


class Seconds(Record):
    """Percentiles of a duration, over the calls of a phase."""

    p50: float
    p95: float


class PhaseUsage(Record):
    """Tokens, cost and time of the model calls of one phase."""

    source: UsageSource
    calls: int = Field(ge=0)
    """Calls that this run made and paid for, including failed calls."""
    failed: int = Field(default=0, ge=0)
    """Number of these calls without a usable reply."""
    cached: int = Field(default=0, ge=0)
    """Calls answered from the record: an earlier run made and paid for them."""
    prompt_tokens: int | None = None
    """Sum over the calls made; ``None`` if not counted."""
    completion_tokens: int | None = None
    """Sum over the calls made; ``None`` if not counted."""
    usd: float | None = None
    """Dollars of the calls made; ``None`` if at least one has no known price."""
    unpriced: int = Field(default=0, ge=0)
    """Calls with a reply but no known price."""
    models: tuple[str, ...] = ()
    """The models that replied, as the replies name them, sorted."""
    cached_usd: float | None = None
    """Original cost in dollars of the calls answered from the record; ``None`` without such calls, or if at least one
    has no known price."""
    service: Seconds | None = None
    """From sending to the last byte; ``None`` if no call has a time."""
    queue: Seconds | None = None
    """Waiting for a free slot, a rate limit or a budget, and between attempts."""


class Prompt(Stored):
    """The text of one prompt, with placeholders."""

    name: str
    """Its name, as in the track's ``prompts``."""
    text: str
    """The text, with its placeholders."""

    @property
    def digest(self) -> Digest:
        """The digest of the text's bytes, as in the track."""
        return digest_bytes(self.text.encode())


class Traffic(Stored):
    """One request of a system to a network host: its metadata, never its content."""

    at: str
    """UTC time of its arrival at memeval, ISO 8601."""
    host: str = Field(max_length=253)
    """The requested host, as the system named it."""
    method: str = Field(max_length=32)
    """The HTTP method."""
    path: str = Field(max_length=1000)
    """The path, without the query; shortened if it is too long."""
    status: int | None = None
    """The HTTP status of the reply; ``None`` if no reply came, or nothing was sent."""
    sent_bytes: int = Field(ge=0)
    """Forwarded bytes of the request's body."""
    received_bytes: int = Field(ge=0)
    """Forwarded bytes of the reply's body."""
    seconds: float = Field(ge=0)
    """Time from its arrival to the last byte of the reply; it counts as time of the system."""
    scenario_id: str | None = None
    """The scenario; ``None`` while the system loads."""
    phase: Phase
    error: str | None = None
    """Why it was rejected or interrupted; ``None`` if the whole reply was forwarded."""
