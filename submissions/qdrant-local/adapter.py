"""Qdrant's local mode as a memory: one point a turn or text, searched by vectors made on this machine."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid4, uuid5

from minilm import DIMENSIONS, MiniLM
from qdrant_client import QdrantClient, models

FOLDER = Path(os.environ.get("MEMEVAL_STORAGE") or tempfile.mkdtemp(prefix="qdrant-"))

COLLECTION = "memories"

AT_ONCE = 1000
"""Points that are read in one call for an export."""


class QdrantLocal:
    """Upserts a point for each turn or text, and returns the points that Qdrant finds closest."""

    def __init__(self) -> None:
        self.model = MiniLM()
        self.client = QdrantClient(path=str(FOLDER / "qdrant"))
        if not self.client.collection_exists(COLLECTION):
            self.create()

    def create(self) -> None:
        size = models.VectorParams(size=DIMENSIONS, distance=models.Distance.COSINE)
        self.client.create_collection(COLLECTION, vectors_config=size)

    def reset(self) -> None:
        self.client.delete_collection(COLLECTION)
        self.create()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        date = session["date"]
        points = []
        for turn in session["turns"]:
            text = f"{turn.get('speaker') or turn['role']}: {turn['content']}"
            about = {"bank": "", "id": turn["turn_id"], "text": text, "date": date, "moment": moment(date)}
            points.append(self.point(about))
        if points:
            self.client.upsert(COLLECTION, points, wait=True)

    def retain(
        self,
        content: str,
        bank: str = "",
        timestamp: str | None = None,
        tags: list[str] | None = None,
        source_id: str | None = None,
    ) -> None:
        """Upsert a text. Under an id that is there, it replaces the earlier text."""
        about = {"bank": bank, "id": source_id or f"-{uuid4().hex}", "text": content, "tags": tags or []}
        at = moment(timestamp) if timestamp else 0
        self.client.upsert(COLLECTION, [self.point({**about, "moment": at})], wait=True)

    def point(self, about: dict[str, Any]) -> models.PointStruct:
        name = str(uuid5(NAMESPACE_OID, f"{len(about['bank'])}:{about['bank']}:{about['id']}"))
        return models.PointStruct(id=name, vector=self.model.vector(about["text"]).tolist(), payload=about)

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
        must: list[models.Condition] = [equals("bank", bank)]
        if timestamp or since or until:
            span = models.Range(
                gte=moment(since) if since else None,
                lt=moment(until) if until else None,
                lte=moment(timestamp, last=True) if timestamp else None,
            )
            must.append(models.FieldCondition(key="moment", range=span))
        if tags:
            must.append(models.FieldCondition(key="tags", match=models.MatchAny(any=tags)))
        vector = self.model.vector(query).tolist()
        found = self.client.query_points(COLLECTION, vector, query_filter=models.Filter(must=must), limit=k).points
        return [{**item(each.payload or {}), "score": round(each.score, 6)} for each in found]

    def forget(self, bank: str | None = None, ids: list[str] | None = None) -> int:
        """Delete a bank, or the texts that came under some ids."""
        must: list[models.Condition] = [equals("bank", bank)] if bank is not None else []
        must += [models.FieldCondition(key="id", match=models.MatchAny(any=ids))] if ids is not None else []
        before = self.client.count(COLLECTION).count
        self.client.delete(COLLECTION, models.FilterSelector(filter=models.Filter(must=must)), wait=True)
        return before - self.client.count(COLLECTION).count

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every turn and text that is kept."""
        kept: list[dict[str, Any]] = []
        offset: Any = None
        while True:
            points, offset = self.client.scroll(COLLECTION, limit=AT_ONCE, offset=offset)
            kept += [item(point.payload or {}) for point in points]
            if offset is None:
                return kept

    def close(self) -> None:
        self.client.close()


def equals(field: str, value: str) -> models.FieldCondition:
    return models.FieldCondition(key=field, match=models.MatchValue(value=value))


def item(about: dict[str, Any]) -> dict[str, Any]:
    """Return a point as memeval takes it: a turn after the date of its session, a text as it is."""
    text = f"[{about['date']}] {about['text']}" if "date" in about else about["text"]
    return {"text": text, "source_ids": [] if about["id"].startswith("-") else [about["id"]]}


def moment(date: str, last: bool = False) -> int:
    """Return an ISO 8601 date, or date and time, as a number that can be compared: YYYYMMDDhhmmss.

    What the text leaves open is its first moment, or its last.
    """
    digits = "".join(re.findall(r"\d", date.split("+")[0].split(".")[0]))[:14]
    return int(digits.ljust(14, "9" if last else "0"))
