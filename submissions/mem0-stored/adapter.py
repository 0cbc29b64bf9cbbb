"""mem0's open-source library without an LLM, on a folder that outlives its process."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

FOLDER = Path(os.environ.get("MEMEVAL_STORAGE") or tempfile.mkdtemp(prefix="mem0-"))
os.environ["MEM0_DIR"] = str(FOLDER / "settings")
os.environ["MEM0_TELEMETRY"] = "False"

from langchain_core.embeddings import Embeddings  # noqa: E402
from mem0 import Memory  # noqa: E402  (it reads the variables as it is imported)
from minilm import DIMENSIONS, MiniLM  # noqa: E402

USER = "memory"
"""The user with the turns of sessions."""

EVERYTHING = 1_000_000
"""More memories than a user has."""

DIGITS = 4
"""Decimal places of a score. Later ones differ between machines, and nothing depends on them."""


class Embedder(Embeddings):
    """The embedder, in the shape of LangChain, which mem0 accepts as it is."""

    def __init__(self) -> None:
        self.model = MiniLM()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self.model.vector(text).tolist()
        return vector


class Mem0Verbatim:
    """Adds each turn with ``infer=False``, and returns what mem0's search finds."""

    def __init__(self) -> None:
        self.embedder = Embedder()
        self.memory = Memory.from_config(
            {
                "llm": {"provider": "openai", "config": {"api_key": "none"}},  # created by mem0, and never called
                "embedder": {"provider": "langchain", "config": {"model": self.embedder}},
                "vector_store": {
                    "provider": "qdrant",
                    "config": {"path": f"{FOLDER}/qdrant", "embedding_model_dims": DIMENSIONS},
                },
                "history_db_path": f"{FOLDER}/history.db",
            }
        )

    def reset(self) -> None:
        self.memory.reset()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            message = {"role": turn["role"], "content": f"{turn.get('speaker') or turn['role']}: {turn['content']}"}
            about = {"turn_id": turn["turn_id"], "day": day(session["date"]), "date": session["date"]}
            self.memory.add([message], user_id=USER, metadata=about, infer=False)

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
        """Add a text as a memory of the user with the bank's name. Each tag is a field with the value true."""
        about: dict[str, Any] = {f"about_{name}": value for name, value in (metadata or {}).items()}
        about |= {"source": source_id or "", "moment": moment(timestamp) if timestamp else 0}
        about |= {"date": timestamp[:10]} if timestamp else {}
        about |= {tag_field(tag): True for tag in tags or ()}
        about |= {"fact_type": fact_type} if fact_type else {}
        message = {"role": "user", "content": content}
        self.memory.add([message], user_id=user_of(bank), metadata=about, infer=False)

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        filters: dict[str, Any] = {"user_id": USER}
        if timestamp != "now":
            filters["day"] = {"lte": day(timestamp)}
        return self.found(query, k, filters)

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
        """Search the memories of a bank's user, with one of the tags, of the time asked for and by the asked time."""
        filters: dict[str, Any] = {"user_id": user_of(bank)}
        span = {"gte": moment(since)} if since else {}
        span |= {"lt": moment(until)} if until else {}
        span |= {"lte": moment(timestamp, last=True)} if timestamp else {}
        filters |= {"moment": span} if span else {}
        filters |= {"OR": [{tag_field(tag): True} for tag in tags]} if tags else {}
        return self.found(query, k, filters)

    def found(self, query: str, k: int, filters: dict[str, Any]) -> list[dict[str, Any]]:
        """Return what mem0's search finds."""
        if not query.strip():  # mem0 refuses it
            return []
        found = self.memory.search(query, top_k=k, filters=filters)["results"]
        return [{**item(memory), "score": round(float(memory["score"]), DIGITS)} for memory in found]

    def forget(self, bank: str | None = None, ids: list[str] | None = None) -> None:
        """Delete the memories of a bank's user, or those of some ids."""
        for user in self.users() if bank is None else [user_of(bank)]:
            if ids is None:
                self.memory.delete_all(user_id=user)
                continue
            for memory in self.kept(user):
                if memory["metadata"].get("source") in ids:
                    self.memory.delete(memory["id"])

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every memory that is kept."""
        return [item(memory) for user in self.users() for memory in self.kept(user)]

    def users(self) -> list[str]:
        """Return all users that have memories, from the store that mem0 keeps: mem0 itself does not list them."""
        points, _ = self.memory.vector_store.list(top_k=EVERYTHING)
        return sorted({point.payload["user_id"] for point in points})

    def kept(self, user: str) -> list[dict[str, Any]]:
        """Return all memories of a user."""
        memories: list[dict[str, Any]] = self.memory.get_all(filters={"user_id": user}, top_k=EVERYTHING)["results"]
        return memories

    def close(self) -> None:
        self.memory.vector_store.client.close()
        self.memory.close()


def item(memory: dict[str, Any]) -> dict[str, Any]:
    """Return a memory as memeval takes it, with its date before its text, if it has one."""
    about = memory["metadata"]
    dated = f"[{about['date']}] " if "date" in about else ""
    source = about.get("turn_id") or about["source"]
    return {"text": f"{dated}{memory['memory']}", "source_ids": [source] if source else []}


def user_of(bank: str) -> str:
    """Return the id of a bank's user. mem0 refuses spaces in it, and ``*`` stands for all users."""
    return f"bank-{quote(bank, safe='')}"


def tag_field(tag: str) -> str:
    """Return the name of the field of a tag."""
    return f"tag_{quote(tag, safe='')}"


def day(date: str) -> int:
    """Return the day of an ISO 8601 date as a number that Qdrant can compare: YYYYMMDD."""
    return int(date[:10].replace("-", ""))


def moment(date: str, last: bool = False) -> int:
    """Return an ISO 8601 date, or date and time, as a number that Qdrant can compare: YYYYMMDDhhmmss.

    What the text leaves open is its first moment, or its last.
    """
    digits = "".join(re.findall(r"\d", date.split("+")[0].split(".")[0]))[:14]
    return int(digits.ljust(14, "9" if last else "0"))
