"""``traffic.jsonl``: the requests of a system to its declared hosts."""

from __future__ import annotations

from pydantic import Field

from memeval.records.base import Stored
from memeval.records.call import Phase


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
