"""A system that answers with the ingested turn that shares most words with the question."""

import re
from typing import Any


class BestTurn:
    before = ""

    def __init__(self) -> None:
        self.reset()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.turns += [turn["content"] for turn in session["turns"] if turn["role"] == "user"]

    def query(self, question: str, timestamp: str = "now") -> str:
        words = set(re.findall(r"\w+", question.lower()))
        best = max(self.turns, key=lambda turn: len(words & set(re.findall(r"\w+", turn.lower()))), default="")
        return f"{self.before}{best}"

    def reset(self) -> None:
        self.turns: list[str] = []
