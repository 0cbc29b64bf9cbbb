"""SQLite with full-text search (FTS5), as its documentation recommends for one machine: WAL, one transaction a text.

One of the two controls syncs at each commit, the other at checkpoints only.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from pathlib import Path
from typing import Any


class Database:
    """A table with full-text search in the storage folder. ``synchronous``: ``FULL`` or ``NORMAL``."""

    def __init__(self, synchronous: str) -> None:
        path = Path(os.environ["MEMEVAL_STORAGE"], "texts.db")
        self.lock = threading.Lock()
        self.line = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=30)
        self.line.execute("PRAGMA journal_mode = WAL")
        self.line.execute(f"PRAGMA synchronous = {synchronous}")
        self.line.execute("CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5(text, bank UNINDEXED, id UNINDEXED)")

    def empty(self) -> None:
        with self.lock:
            self.line.execute("DELETE FROM texts")

    def add(self, content: str, bank: str, source_id: str) -> None:
        with self.lock:
            self.line.execute("INSERT INTO texts (text, bank, id) VALUES (?, ?, ?)", (content, bank, source_id))

    def best(self, query: str, k: int, bank: str | None) -> list[dict[str, Any]]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query)) or '""'
        apart, values = ("", [words, k]) if bank is None else (" AND bank = ?", [words, bank, k])
        with self.lock:
            rows = self.line.execute(
                f"SELECT text, id FROM texts WHERE texts MATCH ?{apart} ORDER BY rank LIMIT ?",  # noqa: S608
                values,
            ).fetchall()
        return [{"text": text, "source_ids": [source]} for text, source in rows]

    def all(self) -> list[dict[str, Any]]:
        with self.lock:
            rows = self.line.execute("SELECT text, id FROM texts ORDER BY rowid").fetchall()
        return [{"text": text, "source_ids": [source]} for text, source in rows]

    def close(self) -> None:
        self.line.close()


class SqliteFull:
    """Acknowledges a text after ``COMMIT`` with ``synchronous=FULL``."""

    texts_together = True
    questions_at_once = 16

    def __init__(self) -> None:
        self.database = Database("FULL")

    def reset(self) -> None:
        self.database.empty()

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        self.database.add(content, bank, source_id)

    def recall(self, query: str, k: int, bank: str | None = None) -> list[dict[str, Any]]:
        return self.database.best(query, k, bank)

    def export_memories(self) -> list[dict[str, Any]]:
        return self.database.all()

    def close(self) -> None:
        self.database.close()


class SqliteNormal:
    """Acknowledges a text after ``COMMIT`` with ``synchronous=NORMAL``, which syncs at checkpoints only."""

    texts_together = True
    questions_at_once = 16

    def __init__(self) -> None:
        self.database = Database("NORMAL")

    def reset(self) -> None:
        self.database.empty()

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        self.database.add(content, bank, source_id)

    def recall(self, query: str, k: int, bank: str | None = None) -> list[dict[str, Any]]:
        return self.database.best(query, k, bank)

    def export_memories(self) -> list[dict[str, Any]]:
        return self.database.all()

    def close(self) -> None:
        self.database.close()
