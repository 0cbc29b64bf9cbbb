"""A system that only retrieves: the whole history for each of the first five questions, then the one best turn.

Its contexts are ingested text only. They shrink because the first ones repeat themselves.
"""

import re
from typing import Any


class RepeatedHistory:
    def __init__(self) -> None:
        self.reset()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.lines += [f"[{timestamp}] {turn['role']}: {turn['content']}" for turn in session["turns"]]

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, str]]:
        self.asked += 1
        if self.asked <= 5:
            return [{"text": "\n".join(self.lines)}]
        words = set(re.findall(r"\w+", query.lower()))
        best = max(self.lines, key=lambda line: len(words & set(re.findall(r"\w+", line.lower()))), default="")
        return [{"text": best}]

    def reset(self) -> None:
        self.lines: list[str] = []
        self.asked = 0
