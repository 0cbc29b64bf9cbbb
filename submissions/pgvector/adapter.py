"""PostgreSQL with pgvector as a memory: one row a turn or text, searched by vectors made on this machine."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from pathlib import Path
from typing import Any
from uuid import uuid4

import pgserver
import psycopg
from minilm import DIMENSIONS, MiniLM
from pgvector.psycopg import register_vector

FOLDER = Path(os.environ.get("MEMEVAL_STORAGE") or tempfile.mkdtemp(prefix="pgvector-"))

SCHEMA = f"""
create extension if not exists vector;
create table if not exists memories (
    bank text, id text, text text, date text, moment bigint, tags text[], vector vector({DIMENSIONS}),
    primary key (bank, id)
)
"""

PUT = """
insert into memories values (%s, %s, %s, %s, %s, %s, %s)
on conflict (bank, id) do update set text = excluded.text, date = excluded.date, moment = excluded.moment,
    tags = excluded.tags, vector = excluded.vector
"""

FOUND = """
select id, text, date, 1 - (vector <=> %s) as score from memories where {} order by vector <=> %s, id limit %s
"""

GONE = "delete from memories where (%s::text is null or bank = %s) and (%s::text[] is null or id = any(%s))"

NO_NUL = {0: 0xFFFD}
"""A text of PostgreSQL cannot contain U+0000."""


class PgVector:
    """Commits a row for each turn or text, and returns the rows whose vectors lie closest."""

    def __init__(self) -> None:
        self.model = MiniLM()
        self.server: Any = None
        with (FOLDER / "starting").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # another process may be starting it
            self.database = self.connected()
        self.database.execute(SCHEMA)
        register_vector(self.database)

    def connected(self) -> psycopg.Connection[Any]:
        """Connect to the server that runs in the folder; start one if there is none."""
        data = FOLDER / "postgres"
        try:
            return psycopg.connect(host=str(data), user="postgres", dbname="postgres", autocommit=True)
        except psycopg.OperationalError:
            self.server = pgserver.get_server(data)
            return psycopg.connect(self.server.get_uri(), autocommit=True)

    def reset(self) -> None:
        self.database.execute("truncate memories")

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        date = session["date"]
        with self.database.transaction():
            for turn in session["turns"]:
                text = f"{turn.get('speaker') or turn['role']}: {turn['content']}".translate(NO_NUL)
                values = ("", turn["turn_id"], text, date, moment(date), [], self.model.vector(text))
                self.database.execute(PUT, values)

    def retain(
        self,
        content: str,
        bank: str = "",
        timestamp: str | None = None,
        tags: list[str] | None = None,
        source_id: str | None = None,
    ) -> None:
        """Commit a text. Under an id that is there, it replaces the earlier text."""
        text, name = content.translate(NO_NUL), source_id or f"-{uuid4().hex}"
        at = moment(timestamp) if timestamp else 0
        self.database.execute(PUT, (bank, name, text, None, at, tags or [], self.model.vector(text)))

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
        conditions: list[tuple[str, Any]] = [("bank = %s", bank)]
        conditions += [("moment <= %s", moment(timestamp, last=True))] if timestamp else []
        conditions += [("moment >= %s", moment(since))] if since else []
        conditions += [("moment < %s", moment(until))] if until else []
        conditions += [("tags && %s", tags)] if tags else []
        vector = self.model.vector(query)
        where = FOUND.format(" and ".join(condition for condition, _ in conditions))
        rows = self.database.execute(where, (vector, *(value for _, value in conditions), vector, k)).fetchall()
        return [{**item(*row), "score": round(score, 6)} for *row, score in rows]

    def forget(self, bank: str | None = None, ids: list[str] | None = None) -> int:
        """Delete a bank, or the texts that came under some ids."""
        return self.database.execute(GONE, (bank, bank, ids, ids)).rowcount

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every turn and text that is kept."""
        return [item(*row) for row in self.database.execute("select id, text, date from memories order by bank, id")]

    def versions(self) -> dict[str, str]:
        """Return the versions that pgserver brings, which no lock file names."""
        (extension,) = self.database.execute("select extversion from pg_extension where extname = 'vector'").fetchone()
        return {"postgresql": str(self.database.info.server_version), "pgvector extension": extension}

    def close(self) -> None:
        self.database.close()
        if self.server is not None:
            self.server.cleanup()


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
