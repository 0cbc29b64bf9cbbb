"""A system that remembers the last few turns."""

from __future__ import annotations

from collections import deque
from typing import Any


class RecencyWindow:
    """Hands over the last turns, as dated lines, and has forgotten those before.

    Args:
        turns: how many.
    """

    def __init__(self, turns: int = 10) -> None:
        self.lines: deque[tuple[str, str]] = deque(maxlen=turns)

    def reset(self) -> None:
        self.lines.clear()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            line = f"[{session['date']}] {turn.get('speaker') or turn['role']}: {turn['content']}"
            self.lines.append((turn["turn_id"], line))

    def search(self, query: str, k: int, timestamp: str = "now") -> dict[str, Any]:
        newest_first = [{"text": line, "source_ids": [turn_id]} for turn_id, line in reversed(self.lines)]
        return {"context": "\n".join(line for _, line in self.lines), "items": newest_first[:k]}
