"""``log.jsonl``: the event log of a run."""

from __future__ import annotations

from memeval.records.base import Stored


class LogLine(Stored):
    """One event of a run."""

    at: str
    """UTC time, ISO 8601."""
    event: str
    """The event, in one or two words."""
    detail: str | None = None
    """Details. Text from a system is shortened, and secrets are redacted."""
    scenario_id: str | None = None
    """The scenario; ``None`` outside a scenario."""
