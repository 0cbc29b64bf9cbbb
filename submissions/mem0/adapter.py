"""mem0's open-source library, with a local Qdrant and with models reached through memeval's endpoint."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(tempfile.mkdtemp(prefix="mem0-"))
os.environ["MEM0_DIR"] = str(FOLDER / "settings")
os.environ["MEM0_TELEMETRY"] = "False"
os.environ.pop("OPENAI_API_BASE", None)  # An older name of OPENAI_BASE_URL, which it warns of again and again.

from mem0 import Memory  # noqa: E402  (it reads them as it is imported)

USER = "memory"

AT_ONCE = 20
"""Turns that are handed over in one call; a session may have many more than a model reads well."""

LONGEST = 10_000
"""Characters of a turn in one message: its embedding model reads 8,191 tokens a call, and refuses longer texts."""

INSTRUCTIONS = """\
Each message begins with the date it was said on, in brackets, and with the name of who said it. Resolve relative dates
against that date, not against the observation date. Begin each memory with that date in brackets,
then that name and a colon. What anyone says matters, in either role.
"""


class Mem0:
    """Adds each session in parts, and searches what mem0 made of them."""

    def __init__(self, model: str, embedding: str, dimensions: int) -> None:
        self.config = {
            "llm": {"provider": "openai", "config": {"model": model, "temperature": 0.0}},
            "embedder": {"provider": "openai", "config": {"model": embedding, "embedding_dims": dimensions}},
            "vector_store": {"provider": "qdrant", "config": {"embedding_model_dims": dimensions}},
            "custom_instructions": INSTRUCTIONS,
        }
        self.folder: str | None = None
        self.reset()

    def reset(self) -> None:
        """Take a new memory in a folder of its own: by default, all that run on a machine share one."""
        self.close()
        self.folder = tempfile.mkdtemp(dir=FOLDER)
        store: dict[str, Any] = self.config["vector_store"]
        store["config"]["path"] = f"{self.folder}/qdrant"
        self.memory = Memory.from_config({**self.config, "history_db_path": f"{self.folder}/history.db"})

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        messages = [
            {"role": turn["role"], "content": f"[{session['date']}] {turn.get('speaker') or turn['role']}: {part}"}
            for turn in session["turns"]
            for part in parts(turn["content"])
        ]
        about = {"source": session["session_id"], "day": day(session["date"]), "date": session["date"]}
        for start in range(0, len(messages), AT_ONCE):
            self.memory.add(messages[start : start + AT_ONCE], user_id=USER, metadata=about)

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        filters: dict[str, Any] = {"user_id": USER}
        if timestamp != "now":
            filters["day"] = {"lte": day(timestamp)}
        return [
            {"text": dated(found), "source_ids": [found["metadata"]["source"]], "score": found["score"]}
            for found in self.memory.search(query, top_k=k, filters=filters)["results"]
        ]

    def close(self) -> None:
        if self.folder is not None:
            self.memory.vector_store.client.close()
            self.memory.close()
            shutil.rmtree(self.folder)
            self.folder = None


def parts(content: str) -> list[str]:
    """Return a turn's text in pieces that can be embedded."""
    return [content[start : start + LONGEST] for start in range(0, len(content), LONGEST)]


def day(date: str) -> int:
    """Return the day of an ISO 8601 date as a number that Qdrant can compare: YYYYMMDD."""
    return int(date[:10].replace("-", ""))


def dated(found: dict[str, Any]) -> str:
    """Return what was found with the date of its session before it, where the model did not put one there."""
    text: str = found["memory"]
    return text if text.startswith("[") else f"[{found['metadata']['date']}] {text}"
