"""MemoryCD's first way of choosing what is remembered: all reviews, or the last of them."""

from __future__ import annotations

from typing import Any


class LongContext:
    """Brings up the last texts, whatever is asked.

    Args:
        max_items: how many; 0 for all.
    """

    def __init__(self, max_items: int = 0) -> None:
        self.max_items = max_items
        self.reset()

    def reset(self) -> None:
        self.texts: list[tuple[str, str]] = []

    def retain(self, content: str, source_id: str = "") -> None:
        self.texts.append((source_id, content))

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        said = ((turn.get("speaker") or turn["role"], turn["content"]) for turn in session["turns"])
        self.retain("\n".join(f"[{timestamp}] {who}: {what}" for who, what in said), session["session_id"])

    def search(self, query: str, k: int, timestamp: str = "now") -> dict[str, Any]:
        kept = self.texts[-self.max_items :] if self.max_items else self.texts
        latest = [{"text": text, "source_ids": [source]} for source, text in reversed(kept[-k:])]
        return {"context": "\n\n".join(text for _source, text in kept), "items": latest}
