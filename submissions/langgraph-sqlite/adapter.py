"""LangGraph's SQLite store as a memory: one item a turn or text, searched by vectors."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pysqlite3

sys.modules["sqlite3"] = pysqlite3  # sqlite-vec is an extension, and many builds of Python load none

from langgraph.store.sqlite import SqliteStore  # noqa: E402  (needs the above)
from minilm import DIMENSIONS, MiniLM  # noqa: E402

FOLDER = Path(os.environ.get("MEMEVAL_STORAGE") or tempfile.mkdtemp(prefix="langgraph-"))

NAMESPACE = ("memories",)
"""Where the turns of sessions are."""

BANKS = "banks"
"""The first label of the namespaces of banks; the second is the bank's name."""

EVERYTHING = 1_000_000
"""More items than a search finds."""

DIGITS = 4
"""Decimal places of a score. Later ones differ between machines, and nothing depends on them."""


class LangGraphStore:
    """Puts each turn or text into the store, and returns what its search finds."""

    texts_together = True

    def __init__(self) -> None:
        self.model = MiniLM()
        index = {"dims": DIMENSIONS, "embed": self.embed, "fields": ["text"]}
        self.opened = SqliteStore.from_conn_string(str(FOLDER / "store.db"), index=index)
        self.store = self.opened.__enter__()
        self.store.setup()

    def reset(self) -> None:
        for each in self.store.search((), limit=EVERYTHING):
            self.store.delete(each.namespace, each.key)

    def close(self) -> None:
        self.opened.__exit__(None, None, None)

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text. LangGraph has no embedder of its own, and accepts a function."""
        vectors: list[list[float]] = self.model.embed(texts).tolist()
        return vectors

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            text = f"{turn.get('speaker') or turn['role']}: {turn['content']}"
            self.store.put(NAMESPACE, turn["turn_id"], {"text": text, "date": session["date"], **day(session["date"])})

    def retain(
        self,
        content: str,
        bank: str = "",
        timestamp: str | None = None,
        tags: list[str] | None = None,
        source_id: str | None = None,
        fact_type: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Put a text into the namespace of its bank, under its id. Each tag is a field with the value true."""
        about: dict[str, Any] = {"moment": moment(timestamp) if timestamp else 0, "source": source_id or ""}
        about |= {tag_field(tag): True for tag in tags or ()}
        about |= {"fact_type": fact_type, "metadata": metadata or {}}
        self.store.put(namespace(bank), source_id or uuid4().hex, {"text": content, **about})

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        known = {} if timestamp == "now" else {"day": {"$lte": day(timestamp)["day"]}}
        return self.found(NAMESPACE, query, k, known)

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
        """Search a bank, of what has the tag and happened in the time asked for and by the asked time."""
        if tags and len(tags) > 1:
            raise NotImplementedError("The store's filter has no 'or', so it finds texts by one tag only.")
        span = {"$gte": moment(since)} if since else {}
        span |= {"$lt": moment(until)} if until else {}
        span |= {"$lte": moment(timestamp, last=True)} if timestamp else {}
        known = {"moment": span} if span else {}
        return self.found(namespace(bank), query, k, known | {tag_field(tag): True for tag in tags or ()})

    def found(self, where: tuple[str, ...], query: str, k: int, known: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the items of a namespace that lie closest to a query, of those that meet the conditions."""
        ranked = self.store.search(where, query=query, filter=known or None, limit=k)
        return [{**item(memory), "score": round(memory.score, DIGITS)} for memory in ranked]

    def forget(self, bank: str | None = None, ids: list[str] | None = None) -> int:
        """Delete texts by their ids, or all of a bank: each by its key, since the store deletes no namespace."""
        where = (BANKS,) if bank is None else namespace(bank)
        gone = [each for each in self.store.search(where, limit=EVERYTHING) if ids is None or each.key in ids]
        for each in gone:
            self.store.delete(each.namespace, each.key)
        return len(gone)

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every turn and text that is kept."""
        places = (NAMESPACE, (BANKS,))
        return [item(memory) for place in places for memory in self.store.search(place, limit=EVERYTHING)]


def item(memory: Any) -> dict[str, Any]:
    """Return an item of the store as memeval takes it: a turn after the date of its session, a text as it is."""
    if "date" in memory.value:
        return {"text": f"[{memory.value['date']}] {memory.value['text']}", "source_ids": [memory.key]}
    return {"text": memory.value["text"], "source_ids": [memory.value["source"]] if memory.value["source"] else []}


def tag_field(tag: str) -> str:
    """Return the name of the field of a tag. The store refuses most characters in it."""
    return f"tag_{tag.encode().hex()}"


def namespace(bank: str) -> tuple[str, ...]:
    """Return the namespace of a bank. A label may be neither empty nor contain a full stop."""
    return (BANKS, f"bank:{quote(bank, safe='').replace('.', '%2E')}")


def day(date: str) -> dict[str, int]:
    """Return the day of an ISO 8601 date as a number that the store can compare: YYYYMMDD."""
    return {"day": int(date[:10].replace("-", ""))}


def moment(date: str, last: bool = False) -> int:
    """Return an ISO 8601 date, or date and time, as a number that the store can compare: YYYYMMDDhhmmss.

    What the text leaves open is its first moment, or its last.
    """
    digits = "".join(re.findall(r"\d", date.split("+")[0].split(".")[0]))[:14]
    return int(digits.ljust(14, "9" if last else "0"))
