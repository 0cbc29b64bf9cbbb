"""A small memory to begin with: it keeps turns with their dates, and finds those that share words with a question.

Put your own memory in place of what the methods do. memeval finds the class by its methods, and needs no import.
"""

from __future__ import annotations

import re


def words(text: str) -> set[str]:
    """Return the words of a text."""
    return set(re.findall(r"\w+", text.lower()))


class Memory:
    """Keeps every turn, by its id."""

    def __init__(self) -> None:
        self.notes: dict[str, dict] = {}

    def reset(self) -> None:
        """Forget everything; called before each scenario."""
        self.notes.clear()

    def ingest_session(self, session: dict, timestamp: str) -> None:
        """Take in a session: {"session_id", "date", "turns": [{"turn_id", "role", "content", perhaps "speaker"}]}."""
        for turn in session["turns"]:
            text = f"[{timestamp}] {turn.get('speaker') or turn['role']}: {turn['content']}"
            self.notes[turn["turn_id"]] = {"text": text, "source_ids": [turn["turn_id"]], "date": timestamp}

    def search(self, query: str, k: int = 5, timestamp: str = "now") -> list[dict]:
        """Find at most k items, the best first, as they were known at a time."""
        wanted, found = words(query), []
        for note in reversed(self.notes.values()):  # of equals, the newest comes first
            if timestamp == "now" or note["date"][: len(timestamp)] <= timestamp:
                score = len(wanted & words(note["text"]))
                found.append({"text": note["text"], "source_ids": note["source_ids"], "score": score})
        found.sort(key=lambda item: item["score"], reverse=True)
        return [item for item in found[:k] if item["score"]]

    def query(self, question: str, timestamp: str = "now") -> dict:
        """Answer a question; the context is what the answer was drawn from."""
        items = self.search(question, 5, timestamp)
        answer = items[0]["text"] if items else "I do not know."
        return {"answer": answer, "context": "\n".join(item["text"] for item in items), "items": items}
