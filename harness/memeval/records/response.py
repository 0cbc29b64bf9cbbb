"""What a system gave: the answer, what it retrieved, and what came of the question."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from memeval.records.base import Digest, Record, Stored


class Outcome(StrEnum):
    """What came of one question."""

    OK = "ok"
    EMPTY = "empty"
    """Blank text: an answer, and a wrong one."""
    TIMEOUT = "timeout"
    NOT_READY = "not_ready"
    """The system did not finish indexing in time."""
    ADAPTER_ERROR = "adapter_error"
    READER_ERROR = "reader_error"

    @property
    def is_error(self) -> bool:
        """Whether the system (or its reader) failed, rather than answered."""
        return self not in (Outcome.OK, Outcome.EMPTY)


class RetrievedItem(Record):
    """One piece of memory a system brought up for a question."""

    turn_id: str | None = None
    """The ingested turn whose text the item's text equals; it is then not stored again."""
    dated: bool = False
    """Whether the item's text is the turn's dated line (``[date] speaker: content``) or its bare content."""
    text: str | None = None
    """The item's text, where it equals no ingested turn."""
    source_ids: tuple[str, ...] = ()
    """Ordinals of the sessions or turns the system says the item came from."""
    score: float | None = None
    """The system's own score; its meaning is the system's."""


class ContextPart(Record):
    """A stretch of a context: either an ingested turn, by id, or text of the system's own."""

    turn_id: str | None = None
    """The ingested turn whose text stands here."""
    dated: bool = False
    """Whether the turn stands here as a dated line (``[date] speaker: content``) or as its bare content."""
    text: str | None = None
    """The text, where it equals no ingested turn."""


class Context(Stored):
    """A distinct context text, stored once. Parts are joined by newlines."""

    digest: Digest
    """Digest of the context's text."""
    scenario_id: str
    """The scenario whose turns the parts name."""
    parts: tuple[ContextPart, ...]
    """The context, line by line."""


class Timings(Record):
    """Seconds on a monotonic clock, without those for which memeval kept the system waiting for models.

    Never the same twice, so left out when runs are compared.
    """

    started: str
    """UTC time at which the question was sent, ISO 8601."""
    ask_seconds: float | None = None
    """From sending the question to the last byte of the reply; ``None`` where the question was never sent. Rows of
    before the phase ``search`` was kept apart have the time of ``search`` here."""
    search_seconds: float | None = None
    """The same for ``search``, where a reader answers."""
    read_seconds: float | None = None
    """Spent by the reader, where one answered."""
    take_in_seconds: float | None = None
    """Spent taking in the sessions since the question before, the reset before the first of them included; ``None``
    where there were none."""
    take_in_sessions: int = 0
    """How many sessions those were."""
    retain_seconds: tuple[float, ...] = ()
    """Spent on each single text retained since the question before, in order; they are part of ``take_in_seconds``."""
    settle_seconds: float | None = None
    """Spent waiting for the system to finish indexing; ``None`` where it offers no ``settle``."""


class ReportedUsage(Record):
    """A system's own account of its model calls. Text from outside: shown, marked, and never ranked on."""

    prompt_tokens: int | None = Field(default=None, ge=0)
    """Tokens it sent."""
    completion_tokens: int | None = Field(default=None, ge=0)
    """Tokens it received."""
    cost_usd: float | None = Field(default=None, ge=0)
    """Dollars it spent."""


class Response(Stored):
    """What a system gave for one question."""

    VOLATILE: ClassVar[frozenset[str]] = frozenset({"timings"})
    """Fields that differ between equal runs."""

    item_id: str
    """The item this question counts towards."""
    scenario_id: str
    """The scenario the question stands in."""
    question_id: str
    """The question."""
    attempt: int = Field(default=1, ge=1)
    """1, unless errors were tried again; every attempt stays on record and the last one counts."""
    outcome: Outcome
    """What came of the question."""
    answer: str
    """The answer as returned, before any trimming; blank unless the outcome is ``ok``."""
    error: str | None = None
    """What went wrong, as a sentence; ``None`` unless the outcome is an error."""
    items: tuple[RetrievedItem, ...] | None = None
    """What the system retrieved, best first; ``None`` where it does not say."""
    context_digest: Digest | None = None
    """The context this question was answered from, by digest; ``None`` where none was returned."""
    context_tokens: int | None = None
    """Tokens of the context delivered for this question, counted by memeval; ``None`` where none was returned."""
    reported_tokens: float | None = None
    """Tokens of context by the system's own account; ``None`` where it gave none."""
    reader_key: Digest | None = None
    """The call in which a model reader answered, by its key: request and raw reply are in the calls of the run."""
    usage: ReportedUsage | None = None
    """What the system says its model calls took since it said so last; ``None`` where it does not say."""
    timings: Timings
    """How long things took."""

    def comparable(self) -> dict[str, object]:
        """Return the row without what differs between equal runs."""
        return {name: value for name, value in self.data().items() if name not in self.VOLATILE}
