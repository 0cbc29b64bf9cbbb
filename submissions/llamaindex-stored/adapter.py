"""LlamaIndex as a memory that outlives its process: one node a turn or text, persisted after each."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from llama_index.core.schema import BaseNode, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.retrievers.bm25 import BM25Retriever

FOLDER = Path(os.environ.get("MEMEVAL_STORAGE") or tempfile.mkdtemp(prefix="llamaindex-"))

FILE = str(FOLDER / "docstore.json")

DIGITS = 4
"""Decimal places of a score. Later ones differ between machines, and nothing depends on them."""


class LlamaIndex:
    """Stores a node for each turn, and returns what the retriever ranks first."""

    def __init__(self) -> None:
        self.store = SimpleDocumentStore.from_persist_path(FILE) if Path(FILE).exists() else SimpleDocumentStore()
        self.retriever: BM25Retriever | None = None
        self.k = 0

    def reset(self) -> None:
        Path(FILE).unlink(missing_ok=True)
        self.store, self.retriever = SimpleDocumentStore(), None

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.put(
            [
                TextNode(
                    id_=turn["turn_id"],
                    text=f"{turn.get('speaker') or turn['role']}: {turn['content']}",
                    metadata={"date": session["date"]},
                    excluded_embed_metadata_keys=["date"],
                )
                for turn in session["turns"]
            ]
        )

    def put(self, nodes: list[TextNode]) -> None:
        """Add nodes and persist the store, which the documentation asks for by name."""
        self.store.add_documents(nodes)
        self.store.persist(FILE)
        self.retriever = None

    def forget(self, ids: list[str]) -> int:
        """Delete nodes by their ids."""
        there = [name for name in self.store.docs if name in ids or name.partition(":")[0] in ids]
        for name in there:
            self.store.delete_document(name)
        self.store.persist(FILE)
        self.retriever = None
        return len(there)

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        if not self.store.docs:
            return []
        if self.retriever is None or self.k != k:  # it indexes what is stored as it is made, and cannot be added to
            self.retriever, self.k = BM25Retriever.from_defaults(docstore=self.store, similarity_top_k=k), k
        ranked = self.retriever.retrieve(query)
        return [{**item(found.node), "score": round(float(found.score), DIGITS)} for found in ranked]

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every turn that is kept."""
        return [item(node) for node in self.store.docs.values()]


def item(node: BaseNode) -> dict[str, Any]:
    """Return a node as memeval takes it, with the date of its session before its text."""
    return {"text": f"[{node.metadata['date']}] {node.text}", "source_ids": [node.node_id]}
