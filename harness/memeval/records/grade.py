"""What an item is worth, and what a judge said about it."""

from __future__ import annotations

from enum import StrEnum

from pydantic import JsonValue, field_validator

from memeval.records.base import Digest, Record, Stored, canonical_json


class GradeState(StrEnum):
    """What came of grading one item."""

    GRADED = "graded"
    EMPTY = "empty"
    """The answer was blank: wrong, and not an error."""
    UNPARSED = "unparsed"
    """The judge's reply was neither yes nor no."""
    JUDGE_ERROR = "judge_error"
    TIMEOUT = "timeout"
    NOT_READY = "not_ready"
    ADAPTER_ERROR = "adapter_error"
    READER_ERROR = "reader_error"

    @property
    def is_error(self) -> bool:
        """Whether there is no verdict: such an item counts as wrong, and is left out of accuracy over graded items."""
        return self not in (GradeState.GRADED, GradeState.EMPTY)


class Flag(StrEnum):
    """Something a reader of the board should know about a grade."""

    CONTEXT_DUMP = "context-dump"
    """The answer holds most of the history."""
    HEDGED = "hedged"
    """The answer voices doubt."""
    TOKEN_MISMATCH = "token-mismatch"  # noqa: S105
    """Tokens counted by memeval and reported by the system differ by more than a tenth."""
    SELF_REPORTED_TOKENS = "self-reported-tokens"
    """The grade rests on the system's own count of tokens."""


class Grade(Stored):
    """What one item is worth."""

    item_id: str
    """The item."""
    category: str
    """The benchmark's category the item counts in."""
    cluster: str
    """Items that share a cluster (a person, a conversation) are not independent of one another."""
    slices: dict[str, str]
    """Declared slices the item belongs to, such as ``difficulty: hard``."""
    grader: str
    """Name and version of the grader."""
    state: GradeState
    """What came of grading."""
    verdict: bool | None
    """Right or wrong; ``None`` unless the state is ``graded`` or ``empty``."""
    value: float | None = None
    """The measured value behind the verdict (delta efficiency), where there is one."""
    reason: str | None = None
    """Why, in one sentence."""
    flags: tuple[Flag, ...] = ()
    """What a reader of the board should know."""
    answerable: bool = True
    """Whether a plain answer is right, so that a hedge is a fault; false where doubt is asked for, and where answers
    are not read for doubt."""
    alternates: dict[str, bool] = {}
    """Verdicts under other declared rules (``published``, ``gated``), by name."""
    metrics: dict[str, float | None] = {}
    """Further measurements, by name; ``None`` where undefined."""
    judgment_key: Digest | None = None
    """The judgment that decided, where a judge was asked."""


class Judgment(Stored):
    """One request to a judge and its raw reply. A recorded judgment is never asked again."""

    key: Digest
    """Digest of the canonical JSON of the request."""
    item_id: str
    """The item it was first asked for."""
    request: dict[str, JsonValue]
    """The request as sent, without headers or keys."""
    reply: str
    """The raw reply."""
    fingerprint: str | None = None
    """The provider's own fingerprint of the model that replied."""
    prompt_tokens: int | None = None
    """Tokens of the request, as the provider counted them."""
    completion_tokens: int | None = None
    """Tokens of the reply, as the provider counted them."""
    cost_usd: float | None = None
    """Dollars, by the dated price list; ``None`` where the model has no known price."""
    seconds: float | None = None
    """From sending to the last byte."""

    @field_validator("request")
    @classmethod
    def _has_canonical_json(cls, request: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """Refuse NaN, infinities and lone surrogates, which no stored row can hold."""
        canonical_json(request).encode()
        return request


class FlagCount(Record):
    """How often a flag was raised."""

    flag: Flag
    """The flag."""
    items: int
    """On how many items."""
