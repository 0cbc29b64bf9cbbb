"""A small memory to begin with: it keeps texts with their dates, and finds those that share words with a question.

Put your own memory in place of what the methods do; ``server.py`` puts it on the wire.
"""

from __future__ import annotations

import re


def words(text: str) -> set[str]:
    """Return the words of a text."""
    return set(re.findall(r"\w+", text.lower()))


class Memory:
    """Keeps every text, by its id."""

    def __init__(self) -> None:
        self.notes: dict[str, dict] = {}

    def reset(self) -> None:
        """Forget everything; called before each scenario."""
        self.notes.clear()

    def keep(self, note_id: str, text: str, date: str) -> None:
        """Take in a text; the same id again is the same text again."""
        self.notes[note_id] = {"text": text, "source_ids": [note_id], "date": date}

    def search(self, query: str, k: int = 5, timestamp: str = "now") -> list[dict]:
        """Find at most k items, the best first, as they were known at a time."""
        wanted, found = words(query), []
        for note in reversed(self.notes.values()):  # of equals, the newest comes first
            if timestamp == "now" or note["date"][: len(timestamp)] <= timestamp:
                score = len(wanted & words(note["text"]))
                found.append({"text": note["text"], "source_ids": note["source_ids"], "score": score})
        found.sort(key=lambda item: item["score"], reverse=True)
        return [item for item in found[:k] if item["score"]]
