"""SQLite with full-text search as a system: the store that growth is compared with."""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path
from typing import Any


class SqliteStore:
    """Acknowledges a text after ``COMMIT``, with a write-ahead log and ``synchronous=FULL``."""

    def __init__(self) -> None:
        self.line = sqlite3.connect(Path(os.environ["MEMEVAL_STORAGE"], "texts.db"), isolation_level=None)
        self.line.execute("PRAGMA journal_mode = WAL")
        self.line.execute("PRAGMA synchronous = FULL")
        self.line.execute("CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5(text, id UNINDEXED)")

    def reset(self) -> None:
        self.line.execute("DELETE FROM texts")

    def retain(self, content: str, source_id: str = "") -> None:
        self.line.execute("INSERT INTO texts (text, id) VALUES (?, ?)", (content, source_id))

    def recall(self, query: str, k: int) -> list[dict[str, Any]]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query)) or '""'
        found = self.line.execute("SELECT text, id FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (words, k))
        return [{"text": text, "source_ids": [source]} for text, source in found]

    def close(self) -> None:
        self.line.close()
