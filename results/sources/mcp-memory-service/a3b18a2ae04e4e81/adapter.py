"""mcp-memory-service as a memory: one entry a turn, through the service that its tools call."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pysqlite3
from weights import provide_weights

sys.modules["sqlite3"] = pysqlite3  # sqlite-vec is an extension, and many builds of Python load none
HOME = Path.home()
provide_weights(HOME / ".cache" / "mcp_memory" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx")

from mcp_memory_service.services.memory_service import MemoryService  # noqa: E402  (needs the above)
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage  # noqa: E402

Result = TypeVar("Result")


class McpMemoryService:
    """Stores each turn, and searches the service's default store, SQLite with sqlite-vec."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.stores = 0
        self.storage: SqliteVecMemoryStorage | None = None
        self.reset()

    def reset(self) -> None:
        """Open an empty database in a file of its own."""
        self.close()
        self.stores += 1
        self.storage = SqliteVecMemoryStorage(str(HOME / f"memory-{id(self)}-{self.stores}.db"))
        self.do(self.storage.initialize())
        self.service = MemoryService(self.storage)

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            if not turn["content"].strip():
                continue
            stored = self.do(
                self.service.store_memory(
                    f"{turn.get('speaker') or turn['role']}: {turn['content']}",
                    metadata={"turn_id": turn["turn_id"], "date": session["date"]},
                    conversation_id=session["session_id"],
                )
            )
            if not stored["success"] and "Duplicate content" not in stored["error"]:
                raise RuntimeError(f"mcp-memory-service did not store a turn: {stored['error']}")

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        found = self.do(self.service.retrieve_memories(query, n_results=k))
        if "error" in found:
            raise RuntimeError(f"mcp-memory-service's search failed: {found['error']}")
        return [{**item(memory), "score": float(memory["similarity_score"])} for memory in found["memories"]]

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every turn that is kept."""
        kept = self.do(self.service.storage.get_all_memories())
        return [item({"content": memory.content, "metadata": memory.metadata}) for memory in kept]

    def close(self) -> None:
        if self.storage is not None:
            self.do(self.storage.close())
            self.storage = None

    def do(self, call: Coroutine[Any, Any, Result]) -> Result:
        """Await a call of the service."""
        return self.loop.run_until_complete(call)


def item(memory: dict[str, Any]) -> dict[str, Any]:
    """Return an entry as memeval takes it, with the date of its session before its text."""
    about = memory["metadata"]
    return {"text": f"[{about['date']}] {memory['content']}", "source_ids": [about["turn_id"]]}
