"""A system that doubts everything."""

from __future__ import annotations

from typing import Any

HEDGE = "I am not sure: what I know about this may be out of date, so please confirm it."


class AlwaysHedge:
    """Answers every question with the same doubt."""

    def reset(self) -> None:
        """Forget nothing."""

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        """Let it pass."""

    def query(self, question: str, timestamp: str = "now") -> str:
        return HEDGE
