"""A system that remembers nothing."""

from __future__ import annotations

from typing import Any


class NoMemory:
    """Takes everything in, keeps nothing, says nothing."""

    def reset(self) -> None:
        """Forget nothing."""

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        """Let it pass."""

    def query(self, question: str, timestamp: str = "now") -> str:
        return ""

    def search(self, query: str, k: int, timestamp: str = "now") -> list[str]:
        return []
