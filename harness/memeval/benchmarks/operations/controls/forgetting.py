"""Two stores that can forget: one deletes a text from its file, the other only hides it in its own process."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from pathlib import Path
from typing import Any


class Table:
    """Texts in the storage folder, in SQLite with full-text search that syncs at each commit."""

    def __init__(self) -> None:
        path = Path(os.environ["MEMEVAL_STORAGE"], "texts.db")
        self.lock = threading.Lock()
        self.hidden: set[int] = set()
        """Rows that a search leaves out."""
        self.line = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=30)
        self.line.execute("PRAGMA journal_mode = WAL")
        self.line.execute("PRAGMA synchronous = FULL")
        self.line.execute("CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5(text, bank UNINDEXED, id UNINDEXED)")

    def empty(self) -> None:
        with self.lock:
            self.line.execute("DELETE FROM texts")
            self.hidden.clear()

    def add(self, content: str, bank: str, source_id: str) -> None:
        with self.lock:
            self.line.execute("INSERT INTO texts (text, bank, id) VALUES (?, ?, ?)", (content, bank, source_id))

    def rows(self, ids: list[str] | None, bank: str | None) -> list[int]:
        """Return the rows of some ids, or of all; of one bank, or of all."""
        wanted = None if ids is None else set(ids)
        rows = self.line.execute("SELECT rowid, id, bank FROM texts").fetchall()
        return [row for row, name, of in rows if (wanted is None or name in wanted) and (bank is None or of == bank)]

    def delete(self, ids: list[str] | None, bank: str | None) -> int:
        with self.lock:
            rows = self.rows(ids, bank)
            self.line.execute("BEGIN IMMEDIATE")
            self.line.executemany("DELETE FROM texts WHERE rowid = ?", [(row,) for row in rows])
            self.line.execute("COMMIT")
            return len(rows)

    def hide(self, ids: list[str] | None, bank: str | None) -> int:
        with self.lock:
            rows = set(self.rows(ids, bank)) - self.hidden
            self.hidden |= rows
            return len(rows)

    def best(self, query: str, k: int, bank: str | None) -> list[dict[str, Any]]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query)) or '""'
        with self.lock:
            rows = self.line.execute(
                "SELECT rowid, text, id, bank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?",
                (words, k + len(self.hidden) if bank is None else -1),
            ).fetchall()
            seen = [row for row in rows if row[0] not in self.hidden and bank in (None, row[3])]
        return [{"text": text, "source_ids": [source]} for _, text, source, _ in seen[:k]]

    def all(self) -> list[dict[str, Any]]:
        with self.lock:
            rows = self.line.execute("SELECT rowid, text, id FROM texts ORDER BY rowid").fetchall()
            return [{"text": text, "source_ids": [source]} for row, text, source in rows if row not in self.hidden]

    def close(self) -> None:
        self.line.close()


class ForgettingStore:
    """Acknowledges a deletion after ``COMMIT``."""

    texts_together = True
    questions_at_once = 16

    def __init__(self) -> None:
        self.table = Table()

    def reset(self) -> None:
        self.table.empty()

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        self.table.add(content, bank, source_id)

    def forget(self, bank: str | None = None, ids: list[str] | None = None) -> int:
        return self.table.delete(ids, bank)

    def recall(self, query: str, k: int, bank: str | None = None) -> list[dict[str, Any]]:
        return self.table.best(query, k, bank)

    def export_memories(self) -> list[dict[str, Any]]:
        return self.table.all()

    def close(self) -> None:
        self.table.close()


class HidingStore:
    """Acknowledges a deletion when its own searches leave the text out; the file keeps it."""

    texts_together = True
    questions_at_once = 16

    def __init__(self) -> None:
        self.table = Table()

    def reset(self) -> None:
        self.table.empty()

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        self.table.add(content, bank, source_id)

    def forget(self, bank: str | None = None, ids: list[str] | None = None) -> int:
        return self.table.hide(ids, bank)

    def recall(self, query: str, k: int, bank: str | None = None) -> list[dict[str, Any]]:
        return self.table.best(query, k, bank)

    def export_memories(self) -> list[dict[str, Any]]:
        return self.table.all()

    def close(self) -> None:
        self.table.close()
