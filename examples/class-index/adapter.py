"""A small memory as a class: full-text search of SQLite, with banks and deletion. Only the standard library."""

from __future__ import annotations

import re
import sqlite3
from typing import Any


class Index:
    def __init__(self) -> None:
        self._store = sqlite3.connect(":memory:", check_same_thread=False)
        self._store.execute("create virtual table texts using fts5 (text, bank unindexed, source unindexed)")

    def reset(self) -> None:
        self._store.execute("delete from texts")

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            text = f"[{timestamp}] {turn.get('speaker') or turn['role']}: {turn['content']}"
            self._store.execute("insert into texts values (?, ?, ?)", (text, "", turn["turn_id"]))

    def search(self, query: str, k: int = 5, timestamp: str = "now") -> list[dict[str, Any]]:
        return self.recall(query, k=k)

    def retain(self, content: str, bank: str = "", source_id: str = "", timestamp: str = "") -> None:
        text = f"[{timestamp}] {content}" if timestamp else content
        self._store.execute("insert into texts values (?, ?, ?)", (text, bank, source_id))

    def recall(self, query: str, k: int = 5, bank: str = "") -> list[dict[str, Any]]:
        asked = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        if not asked:
            return []
        select = "select text, source, -rank from texts where texts match ? and bank = ? order by rank limit ?"
        found = self._store.execute(select, (asked, bank, k))
        return [{"text": text, "source_ids": [source], "score": score} for text, source, score in found]

    def forget(self, bank: str = "", ids: list[str] | None = None) -> int:
        if ids is None:
            return self._store.execute("delete from texts where bank = ?", (bank,)).rowcount
        gone = [self._store.execute("delete from texts where bank = ? and source = ?", (bank, one)) for one in ids]
        return sum(each.rowcount for each in gone)
