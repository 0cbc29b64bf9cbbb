"""``traffic.jsonl``: what a system exchanged with the hosts that it declares."""

from __future__ import annotations

from pydantic import Field

from memeval.records.base import Stored
from memeval.records.call import Phase


class Traffic(Stored):
    """One request of a system's to a host on the network: that it was made, never what it said."""

    at: str
    """UTC time at which it arrived at memeval, ISO 8601."""
    host: str = Field(max_length=253)
    """The host it was meant for, as the system named it."""
    method: str = Field(max_length=32)
    """The HTTP method."""
    path: str = Field(max_length=1000)
    """The path at the host, without the query; cut where it is longer."""
    status: int | None = None
    """The status that the host replied with; ``None`` where no reply came, or nothing was sent."""
    sent_bytes: int = Field(ge=0)
    """Bytes of the request's body that were passed on."""
    received_bytes: int = Field(ge=0)
    """Bytes of the reply's body that were passed on."""
    seconds: float = Field(ge=0)
    """From its arrival to the last byte of the reply; the host's service is the system's own time."""
    scenario_id: str | None = None
    """The scenario it was made in; ``None`` while the system loaded."""
    phase: Phase
    """What the system was doing."""
    error: str | None = None
    """Why it was refused, or broke off; ``None`` where the whole reply was passed on."""
