"""mem0's open-source library without an LLM: one memory a turn, stored word for word, searched by mem0."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(tempfile.mkdtemp(prefix="mem0-"))
os.environ["MEM0_DIR"] = str(FOLDER / "settings")
os.environ["MEM0_TELEMETRY"] = "False"

from langchain_core.embeddings import Embeddings  # noqa: E402
from mem0 import Memory  # noqa: E402  (it reads the variables as it is imported)
from minilm import DIMENSIONS, MiniLM  # noqa: E402

USER = "memory"

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
        self.folder: str | None = None
        self.reset()

    def reset(self) -> None:
        """Take a new memory in a folder of its own: by default, all that run on a machine share one."""
        self.close()
        self.folder = tempfile.mkdtemp(dir=FOLDER)
        self.memory = Memory.from_config(
            {
                "llm": {"provider": "openai", "config": {"api_key": "none"}},  # created by mem0, and never called
                "embedder": {"provider": "langchain", "config": {"model": self.embedder}},
                "vector_store": {
                    "provider": "qdrant",
                    "config": {"path": f"{self.folder}/qdrant", "embedding_model_dims": DIMENSIONS},
                },
                "history_db_path": f"{self.folder}/history.db",
            }
        )

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            message = {"role": turn["role"], "content": f"{turn.get('speaker') or turn['role']}: {turn['content']}"}
            about = {"turn_id": turn["turn_id"], "day": day(session["date"]), "date": session["date"]}
            self.memory.add([message], user_id=USER, metadata=about, infer=False)

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        if not query.strip():  # mem0 refuses it
            return []
        filters: dict[str, Any] = {"user_id": USER}
        if timestamp != "now":
            filters["day"] = {"lte": day(timestamp)}
        found = self.memory.search(query, top_k=k, filters=filters)["results"]
        return [{**item(memory), "score": round(float(memory["score"]), DIGITS)} for memory in found]

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every memory that is kept."""
        everything = self.memory.get_all(filters={"user_id": USER}, top_k=1_000_000)["results"]
        return [item(memory) for memory in everything]

    def close(self) -> None:
        if self.folder is not None:
            self.memory.vector_store.client.close()
            self.memory.close()
            shutil.rmtree(self.folder)
            self.folder = None


def item(memory: dict[str, Any]) -> dict[str, Any]:
    """Return a memory as memeval takes it, with the date of its session before its text."""
    about = memory["metadata"]
    return {"text": f"[{about['date']}] {memory['memory']}", "source_ids": [about["turn_id"]]}


def day(date: str) -> int:
    """Return the day of an ISO 8601 date as a number that Qdrant can compare: YYYYMMDD."""
    return int(date[:10].replace("-", ""))
