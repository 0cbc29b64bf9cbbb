"""txtai as a memory that outlives its process: one row a turn or text, saved after each."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from txtai import Embeddings

FOLDER = Path(os.environ.get("MEMEVAL_STORAGE") or tempfile.mkdtemp(prefix="txtai-"))

INDEX = FOLDER / "index"

FOUND = "select id, text, date, score from txtai where similar(:query)"
KNOWN = "select id, text, date, score from txtai where similar(:query) and day <= :day"

DIGITS = 4
"""Decimal places of a score. Later ones differ between machines, and nothing depends on them."""


class Txtai:
    """Inserts each turn, saves the index, and returns what a keyword search finds."""

    def __init__(self) -> None:
        self.index = Embeddings(keyword=True, content=True)
        if INDEX.exists():
            self.index.load(str(INDEX))

    def reset(self) -> None:
        self.close()
        shutil.rmtree(INDEX, ignore_errors=True)
        self.index = Embeddings(keyword=True, content=True)

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        about = {"date": session["date"], "day": day(session["date"])}
        self.index.upsert(
            (turn["turn_id"], {"text": f"{turn.get('speaker') or turn['role']}: {turn['content']}", **about}, None)
            for turn in session["turns"]
        )
        self.index.save(str(INDEX))  # the documented step; without it nothing outlives the process

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        asked = {"query": query}
        if timestamp != "now":
            asked["day"] = day(timestamp)
        found = self.index.search(FOUND if timestamp == "now" else KNOWN, limit=k, parameters=asked)
        return [{**item(row), "score": round(float(row["score"]), DIGITS)} for row in found]

    def forget(self, ids: list[str]) -> int:
        """Delete rows by their ids, or by the part before a colon."""
        if not ids or not self.index.count():
            return 0
        rows = self.index.search("select id from txtai", limit=self.index.count())
        there = [row["id"] for row in rows if row["id"] in ids or row["id"].partition(":")[0] in ids]
        gone = self.index.delete(there)
        self.index.save(str(INDEX))
        return len(gone)

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every turn that is kept."""
        rows = self.index.search("select id, text, date from txtai", limit=1_000_000)
        return [item(row) for row in rows]

    def close(self) -> None:
        self.index.close()


def item(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as memeval takes it, with the date of its session before its text."""
    return {"text": f"[{row['date']}] {row['text']}", "source_ids": [row["id"]]}


def day(date: str) -> int:
    """Return the day of an ISO 8601 date as a number that a query can compare: YYYYMMDD."""
    return int(date[:10].replace("-", ""))
