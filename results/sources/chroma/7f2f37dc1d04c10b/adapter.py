"""Chroma as a memory: one collection of dated turns, with embeddings made on this machine."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import chromadb
from chromadb.config import Settings
from minilm import MiniLM

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
        self.client = chromadb.EphemeralClient(Settings(anonymized_telemetry=False))
        self.embedding = Embedding()
        self.collection: Any = None
        self.reset()

    def reset(self) -> None:
        """Take a new collection under a name of its own: clients in one process share their memory."""
        if self.collection is not None:
            self.client.delete_collection(self.collection.name)
        self.collection = self.client.create_collection(
            f"memory-{uuid4().hex}",
            embedding_function=self.embedding,
            configuration={"hnsw": {"space": "cosine", "num_threads": 1}},
        )

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        date = session["date"]
        turns = [turn for turn in session["turns"] if turn["content"]]
        for start in range(0, len(turns), AT_ONCE):
            part = turns[start : start + AT_ONCE]
            self.collection.add(
                ids=[turn["turn_id"] for turn in part],
                documents=[f"{turn.get('speaker') or turn['role']}: {turn['content']}" for turn in part],
                metadatas=[{"date": date, "moment": moment(date)} for _ in part],
            )

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        if self.collection.count() == 0:
            return []
        until = None if timestamp == "now" else {"moment": {"$lte": moment(timestamp, last=True)}}
        found = self.collection.query(query_texts=[query], n_results=min(k, self.collection.count()), where=until)
        rows = zip(found["ids"][0], found["documents"][0], found["metadatas"][0], found["distances"][0], strict=True)
        return [
            {"text": f"[{about['date']}] {text}", "source_ids": [source], "score": 1 - distance}
            for source, text, about, distance in rows
        ]

    def close(self) -> None:
        self.client.delete_collection(self.collection.name)


def moment(date: str, last: bool = False) -> int:
    """Return an ISO 8601 date, or date and time, as a number that Chroma can compare: YYYYMMDDhhmmss.

    What the text leaves open is its first moment, or its last.
    """
    digits = "".join(re.findall(r"\d", date.split("+")[0].split(".")[0]))[:14]
    return int(digits.ljust(14, "9" if last else "0"))
