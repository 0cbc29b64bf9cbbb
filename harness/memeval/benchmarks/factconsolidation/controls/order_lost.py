"""A search by words alone that loses the order of what it ingested."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Any


def bm25() -> Any:
    """Return a new instance of the control BM25."""
    file = Path(__file__).parents[3] / "systems/controls/bm25.py"
    spec = importlib.util.spec_from_file_location("bm25", file)
    if spec is None or spec.loader is None:
        raise RuntimeError("the control BM25 is not there.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BM25()


class OrderLost:
    """Indexes all turns in the order of the hashes of their texts, so that nothing tells which came first."""

    def __init__(self) -> None:
        self.finder = bm25()
        self.sessions: list[dict[str, Any]] = []

    def reset(self) -> None:
        self.finder.reset()
        self.sessions.clear()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.finder.reset()
        self.sessions += ({**session, "turns": [turn]} for turn in session["turns"])

    def search(self, query: str, k: int, timestamp: str = "now") -> dict[str, Any]:
        if not self.finder.turns:
            for session in sorted(self.sessions, key=_hash):
                self.finder.ingest_session(session, session["date"])
        found: dict[str, Any] = self.finder.search(query, k, timestamp)
        return found


def _hash(session: dict[str, Any]) -> str:
    return hashlib.sha256(session["turns"][0]["content"].encode()).hexdigest()
