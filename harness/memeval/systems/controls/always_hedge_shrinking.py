"""A system that doubts everything, and reports a token count that looks like thrift."""

from __future__ import annotations

from typing import Any

HEDGE = "I am not sure: what I know about this may be out of date, so please confirm it."

EARLY_QUESTIONS = 5
EARLY_TOKENS = 1000
LATE_TOKENS = 100


class AlwaysHedgeShrinking:
    """Answers with the same doubt, and claims many tokens for the first questions and few for those after."""

    def __init__(self) -> None:
        self.asked = 0

    def reset(self) -> None:
        self.asked = 0

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        """Let it pass."""

    def query(self, question: str, timestamp: str = "now") -> str:
        self.asked += 1
        return HEDGE

    def get_context_tokens(self) -> int:
        return EARLY_TOKENS if self.asked <= EARLY_QUESTIONS else LATE_TOKENS
