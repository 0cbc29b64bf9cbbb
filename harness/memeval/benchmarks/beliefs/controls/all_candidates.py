"""A system that names everything that could be the answer."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

CANDIDATES = 10
"""Number of turns in an answer."""


def bm25() -> Any:
    """Return a new instance of the control BM25."""
    file = Path(__file__).parents[3] / "systems/controls/bm25.py"
    spec = importlib.util.spec_from_file_location("bm25", file)
    if spec is None or spec.loader is None:
        raise RuntimeError("the control BM25 is not there.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BM25()


class AllCandidates:
    """Returns every turn that shares a word with the question, and answers with all of the best ones."""

    def __init__(self) -> None:
        self.finder = bm25()

    def reset(self) -> None:
        self.finder.reset()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.finder.ingest_session(session, timestamp)

    def search(self, query: str, k: int, timestamp: str = "now") -> dict[str, Any]:
        found: dict[str, Any] = self.finder.search(query, len(self.finder.turns), timestamp)
        return found

    def query(self, question: str, timestamp: str = "now") -> dict[str, Any]:
        found = self.search(question, CANDIDATES, timestamp)
        said = [item["text"].partition(": ")[2] for item in found["items"][:CANDIDATES]]
        return {"answer": " Or: ".join(said), **found}
