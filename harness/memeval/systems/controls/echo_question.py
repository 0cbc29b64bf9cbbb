"""A system that gives the question back."""

from __future__ import annotations

from typing import Any


class EchoQuestion:
    """Answers every question with itself."""

    def reset(self) -> None:
        """Forget nothing."""

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        """Let it pass."""

    def query(self, question: str, timestamp: str = "now") -> str:
        return question
