"""Mem0's hosted platform, over its own client."""

from __future__ import annotations

import os
import time
import uuid
from datetime import UTC, datetime
from typing import Any

from mem0 import MemoryClient

MESSAGE_CHARACTERS = 8_000
"""Where a longer message is split; its parts go one after another, and none is left out."""

CALL_MESSAGES = 20
"""How many messages go in one call."""


class Mem0Cloud:
    """One Mem0 user per scenario; what is added can be found once its event has succeeded.

    Args:
        poll_seconds: how long to wait between two looks at an event.
    """

    def __init__(self, poll_seconds: float = 1.0) -> None:
        self.client = MemoryClient(api_key=os.environ["MEM0_API_KEY"], host=os.environ["MEM0_BASE_URL"])
        self.poll_seconds = poll_seconds
        self.user = ""
        self.used = False
        self.events: list[str] = []

    def reset(self) -> None:
        self.close()
        self.user, self.events = f"memeval-{uuid.uuid4().hex}", []

    def close(self) -> None:
        if self.used:
            self.client.delete_all(user_id=self.user)
            self.used = False

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        messages = [message for turn in session["turns"] for message in as_messages(turn)]
        for first in range(0, len(messages), CALL_MESSAGES):
            self.used = True
            reply = self.client.add(
                messages[first : first + CALL_MESSAGES],
                user_id=self.user,
                timestamp=int(moment(timestamp).timestamp()),
                metadata={"session_id": session["session_id"]},
            )
            self.events.append(reply["event_id"])

    def settle(self, timeout: float) -> bool:
        end = time.monotonic() + timeout
        while self.events:
            event = self.client.client.get(f"/v1/event/{self.events[0]}/")
            event.raise_for_status()
            status = event.json()["status"]
            if status == "FAILED":
                raise RuntimeError(f"Mem0 could not take in a session: its event {self.events[0]} failed.")
            if status == "SUCCEEDED":
                self.events.pop(0)
            elif time.monotonic() + self.poll_seconds > end:
                return False
            else:
                time.sleep(self.poll_seconds)
        return True

    def search(self, query: str, k: int, timestamp: str | None = None) -> list[dict[str, Any]]:
        asked = {} if timestamp is None else {"reference_date": int(moment(timestamp).timestamp())}
        found = self.client.search(query, filters={"user_id": self.user}, top_k=k, **asked)
        return [as_item(each) for each in found["results"][:k]]


def as_messages(turn: dict[str, Any]) -> list[dict[str, str]]:
    """Return a turn as messages; people with names keep them, and none of them is taken for the assistant."""
    speaker = turn.get("speaker")
    role = "assistant" if turn["role"] == "assistant" and not speaker else "user"
    name = f"{speaker}: " if speaker else ""
    return [{"role": role, "content": name + part} for part in parts(turn["content"], MESSAGE_CHARACTERS)]


def as_item(found: dict[str, Any]) -> dict[str, Any]:
    date = (found.get("created_at") or "")[:10]
    session = (found.get("metadata") or {}).get("session_id")
    return {
        "text": f"[{date}] {found['memory']}" if date else found["memory"],
        "source_ids": [session] if session else [],
        "score": found.get("score"),
    }


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
