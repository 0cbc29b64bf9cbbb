"""SQLite's full-text search as a memory: one row a turn or text in an FTS5 table, ranked by its BM25."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any
from uuid import uuid4

import apsw

FOLDER = Path(os.environ.get("MEMEVAL_STORAGE") or tempfile.mkdtemp(prefix="sqlite-"))

SCHEMA = """
create table if not exists memories (
    place integer primary key, bank text, id text, text text, date text, moment integer, tags text, unique (bank, id)
);
create virtual table if not exists words using fts5(
    text, content='memories', content_rowid='place', tokenize='porter unicode61'
);
create trigger if not exists added after insert on memories begin
    insert into words(rowid, text) values (new.place, new.text);
end;
create trigger if not exists deleted after delete on memories begin
    insert into words(words, rowid, text) values ('delete', old.place, old.text);
end;
create trigger if not exists changed after update on memories begin
    insert into words(words, rowid, text) values ('delete', old.place, old.text);
    insert into words(rowid, text) values (new.place, new.text);
end;
"""

PUT = """
insert into memories (bank, id, text, date, moment, tags) values (?, ?, ?, ?, ?, ?)
on conflict (bank, id) do update set text = excluded.text, date = excluded.date, moment = excluded.moment,
    tags = excluded.tags
"""

FOUND = """
select id, memories.text, date, -bm25(words) from words join memories on place = words.rowid where words match ? and {}
order by bm25(words), place limit ?
"""


class SqliteFts5:
    """Commits each turn or text, and returns what the full-text index ranks first."""

    def __init__(self, synchronous: str = "FULL") -> None:
        self.synchronous = synchronous
        self.open()

    def open(self) -> None:
        self.database = apsw.Connection(str(FOLDER / "memories.db"))
        self.database.set_busy_timeout(30_000)
        for statements in ("pragma journal_mode = wal", f"pragma synchronous = {self.synchronous}", SCHEMA):
            self.database.execute(statements).fetchall()

    def reset(self) -> None:
        self.close()
        for path in FOLDER.glob("memories.db*"):
            path.unlink()
        self.open()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        date = session["date"]
        with self.database:  # one transaction
            for turn in session["turns"]:
                text = f"{turn.get('speaker') or turn['role']}: {turn['content']}"
                self.database.execute(PUT, ("", turn["turn_id"], text, date, moment(date), " "))

    def retain(
        self,
        content: str,
        bank: str = "",
        timestamp: str | None = None,
        tags: list[str] | None = None,
        source_id: str | None = None,
    ) -> None:
        """Commit a text. Under an id that is there, it replaces the earlier text."""
        marked = "".join(f"\n{tag}\n" for tag in tags or ())
        at = moment(timestamp) if timestamp else 0
        self.database.execute(PUT, (bank, source_id or f"-{uuid4().hex}", content, None, at, marked))

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
        asked = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", query)))
        if not asked:
            return []
        conditions: list[tuple[str, tuple[Any, ...]]] = [("bank = ?", (bank,))]
        conditions += [("moment <= ?", (moment(timestamp, last=True),))] if timestamp else []
        conditions += [("moment >= ?", (moment(since),))] if since else []
        conditions += [("moment < ?", (moment(until),))] if until else []
        if tags:
            either = " or ".join("instr(tags, ?)" for _ in tags)
            conditions.append((f"({either})", tuple(f"\n{tag}\n" for tag in tags)))
        where = FOUND.format(" and ".join(condition for condition, _ in conditions))
        rows = self.database.execute(where, (asked, *(value for _, values in conditions for value in values), k))
        return [{**item(*row), "score": score} for *row, score in rows]

    def forget(self, bank: str | None = None, ids: list[str] | None = None) -> int:
        """Delete a bank, or the texts that came under some ids."""
        count = 0
        with self.database:
            if ids is None:
                self.database.execute("delete from memories where bank = ? or ?", (bank or "", bank is None))
                return int(self.database.changes())
            for each in ids:
                values = (each, bank or "", bank is None)
                self.database.execute("delete from memories where id = ? and (bank = ? or ?)", values)
                count += self.database.changes()
        return count

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every turn and text that is kept."""
        return [item(*row) for row in self.database.execute("select id, text, date from memories order by place")]

    def close(self) -> None:
        self.database.close()


def item(source: str, text: str, date: str | None) -> dict[str, Any]:
    """Return a row as memeval takes it: a turn after the date of its session, a text as it is."""
    dated = f"[{date}] {text}" if date is not None else text
    return {"text": dated, "source_ids": [] if source.startswith("-") else [source]}


def moment(date: str, last: bool = False) -> int:
    """Return an ISO 8601 date, or date and time, as a number that can be compared: YYYYMMDDhhmmss.

    What the text leaves open is its first moment, or its last.
    """
    digits = "".join(re.findall(r"\d", date.split("+")[0].split(".")[0]))[:14]
    return int(digits.ljust(14, "9" if last else "0"))
