"""A system whose memory is the whole history, word for word."""

from __future__ import annotations

from typing import Any


class FullContext:
    """Hands over every turn, as dated lines in the order they were taken in."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def reset(self) -> None:
        self.lines.clear()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            self.lines.append(f"[{session['date']}] {turn.get('speaker') or turn['role']}: {turn['content']}")

    def search(self, query: str, k: int, timestamp: str = "now") -> dict[str, Any]:
        return {"context": "\n".join(self.lines)}
