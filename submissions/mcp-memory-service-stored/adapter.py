"""mcp-memory-service as a memory that outlives its process: one entry a turn or text in its default store."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pysqlite3
from weights import provide_weights

sys.modules["sqlite3"] = pysqlite3  # sqlite-vec is an extension, and many builds of Python load none
HOME = Path.home()
FOLDER = Path(os.environ.get("MEMEVAL_STORAGE") or tempfile.mkdtemp(prefix="mcp-memory-service-"))
provide_weights(HOME / ".cache" / "mcp_memory" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx")

from mcp_memory_service.services.memory_service import MemoryService  # noqa: E402  (needs the above)
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage  # noqa: E402


class McpMemoryService:
    """Stores each turn, and searches the service's default store, SQLite with sqlite-vec."""

    def __init__(self) -> None:
        self.storage: SqliteVecMemoryStorage | None = None
        self.opening = asyncio.Lock()

    async def opened(self) -> MemoryService:
        """Return the service; open its database at the first of calls at the same time."""
        async with self.opening:
            if self.storage is None:
                self.storage = SqliteVecMemoryStorage(str(FOLDER / "memory.db"))
                await self.storage.initialize()
                self.service = MemoryService(self.storage)
        return self.service

    async def reset(self) -> None:
        await self.close()
        for path in FOLDER.glob("memory.db*"):
            path.unlink()

    async def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            if not turn["content"].strip():
                continue
            stored = await (await self.opened()).store_memory(
                f"{turn.get('speaker') or turn['role']}: {turn['content']}",
                metadata={"turn_id": turn["turn_id"], "date": session["date"]},
                conversation_id=session["session_id"],
            )
            check(stored)

    async def retain(
        self,
        content: str,
        bank: str = "",
        timestamp: str | None = None,
        tags: list[str] | None = None,
        source_id: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Store a text as an entry of a bank's store."""
        about: dict[str, Any] = {f"about_{name}": value for name, value in (metadata or {}).items()}
        about |= {"source": source_id or ""}
        about |= {"date": timestamp[:10]} if timestamp else {}
        store = store_of(bank)
        service = await self.opened()
        check(await service.store_memory(content, tags, metadata=about, conversation_id=source_id, store=store))

    async def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        found = await (await self.opened()).retrieve_memories(query, n_results=k)
        if "error" in found:
            raise RuntimeError(f"mcp-memory-service's search failed: {found['error']}")
        return [{**item(memory), "score": float(memory["similarity_score"])} for memory in found["memories"]]

    async def recall(self, query: str, k: int, bank: str = "", tags: list[str] | None = None) -> list[dict[str, Any]]:
        """Search a bank's store, for entries with one of the tags."""
        if not query.strip():
            return []
        found = await (await self.opened()).storage.retrieve(query, n_results=k, tags=tags, store=store_of(bank))
        return [{**kept_item(one.memory), "score": float(one.relevance_score)} for one in found]

    async def forget(self, bank: str | None = None, ids: list[str] | None = None) -> int:
        """Delete the entries of a bank's store, or those of some ids."""
        storage = (await self.opened()).storage
        gone = 0
        for store in await storage.get_stores() if bank is None else [store_of(bank)]:
            for memory in await storage.get_all_memories(store=store):
                if ids is None or memory.metadata.get("source") in ids:
                    deleted = await storage.delete_memories(content_hash=memory.content_hash, store=store)
                    if not deleted["success"]:
                        raise RuntimeError(f"mcp-memory-service did not delete an entry: {deleted['error']}")
                    gone += deleted["deleted_count"]
        return gone

    async def export_memories(self) -> list[dict[str, Any]]:
        """Return every entry that is kept."""
        return [kept_item(memory) for memory in await (await self.opened()).storage.get_all_memories(store=None)]

    async def close(self) -> None:
        if self.storage is not None:
            await self.storage.close()
            self.storage = None


def store_of(bank: str) -> str:
    """Return the name of a bank's store, which is never the one of the sessions."""
    return f"bank-{bank}"


def check(stored: dict[str, Any]) -> None:
    """Raise if the service stored nothing. A text that it already holds word for word is its to refuse."""
    if not stored["success"] and "Duplicate content" not in stored["error"]:
        raise RuntimeError(f"mcp-memory-service did not store a text: {stored['error']}")


def kept_item(memory: Any) -> dict[str, Any]:
    """Return a kept entry as memeval takes it."""
    return item({"content": memory.content, "metadata": memory.metadata})


def item(memory: dict[str, Any]) -> dict[str, Any]:
    """Return an entry as memeval takes it, with its date, if it has one, before its text."""
    about = memory["metadata"]
    dated = f"[{about['date']}] " if "date" in about else ""
    source = about.get("turn_id") or about["source"]
    return {"text": f"{dated}{memory['content']}", "source_ids": [source] if source else []}
