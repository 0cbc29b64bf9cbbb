"""The response of a system: answer, retrieved items and outcome."""

import re
from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from memeval.records.base import Digest, Record, Sorted, Stored

_FLOAT = re.compile(rb'":-?(?:0\.0000|[0-9.]+e)')
"""A float that pydantic and Python may write differently, such as ``1e-6`` and ``1e-06``."""


class Outcome(StrEnum):
    """The outcome of one question."""

    OK = "ok"
    EMPTY = "empty"
    """Blank text: a wrong answer, not an error."""
    TIMEOUT = "timeout"
    NOT_READY = "not_ready"
    """The system did not finish indexing in time."""
    ADAPTER_ERROR = "adapter_error"
    READER_ERROR = "reader_error"

    @property
    def is_error(self) -> bool:
        """Whether the system or its reader failed to answer."""
        return self not in ("ok", "empty")  # asked often, and in Python 3.11 Outcome.OK is a call


class RetrievedItem(Sorted):
    """One item that a system retrieved for a question."""

    turn_id: str | None = None
    """The ingested turn with the same text; the text is then not stored again."""
    dated: bool = False
    """Whether the text is the turn's dated line (``[date] speaker: content``) or its content alone."""
    text: str | None = None
    """The text; ``None`` if it equals an ingested turn."""
    source_ids: tuple[str, ...] = ()
    """Ordinals of the sessions or turns that the system names as the source."""
    score: float | None = None
    """The system's score, to six decimals; each system defines its meaning. The order of the items decides ranks."""


class ContextPart(Record):
    """A part of a context: an ingested turn, by id, or other text."""

    turn_id: str | None = None
    """The ingested turn with this text."""
    dated: bool = False
    """Whether the part is the turn's dated line (``[date] speaker: content``) or its content alone."""
    text: str | None = None
    """The text; ``None`` if it equals an ingested turn."""


class Context(Stored):
    """A context text, stored once for all its uses in a scenario. Newlines join the parts."""

    digest: Digest
    """Digest of the context's text."""
    scenario_id: str
    parts: tuple[ContextPart, ...]
    """The context, line by line."""


class Timings(Record):
    """Seconds on a monotonic clock, to the microsecond, without the time that the system waited for the model gateway.

    Comparisons of runs ignore them, since they differ between equal runs.
    """

    started: str
    """UTC time when the question was sent, ISO 8601."""
    ask_seconds: float | None = None
    """From sending the question to the last byte of the reply; ``None`` if the question was never sent. Old rows, from
    before the phase ``search`` existed, hold the time of ``search`` here."""
    search_seconds: float | None = None
    """The same for ``search``, if a reader answers."""
    read_seconds: float | None = None
    """Time of the reader; ``None`` without one."""
    take_in_seconds: float | None = None
    """Time to ingest the sessions since the previous question, including the reset before the first session; ``None``
    without such sessions."""
    take_in_sessions: int = 0
    """Number of these sessions."""
    retain_seconds: tuple[float, ...] = ()
    """Time for each text retained since the previous question, in order; included in ``take_in_seconds``."""
    settle_seconds: float | None = None
    """Time the system took to finish indexing; ``None`` if it has no ``settle``."""


class ReportedUsage(Sorted):
    """Model usage that the system reports. It is untrusted: shown with a mark, and never used for ranks."""

    prompt_tokens: int | None = Field(default=None, ge=0)
    """Tokens sent to models."""
    completion_tokens: int | None = Field(default=None, ge=0)
    """Tokens received from models."""
    cost_usd: float | None = Field(default=None, ge=0)


class Response(Stored, Sorted):
    """The response of a system to one question."""

    VOLATILE: ClassVar[frozenset[str]] = frozenset({"timings"})
    """See :class:`Stored`."""

    item_id: str
    scenario_id: str
    question_id: str
    attempt: int = Field(default=1, ge=1)
    """Number of the attempt, from 1. All attempts are stored, and the last one counts."""
    outcome: Outcome
    answer: str
    """The answer as returned, untrimmed; blank unless the outcome is ``ok``."""
    error: str | None = None
    """The error, as a sentence; ``None`` unless the outcome is an error."""
    items: tuple[RetrievedItem, ...] | None = None
    """Retrieved items, best first; ``None`` if the system does not report them."""
    context_digest: Digest | None = None
    """Digest of the context of the answer; ``None`` if none was returned."""
    context_tokens: int | None = None
    """Tokens of the context for this question, counted by memeval; ``None`` if none was returned."""
    reported_tokens: float | None = None
    """Context tokens that the system reports; ``None`` if it reports none."""
    reader_key: Digest | None = None
    """Key of the call in which a model reader answered; the calls of the run hold request and raw reply."""
    usage: ReportedUsage | None = None
    """Model usage that the system reports since its previous report; ``None`` if it reports none."""
    timings: Timings
    """Durations."""

    def comparable_json(self) -> bytes:
        text = self.model_dump_json(exclude=set(self.VOLATILE)).encode()
        return super().comparable_json() if _FLOAT.search(text) else text
