"""LangGraph's store as a memory: one item a turn in its InMemoryStore, searched by vectors."""

from __future__ import annotations

from typing import Any

from langgraph.store.memory import InMemoryStore
from minilm import DIMENSIONS, MiniLM

NAMESPACE = ("memories",)

DIGITS = 4
"""Decimal places of a score. Later ones differ between machines, and nothing depends on them."""


class LangGraphStore:
    """Puts each turn into the store, and returns what its search finds."""

    def __init__(self) -> None:
        self.model = MiniLM()
        self.reset()

    def reset(self) -> None:
        self.store = InMemoryStore(index={"dims": DIMENSIONS, "embed": self.embed, "fields": ["text"]})

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text. LangGraph has no embedder of its own, and accepts a function."""
        vectors: list[list[float]] = self.model.embed(texts).tolist()
        return vectors

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            text = f"{turn.get('speaker') or turn['role']}: {turn['content']}"
            self.store.put(NAMESPACE, turn["turn_id"], {"text": text, "date": session["date"], **day(session["date"])})

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        known = {} if timestamp == "now" else {"day": {"$lte": day(timestamp)["day"]}}
        found = self.store.search(NAMESPACE, query=query, filter=known or None, limit=k)
        return [{**item(memory), "score": round(memory.score, DIGITS)} for memory in found]

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every turn that is kept."""
        return [item(memory) for memory in self.store.search(NAMESPACE, limit=1_000_000)]


def item(memory: Any) -> dict[str, Any]:
    """Return an item of the store as memeval takes it, with the date of its session before its text."""
    return {"text": f"[{memory.value['date']}] {memory.value['text']}", "source_ids": [memory.key]}


def day(date: str) -> dict[str, int]:
    """Return the day of an ISO 8601 date as a number that the store can compare: YYYYMMDD."""
    return {"day": int(date[:10].replace("-", ""))}
