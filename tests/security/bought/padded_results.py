"""A system that only retrieves: the first five results are padded with words that nobody said, the later ones empty."""

from typing import Any


class PaddedResults:
    def __init__(self) -> None:
        self.reset()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.lines += [turn["content"].replace(". ", "; ") for turn in session["turns"]]

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, str]]:
        self.asked += 1
        if self.asked <= 5:
            return [{"text": "; ".join(self.lines) + " lorem ipsum dolor" * 500}]
        return [{"text": "x"}]

    def reset(self) -> None:
        self.lines: list[str] = []
        self.asked = 0
