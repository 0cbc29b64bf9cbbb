"""A system that returns everything it was given, the newest first."""

from __future__ import annotations

from typing import Any


class ExpectedTurns:
    """Hands over every turn as an item. It is given only the turns that the answer key names."""

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []

    def reset(self) -> None:
        self.items.clear()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            line = f"[{session['date']}] {turn.get('speaker') or turn['role']}: {turn['content']}"
            self.items.append({"text": line, "source_ids": [turn["turn_id"]]})

    def search(self, query: str, k: int, timestamp: str = "now") -> dict[str, Any]:
        return {"items": self.items[::-1]}
