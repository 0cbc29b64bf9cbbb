"""``log.jsonl``: what happened when, as part of the run."""

from __future__ import annotations

from memeval.records.base import Stored


class LogLine(Stored):
    """One thing that happened while a run lasted."""

    at: str
    """UTC time, ISO 8601."""
    event: str
    """What happened, in a word or two."""
    detail: str | None = None
    """More about it; text from a system is cut, and secrets are blotted out."""
    scenario_id: str | None = None
    """The scenario it happened in, where there is one."""
