"""LlamaIndex as a memory, for versions before 0.6: one node a turn in its document store, and its BM25 retriever."""

from __future__ import annotations

from typing import Any

from llama_index.core.schema import BaseNode, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.retrievers.bm25 import BM25Retriever

DIGITS = 4
"""Decimal places of a score. Later ones differ between machines, and nothing depends on them."""


class LlamaIndex:
    """Stores a node for each turn, and returns what the retriever ranks first."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.store = SimpleDocumentStore()
        self.retriever: BM25Retriever | None = None
        self.k = 0

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.store.add_documents(
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
        self.retriever = None

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        if not self.store.docs:
            return []
        k = min(k, len(self.store.docs))  # the retriever fails if it is asked for more than there is
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
