"""A system that fails at every question."""

from __future__ import annotations

from typing import Any


class AlwaysError:
    """Takes everything in, and raises when it is asked."""

    def reset(self) -> None:
        """Forget nothing."""

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        """Let it pass."""

    def query(self, question: str, timestamp: str = "now") -> str:
        raise RuntimeError("this control always fails")
