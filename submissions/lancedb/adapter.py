"""LanceDB as a memory: one row a turn or text in a table, searched by vectors made on this machine."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any
from uuid import uuid4

import lancedb
import pyarrow as pa
from minilm import DIMENSIONS, MiniLM

FOLDER = Path(os.environ.get("MEMEVAL_STORAGE") or tempfile.mkdtemp(prefix="lancedb-"))

TABLE = "memories"

MAINTAINED_AFTER = 500
"""Writes after which the table is optimized, as the documentation asks for after many small writes."""

SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("key", "bank", "id", "text", "date")),
        ("moment", pa.int64()),
        ("tags", pa.list_(pa.string())),
        ("vector", pa.list_(pa.float32(), DIMENSIONS)),
    ]
)


class LanceMemory:
    """Adds a row for each turn or text, and returns the rows whose vectors lie closest."""

    def __init__(self) -> None:
        self.model = MiniLM()
        self.database = lancedb.connect(str(FOLDER / "lance"))
        self.table = self.database.create_table(TABLE, schema=SCHEMA, exist_ok=True)
        self.writes = 0

    def reset(self) -> None:
        self.table = self.database.create_table(TABLE, schema=SCHEMA, mode="overwrite")

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        date = session["date"]
        said = [
            (turn["turn_id"], f"{turn.get('speaker') or turn['role']}: {turn['content']}") for turn in session["turns"]
        ]
        self.put([row("", name, text, date, moment(date), [], self.model.vector(text)) for name, text in said])

    def retain(
        self,
        content: str,
        bank: str = "",
        timestamp: str | None = None,
        tags: list[str] | None = None,
        source_id: str | None = None,
    ) -> None:
        """Add a text. Under an id that is there, it replaces the earlier text."""
        at = moment(timestamp) if timestamp else 0
        vector = self.model.vector(content)
        self.put([row(bank, source_id or f"-{uuid4().hex}", content, None, at, tags or [], vector)])

    def put(self, rows: list[dict[str, Any]]) -> None:
        if not rows:
            return
        unique = list({each["key"]: each for each in rows}.values())
        changed = self.table.merge_insert("key").when_matched_update_all().when_not_matched_insert_all()
        changed.execute(pa.Table.from_pylist(unique, schema=SCHEMA))
        self.writes += 1
        if self.writes % MAINTAINED_AFTER == 0:
            self.table.optimize()

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return self.recall(query, k, timestamp=None if timestamp == "now" else timestamp)

    def recall(
        self,
        query: str,
        k: int,
        bank: str = "",
        timestamp: str | None = None,
        tags: list[str] | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> list[dict[str, Any]]:
        """Search a bank, of what has one of the tags and happened in the time asked for and by the asked time."""
        where = [f"bank = {quoted(bank)}"]
        where += [f"moment <= {moment(timestamp, last=True)}"] if timestamp else []
        where += [f"moment >= {moment(since)}"] if since else []
        where += [f"moment < {moment(until)}"] if until else []
        where += [f"array_has_any(tags, [{', '.join(map(quoted, tags))}])"] if tags else []
        asked = self.table.search(self.model.vector(query), vector_column_name="vector").distance_type("cosine")
        found = asked.where(" and ".join(where), prefilter=True).limit(k).to_list()
        return [{**item(each), "score": round(1 - each["_distance"], 6)} for each in found]

    def forget(self, bank: str | None = None, ids: list[str] | None = None) -> int:
        """Delete a bank, or the texts that came under some ids."""
        where = [f"bank = {quoted(bank)}"] if bank is not None else []
        where += [f"id in ({', '.join(map(quoted, ids))})"] if ids else []
        if ids == []:
            return 0
        before: int = self.table.count_rows()
        self.table.delete(" and ".join(where) or "true")
        return before - self.table.count_rows()

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every turn and text that is kept."""
        return [item(each) for each in self.table.to_arrow().select(["id", "text", "date"]).to_pylist()]


def row(bank: str, name: str, text: str, date: str | None, at: int, tags: list[str], vector: Any) -> dict[str, Any]:
    key = f"{len(bank)}:{bank}:{name}"
    about = {"key": key, "bank": bank, "id": name, "text": text, "date": date, "moment": at, "tags": tags}
    return {**about, "vector": vector.tolist()}


def quoted(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def item(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as memeval takes it: a turn after the date of its session, a text as it is."""
    text = f"[{row['date']}] {row['text']}" if row["date"] is not None else row["text"]
    return {"text": text, "source_ids": [] if row["id"].startswith("-") else [row["id"]]}


def moment(date: str, last: bool = False) -> int:
    """Return an ISO 8601 date, or date and time, as a number that can be compared: YYYYMMDDhhmmss.

    What the text leaves open is its first moment, or its last.
    """
    digits = "".join(re.findall(r"\d", date.split("+")[0].split(".")[0]))[:14]
    return int(digits.ljust(14, "9" if last else "0"))
