"""The archival memory of a hosted Letta agent, over its own client."""

from __future__ import annotations

import os
import time
import uuid
from datetime import UTC, datetime
from typing import Any

from letta_client import Letta

PASSAGE_CHARACTERS = 8_000
"""Where a longer turn is split, so that each part fits into what the embedding model reads."""


class LettaArchive:
    """One agent of its own per scenario, of which the archival memory is filled and searched; it is never spoken to.

    Args:
        model: the agent's model, which Letta asks for; it is never called.
        embedding: the embedding model of the archival memory.
        poll_seconds: how long to wait between two looks whether the last passage can be found.
    """

    def __init__(
        self,
        model: str = "openai/gpt-4o-mini",
        embedding: str = "openai/text-embedding-3-small",
        poll_seconds: float = 1.0,
    ) -> None:
        self.client = Letta(api_key=os.environ["LETTA_API_KEY"], base_url=os.environ["LETTA_BASE_URL"])
        self.model, self.embedding = model, embedding
        self.poll_seconds = poll_seconds
        self.agent = ""
        self.last: tuple[str, str, str] | None = None
        """Id, tag and beginning of the passage that was added last."""

    def reset(self) -> None:
        self.close()
        name = f"memeval-{uuid.uuid4().hex}"
        agent = self.client.agents.create(
            name=name, model=self.model, embedding=self.embedding, include_base_tools=False
        )
        self.agent, self.last = agent.id, None

    def close(self) -> None:
        if self.agent:
            self.client.agents.delete(self.agent)
            self.agent = ""

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for number, turn in enumerate(session["turns"]):
            tag = turn.get("turn_id") or f"{session['session_id']}:{number}"
            for part in parts(turn["content"], PASSAGE_CHARACTERS):
                text = f"{turn.get('speaker') or turn['role'].title()}: {part}"
                added = self.client.agents.passages.create(
                    self.agent, text=text, created_at=moment(timestamp).isoformat(), tags=[tag]
                )
                self.last = (added[-1].id or "", tag, text[:200])

    def settle(self, timeout: float) -> bool:
        if self.last is None:
            return True
        passage, tag, text = self.last
        end = time.monotonic() + timeout
        while True:
            found = self.client.agents.passages.search(self.agent, query=text, tags=[tag], top_k=50)
            if any(each.id == passage for each in found.results):
                return True
            if time.monotonic() + self.poll_seconds > end:
                return False
            time.sleep(self.poll_seconds)

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        found = self.client.agents.passages.search(self.agent, query=query, top_k=k)
        return [
            {"text": f"[{each.timestamp[:10]}] {each.content}", "source_ids": each.tags or []}
            for each in found.results[:k]
        ]


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
