"""A system that returns one long text in place of several short ones."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

PADDED = 1550
"""Most characters of a text: about 470 tokens."""


def bm25() -> Any:
    """Return a new instance of the control BM25."""
    file = Path(__file__).parents[3] / "systems/controls/bm25.py"
    spec = importlib.util.spec_from_file_location("bm25", file)
    if spec is None or spec.loader is None:
        raise RuntimeError("the control BM25 is not there.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BM25()


class PaddedContexts:
    """Joins the turns that BM25 finds into one text, so that none of them comes before the right one."""

    def __init__(self) -> None:
        self.finder = bm25()

    def reset(self) -> None:
        self.finder.reset()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.finder.ingest_session(session, timestamp)

    def search(self, query: str, k: int, timestamp: str = "now") -> dict[str, Any]:
        lines: dict[str, str] = {}
        for item in self.finder.search(query, len(self.finder.turns), timestamp)["items"]:
            if sum(map(len, lines.values())) + len(item["text"]) > PADDED:
                break
            lines[item["source_ids"][0]] = item["text"]
        text = "\n".join(lines.values())
        return {"context": text, "items": [{"text": text, "source_ids": list(lines)}] if lines else []}
