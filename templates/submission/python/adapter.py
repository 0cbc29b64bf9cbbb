"""A small memory as sample code: it stores turns with their dates, and finds those that share words with a question.

Replace the code of the methods with yours. memeval finds the class by its methods; no import of memeval is needed.
"""

from __future__ import annotations

import re


def words(text: str) -> set[str]:
    """Return the words of a text."""
    return set(re.findall(r"\w+", text.lower()))


class Memory:
    """Stores every turn by its id."""

    def __init__(self) -> None:
        self.notes: dict[str, dict] = {}

    def reset(self) -> None:
        """Forget everything; called before each scenario."""
        self.notes.clear()

    def ingest_session(self, session: dict, timestamp: str) -> None:
        """Ingest a session: {"session_id", "date", "turns": [{"turn_id", "role", "content", optional "speaker"}]}."""
        for turn in session["turns"]:
            text = f"[{timestamp}] {turn.get('speaker') or turn['role']}: {turn['content']}"
            self.notes[turn["turn_id"]] = {"text": text, "source_ids": [turn["turn_id"]], "date": timestamp}

    def search(self, query: str, k: int = 5, timestamp: str = "now") -> list[dict]:
        """Return at most k items, the best first, known at that time."""
        wanted, found = words(query), []
        for note in reversed(self.notes.values()):  # with equal scores, the newest comes first
            if timestamp == "now" or note["date"][: len(timestamp)] <= timestamp:
                score = len(wanted & words(note["text"]))
                found.append({"text": note["text"], "source_ids": note["source_ids"], "score": score})
        found.sort(key=lambda item: item["score"], reverse=True)
        return [item for item in found[:k] if item["score"]]

    def query(self, question: str, timestamp: str = "now") -> dict:
        """Answer a question; the context is the text that the answer is based on."""
        items = self.search(question, 5, timestamp)
        answer = items[0]["text"] if items else "I do not know."
        return {"answer": answer, "context": "\n".join(item["text"] for item in items), "items": items}
