"""Dense retrieval over dated turns, with all-MiniLM-L6-v2."""

from __future__ import annotations

from typing import Any

import numpy as np
from minilm import DIMENSIONS, MiniLM


class Dense:
    """Brings up the turns whose vectors lie closest to the question's, of those said by the asked time."""

    def __init__(self) -> None:
        self.model = MiniLM()
        self.reset()

    def reset(self) -> None:
        self.lines: list[str] = []
        self.sources: list[str] = []
        self.dates: list[str] = []
        self.vectors = np.empty((0, DIMENSIONS), dtype=np.float32)

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        said = [f"{turn.get('speaker') or turn['role']}: {turn['content']}" for turn in session["turns"]]
        self.lines += [f"[{session['date']}] {text}" for text in said]
        self.sources += [turn["turn_id"] for turn in session["turns"]]
        self.dates += [session["date"]] * len(said)
        self.vectors = np.concatenate([self.vectors, self.model.embed(said)])

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        scores = self.vectors @ self.model.vector(query)
        known = [
            place
            for place in np.argsort(-scores, kind="stable")
            if timestamp == "now" or self.dates[place][: len(timestamp)] <= timestamp
        ]
        return [
            {"text": self.lines[place], "source_ids": [self.sources[place]], "score": float(scores[place])}
            for place in known[:k]
        ]

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every turn that is kept."""
        return [{"text": line, "source_ids": [source]} for line, source in zip(self.lines, self.sources, strict=True)]
