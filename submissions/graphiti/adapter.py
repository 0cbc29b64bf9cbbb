"""Graphiti's open-source library, with Kuzu inside its process and with models reached through memeval's endpoint."""

from __future__ import annotations

import os
import warnings
from datetime import UTC, datetime
from functools import partial
from typing import Any

os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"

import kuzu
from graphiti_core import Graphiti
from graphiti_core.driver.kuzu_driver import KuzuDriver
from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
from graphiti_core.nodes import EpisodeType
from graphiti_core.search.search_config_recipes import EDGE_HYBRID_SEARCH_RRF
from openai import AsyncOpenAI

AT_ONCE = 20
"""Lines of one episode; a session may have many more than a model reads well."""

LONGEST = 10_000
"""Characters of a line: a longer turn makes several."""

SECONDS = 3_600.0
"""How long a call may take. The default, ten minutes, is too short for a model on a slow machine."""

BYTES = 1 << 30
"""Memory of a graph. By default, Kuzu asks for 8 TB of addresses, which a sandbox refuses."""

kuzu.Database = partial(kuzu.Database, buffer_pool_size=BYTES, max_db_size=BYTES)  # Graphiti's driver sets neither.


class GraphitiMemory:
    """Adds each session as episodes, and searches the facts that Graphiti drew from them."""

    def __init__(self, model: str, embedding: str, dimensions: int) -> None:
        client = AsyncOpenAI(timeout=SECONDS)
        self.model = OpenAIGenericClient(LLMConfig(model=model, small_model=model, temperature=0), client=client)
        self.embedder = OpenAIEmbedder(
            OpenAIEmbedderConfig(embedding_model=embedding, embedding_dim=dimensions), client=client
        )
        self.driver: KuzuDriver | None = None

    async def reset(self) -> None:
        """Take a new graph in memory, with the indexes for keyword search, which are not made by default."""
        self.close()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            self.driver = KuzuDriver()
        await self.driver.graph_ops.build_indices_and_constraints(self.driver)
        self.graph = Graphiti(graph_driver=self.driver, llm_client=self.model, embedder=self.embedder)
        self.sessions: dict[str, tuple[str, str]] = {}
        """The session of each episode, and its date."""
        self.facts: set[str] = set()

    async def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        lines = [
            f"{turn.get('speaker') or turn['role']}: {part}"
            for turn in session["turns"]
            for part in parts(turn["content"])
        ]
        for start in range(0, len(lines), AT_ONCE):
            added = await self.graph.add_episode(
                name=session["session_id"],
                episode_body="\n".join(lines[start : start + AT_ONCE]),
                source_description="a conversation",
                source=EpisodeType.message,
                reference_time=moment(session["date"]),
            )
            self.sessions[added.episode.uuid] = session["session_id"], session["date"]
            self.facts |= {edge.uuid for edge in added.edges}

    async def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        """Search all facts where an earlier time is asked about, and leave out those that were stated later."""
        most = k if timestamp == "now" else max(k, len(self.facts))
        found = await self.graph.search_(query, EDGE_HYBRID_SEARCH_RRF.model_copy(update={"limit": most}))
        items = []
        for edge, score in zip(found.edges, found.edge_reranker_scores, strict=True):
            if sources := self.sources(edge, timestamp):
                items.append({"text": dated(edge, timestamp), "source_ids": sources, "score": score})
        return items[:k]

    def sources(self, edge: Any, timestamp: str) -> list[str]:
        """Return the sessions that stated a fact until then."""
        stated = [self.sessions[episode] for episode in edge.episodes if episode in self.sessions]
        return list(dict.fromkeys(session for session, date in stated if not later(date, timestamp)))

    def close(self) -> None:
        if self.driver is not None:
            self.driver.client.close()
            self.driver.db.close()
            self.driver = None


def dated(edge: Any, timestamp: str) -> str:
    """Return a fact with the days from and to which it held, as far as they are known at a time."""
    start = edge.valid_at.date().isoformat() if edge.valid_at else "unknown"
    end = edge.invalid_at.date().isoformat() if edge.invalid_at else ""
    return f"{edge.fact} ({start} to {end if end and not later(end, timestamp) else 'present'})"


def later(date: str, timestamp: str) -> bool:
    return timestamp != "now" and date[: len(timestamp)] > timestamp


def moment(date: str) -> datetime:
    """Return an ISO 8601 date or time as a time; without a zone, UTC."""
    read = datetime.fromisoformat(date)
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def parts(content: str) -> list[str]:
    """Return a turn's text in pieces of one line each."""
    return [content[start : start + LONGEST] for start in range(0, len(content), LONGEST)]
