"""Chroma as a memory that outlives its process: its persistent client, with one collection a bank."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any
from uuid import uuid4

import chromadb
from chromadb.config import Settings
from minilm import MiniLM

FOLDER = Path(os.environ.get("MEMEVAL_STORAGE") or tempfile.mkdtemp(prefix="chroma-"))

AT_ONCE = 1000
"""Turns that are added in one call; Chroma refuses calls above a limit of its own."""


class Embedding(chromadb.EmbeddingFunction[chromadb.Documents]):
    """Our own embedder: Chroma's default one would download its weights."""

    def __init__(self) -> None:
        self.model = MiniLM()

    def __call__(self, input: chromadb.Documents) -> chromadb.Embeddings:
        return list(self.model.embed(input))


class Chroma:
    """Brings up the documents that Chroma finds closest, of those said by the asked time."""

    def __init__(self) -> None:
        settings = Settings(anonymized_telemetry=False)
        self.client = chromadb.PersistentClient(str(FOLDER / "chroma"), settings=settings)
        self.embedding = Embedding()
        self.banks: dict[str, Any] = {}
        for collection in self.client.list_collections():
            self.bank(bytes.fromhex(collection.name.removeprefix("bank0")).decode())

    def reset(self) -> None:
        for collection in self.banks.values():
            self.client.delete_collection(collection.name)
        self.banks = {}

    def bank(self, name: str) -> Any:
        """Return a bank's collection, a new one where there is none."""
        if name not in self.banks:
            self.banks[name] = self.client.get_or_create_collection(
                f"bank0{name.encode().hex()}",
                embedding_function=self.embedding,
                configuration={"hnsw": {"space": "cosine", "num_threads": 1}},
            )
        return self.banks[name]

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        date = session["date"]
        turns = [turn for turn in session["turns"] if turn["content"]]
        for start in range(0, len(turns), AT_ONCE):
            part = turns[start : start + AT_ONCE]
            self.bank("").upsert(
                ids=[turn["turn_id"] for turn in part],
                documents=[f"{turn.get('speaker') or turn['role']}: {turn['content']}" for turn in part],
                metadatas=[{"date": date, "moment": moment(date)} for _ in part],
            )

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
        """Keep a text as a document; its tags are metadata with the value true, a key each."""
        about: dict[str, Any] = {f"about:{name}": value for name, value in (metadata or {}).items()}
        about |= {"moment": moment(timestamp) if timestamp else 0, "source": source_id or ""}
        about |= {f"tag:{tag}": True for tag in tags or ()}
        about |= {"fact_type": fact_type} if fact_type else {}
        self.bank(bank).upsert(ids=[source_id or uuid4().hex], documents=[content], metadatas=[about])

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return self.found("", query, k, [] if timestamp == "now" else [said_by(timestamp)])

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
        where = [said_by(timestamp)] if timestamp else []
        where += [{"moment": {"$gte": moment(since)}}] if since else []
        where += [{"moment": {"$lt": moment(until)}}] if until else []
        where += [one_of([{f"tag:{tag}": True} for tag in tags], "$or")] if tags else []
        return self.found(bank, query, k, where)

    def found(self, bank: str, query: str, k: int, where: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the documents of a bank that lie closest to a query, of those that meet all of the conditions."""
        count = self.bank(bank).count()
        if count == 0:
            return []
        wanted = one_of(where, "$and") if where else None
        found = self.bank(bank).query(query_texts=[query], n_results=min(k, count), where=wanted)
        rows = zip(found["ids"][0], found["documents"][0], found["metadatas"][0], found["distances"][0], strict=True)
        # Of a document that another process has deleted, an open one still finds the id, without text and metadata.
        return [{**item(*row), "score": 1 - distance} for *row, distance in rows if row[2] is not None]

    def forget(self, bank: str | None = None, ids: list[str] | None = None, query: str | None = None) -> int:
        """Forget a bank, or the documents that came under some ids."""
        if query is not None:
            raise NotImplementedError("Documents are forgotten by their ids or by their bank, not by a query.")
        gone = 0
        for name in [bank] if bank is not None else list(self.banks):
            before = self.bank(name).count()
            if ids is None:
                self.client.delete_collection(self.banks.pop(name).name)
                gone += before
            else:
                self.bank(name).delete(ids=ids)
                gone += before - self.bank(name).count()
        return gone

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every document that is kept, with where it came from."""
        kept = [collection.get() for collection in self.banks.values()]
        return [item(*row) for g in kept for row in zip(g["ids"], g["documents"], g["metadatas"], strict=True)]


def item(source: str, text: str, about: dict[str, Any]) -> dict[str, Any]:
    """Return a document as memeval takes it: a turn behind its date, a retained text as it is."""
    if "date" in about:
        return {"text": f"[{about['date']}] {text}", "source_ids": [source]}
    return {"text": text, "source_ids": [about["source"]] if about["source"] else []}


def one_of(conditions: list[dict[str, Any]], operator: str) -> dict[str, Any]:
    """Return conditions joined to one; Chroma joins no fewer than two."""
    return conditions[0] if len(conditions) == 1 else {operator: conditions}


def said_by(timestamp: str) -> dict[str, Any]:
    """Return the condition that something happened by a time."""
    return {"moment": {"$lte": moment(timestamp, last=True)}}


def moment(date: str, last: bool = False) -> int:
    """Return an ISO 8601 date, or date and time, as a number that Chroma can compare: YYYYMMDDhhmmss.

    What the text leaves open is its first moment, or its last.
    """
    digits = "".join(re.findall(r"\d", date.split("+")[0].split(".")[0]))[:14]
    return int(digits.ljust(14, "9" if last else "0"))
