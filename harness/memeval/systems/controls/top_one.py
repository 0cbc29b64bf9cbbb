"""A system that returns one text, whatever is searched: the best of BM25."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any


def bm25_texts() -> Any:
    """Return a new instance of the control BM25 over texts."""
    spec = importlib.util.spec_from_file_location("bm25_texts", Path(__file__).with_name("bm25_texts.py"))
    if spec is None or spec.loader is None:
        raise RuntimeError("the control BM25 over texts is not there.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BM25Texts()


class TopOne:
    """Brings up the first text that BM25 finds, and nothing else."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.finder = bm25_texts()

    def retain(
        self, content: str, bank: str = "", timestamp: str = "", tags: list[str] | None = None, source_id: str = ""
    ) -> None:
        self.finder.retain(content, bank, timestamp, tags, source_id)

    def recall(
        self,
        query: str,
        k: int,
        bank: str = "",
        tags: list[str] | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.finder.recall(query, min(k, 1), bank, tags, since, until)
        return found
