"""Haystack as a memory: its in-memory document store, searched by its keyword retriever; for versions before 3."""

from __future__ import annotations

from typing import Any

from haystack import Document
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy


class Haystack:
    """Stores a document for each turn, and returns what the retriever ranks first."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.store = InMemoryDocumentStore()  # each has an index of its own
        self.retriever = InMemoryBM25Retriever(document_store=self.store)

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.store.write_documents(
            [
                Document(
                    id=turn["turn_id"],
                    content=f"{turn.get('speaker') or turn['role']}: {turn['content']}",
                    meta={"date": session["date"]},
                )
                for turn in session["turns"]
            ],
            policy=DuplicatePolicy.OVERWRITE,
        )

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        found = self.retriever.run(query=query, top_k=k)["documents"]
        return [{**item(document), "score": float(document.score)} for document in found]

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every turn that is kept."""
        return [item(document) for document in self.store.filter_documents()]


def item(document: Document) -> dict[str, Any]:
    """Return a document as memeval takes it, with the date of its session before its text."""
    return {"text": f"[{document.meta['date']}] {document.content}", "source_ids": [document.id]}
