"""Zep's hosted context graphs, over its own client."""

from __future__ import annotations

import os
import time
import uuid
from datetime import UTC, datetime
from typing import Any

from zep_cloud import Zep

EPISODE_CHARACTERS = 9_000
"""Where a longer turn is split: an episode holds 10,000 characters, the speaker's name among them."""

QUERY_CHARACTERS = 400
"""The longest query; a longer one is asked in parts."""

PAGE = 50
"""The most results of one search."""


class ZepGraph:
    """One graph of its own per scenario; what is added can be found once its task has succeeded.

    Args:
        poll_seconds: how long to wait between two looks at a task.
    """

    def __init__(self, poll_seconds: float = 1.0) -> None:
        self.client = Zep(api_key=os.environ["ZEP_API_KEY"], base_url=f"{os.environ['ZEP_BASE_URL']}/api/v4")
        self.poll_seconds = poll_seconds
        self.graph = ""
        self.tasks: list[str] = []
        self.turns: dict[str, str] = {}
        """The turn behind each episode."""

    def reset(self) -> None:
        self.close()
        self.graph = self.client.graph.create(name=f"memeval-{uuid.uuid4().hex}").uuid_
        self.tasks, self.turns = [], {}

    def close(self) -> None:
        if self.graph:
            self.client.graph.delete(self.graph)
            self.graph = ""

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            for part in parts(turn["content"], EPISODE_CHARACTERS):
                added = self.client.graph.episode.add(
                    self.graph,
                    type="message",
                    data=f"{turn.get('speaker') or turn['role'].title()} ({turn['role']}): {part}",
                    reference_time=moment(timestamp).isoformat(),
                )
                self.tasks.append(added.task.uuid_)
                if turn.get("turn_id"):
                    self.turns[added.episode.uuid_] = turn["turn_id"]

    def settle(self, timeout: float) -> bool:
        end = time.monotonic() + timeout
        while self.tasks:
            status = self.client.task.get(self.tasks[0]).status
            if status in ("failed", "partial"):
                raise RuntimeError(f"Zep could not take in a turn: its task {self.tasks[0]} ended as '{status}'.")
            if status == "succeeded":
                self.tasks.pop(0)
            elif time.monotonic() + self.poll_seconds > end:
                return False
            else:
                time.sleep(self.poll_seconds)
        return True

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        best: dict[str, tuple[int, Any]] = {}
        for part in parts(query, QUERY_CHARACTERS):
            found = self.client.graph.search_edges(
                self.graph, query=part, page_size=min(k, PAGE), reranker="cross_encoder"
            )
            for rank, edge in enumerate(found.items or []):
                best[edge.uuid_] = min(best.get(edge.uuid_, (rank, edge)), (rank, edge), key=lambda each: each[0])
        ranked = sorted(best.values(), key=lambda each: each[0])
        return [self.as_item(edge) for _rank, edge in ranked[:k]]

    def as_item(self, edge: Any) -> dict[str, Any]:
        held = f"{(edge.valid_at or '')[:10] or 'unknown'} to {(edge.invalid_at or '')[:10] or 'present'}"
        sources = [self.turns[each] for each in edge.episode_uuids or [] if each in self.turns]
        return {"text": f"{edge.fact} ({held})", "source_ids": sources, "score": edge.score}


def moment(timestamp: str) -> datetime:
    """Return an ISO date or time as a time; without a zone, UTC."""
    read = datetime.fromisoformat(timestamp)
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def parts(text: str, most: int) -> list[str]:
    """Return the whole of a text in parts of at most ``most`` characters, split at blanks where there are any."""
    found = []
    while len(text) > most:
        cut = text.rfind(" ", 1, most) + 1 or most
        found.append(text[:cut])
        text = text[cut:]
    return [*found, text] if text.strip() else found
