"""A system that finds the texts of a bank by their words: Okapi BM25 over each bank, then the filters of the search."""

from __future__ import annotations

import importlib.util
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple


def bm25() -> Any:
    """Return a new instance of the control BM25."""
    spec = importlib.util.spec_from_file_location("bm25", Path(__file__).with_name("bm25.py"))
    if spec is None or spec.loader is None:
        raise RuntimeError("the control BM25 is not there.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BM25()


class Text(NamedTuple):
    content: str
    source: str
    tags: list[str]
    time: str
    """Its time, ISO 8601; blank if unknown."""

    def fits(self, tags: list[str] | None, since: str | None, until: str | None) -> bool:
        """Return whether a filter lets it through: any of the tags, and a time from ``since`` to before ``until``."""
        if tags and set(tags).isdisjoint(self.tags):
            return False
        if since is None and until is None:
            return True
        if not self.time:
            return False
        at = moment(self.time)
        return (since is None or moment(since) <= at) and (until is None or at < moment(until))


class Bank:
    def __init__(self) -> None:
        self.texts: list[Text] = []
        self.finder = bm25()

    def add(self, text: Text) -> None:
        turn = {"turn_id": str(len(self.texts)), "role": "", "content": text.content}
        self.finder.ingest_session({"date": "", "turns": [turn]}, "")
        self.texts.append(text)


class BM25Texts:
    """Brings up the texts of a bank that score highest and pass the filter, best first."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.banks: dict[str, Bank] = {}

    def retain(
        self, content: str, bank: str = "", timestamp: str = "", tags: list[str] | None = None, source_id: str = ""
    ) -> None:
        if bank not in self.banks:
            self.banks[bank] = Bank()
        self.banks[bank].add(Text(content, source_id, tags or [], timestamp))

    def recall(
        self,
        query: str,
        k: int,
        bank: str = "",
        tags: list[str] | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> list[dict[str, Any]]:
        if (held := self.banks.get(bank)) is None:
            return []
        found = held.finder.search(query, len(held.texts))["items"]
        scored = ((held.texts[int(item["source_ids"][0])], item["score"]) for item in found)
        return [
            {"text": text.content, "source_ids": [text.source], "score": score}
            for text, score in scored
            if text.fits(tags, since, until)
        ][:k]


def moment(date: str) -> datetime:
    """Parse an ISO 8601 date, with or without a time; the defaults are midnight and UTC."""
    parsed = datetime.fromisoformat(date)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
