"""LangMem's memory store manager over LangGraph's in-memory store, with models reached through memeval's endpoint."""

from __future__ import annotations

import logging
import os
from typing import Any

os.environ["LANGSMITH_TRACING"] = "false"

from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from langgraph.store.memory import InMemoryStore
from langmem import create_memory_store_manager

NAMESPACE = ("memories",)

AT_ONCE = 20
"""Turns that are handed over in one call; a session may have many more than a model reads well."""

LONGEST = 10_000
"""Characters of a turn in one message: the embedding model reads 8,191 tokens a call, and refuses longer texts."""

DATES = """

Each message begins with the date it was said on, in brackets, and with the name of who said it. Begin each memory with
that date in brackets, then that name and a colon. What anyone says matters, in either role."""


class LangMem:
    """Has the manager enrich its memories by each session in parts, and searches the store."""

    def __init__(self, model: str, embedding: str, dimensions: int) -> None:
        logging.getLogger("langsmith").setLevel(logging.ERROR)
        self.model = ChatOpenAI(model=model, temperature=0)
        self.embedding = OpenAIEmbeddings(model=embedding, dimensions=dimensions, check_embedding_ctx_length=False)
        self.dimensions = dimensions
        self.reset()

    def reset(self) -> None:
        """Take a new store, and a manager of it alone."""
        self.store = InMemoryStore(index={"dims": self.dimensions, "embed": self.embedding})
        self.manager = create_memory_store_manager(self.model, namespace=NAMESPACE, store=self.store)
        self.manager.memory_manager.instructions += DATES
        self.dates: dict[str, str] = {}
        """The date of the session in which each memory was last written."""
        self.sources: dict[str, list[str]] = {}
        """The sessions in which it was written."""

    async def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        messages = [
            {"role": turn["role"], "content": f"[{session['date']}] {turn.get('speaker') or turn['role']}: {part}"}
            for turn in session["turns"]
            for part in parts(turn["content"])
        ]
        for start in range(0, len(messages), AT_ONCE):
            for written in await self.manager.ainvoke({"messages": messages[start : start + AT_ONCE]}):
                self.dates[written["key"]] = session["date"]
                sources = self.sources.setdefault(written["key"], [])
                if session["session_id"] not in sources:
                    sources.append(session["session_id"])

    async def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        """Search all memories where an earlier time is asked about: the store cannot compare dates by itself."""
        known = {key for key, date in self.dates.items() if timestamp == "now" or date[: len(timestamp)] <= timestamp}
        found = await self.store.asearch(NAMESPACE, query=query, limit=max(k, len(self.dates)))
        return [
            {"text": self.dated(item), "source_ids": self.sources[item.key], "score": item.score}
            for item in found
            if item.key in known
        ][:k]

    def dated(self, item: Any) -> str:
        """Return a memory with its session's date before it, where the model did not put one there."""
        text: str = item.value["content"]["content"]
        return text if text.startswith("[") else f"[{self.dates[item.key]}] {text}"


def parts(content: str) -> list[str]:
    """Return a turn's text in pieces that can be embedded."""
    return [content[start : start + LONGEST] for start in range(0, len(content), LONGEST)]
