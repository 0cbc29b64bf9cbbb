"""A search by words alone that prefers the newest of equal turns."""

from __future__ import annotations

import heapq
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any


def bm25() -> ModuleType:
    """Return a new instance of the module of the control BM25."""
    file = Path(__file__).parents[3] / "systems/controls/bm25.py"
    spec = importlib.util.spec_from_file_location("bm25", file)
    if spec is None or spec.loader is None:
        raise RuntimeError("the control BM25 is not there.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class NewestOfEquals:
    """Scores turns by their words without regard to length, so that alike turns are equal; the newest comes first."""

    def __init__(self) -> None:
        self.module = bm25()
        self.module.B = 0  # type: ignore[attr-defined]
        self.finder = self.module.BM25()

    def reset(self) -> None:
        self.finder.reset()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.finder.ingest_session(session, timestamp)

    def search(self, query: str, k: int, timestamp: str = "now") -> dict[str, Any]:
        scores = self.finder.scores(set(self.module.terms(query)))
        best = heapq.nsmallest(k, ((-score, -place) for place, score in enumerate(scores) if score > 0))
        turns = [self.finder.turns[-minus_place] for _, minus_place in best]
        items = [{"text": line, "source_ids": [turn_id]} for turn_id, line in turns]
        return {"context": "\n".join(line for _, line in turns), "items": items}
