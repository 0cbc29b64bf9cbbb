"""MemPalace as a memory: one drawer a turn, filed and searched with its own tools."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from weights import provide_weights

HOME = Path.home()
WEIGHTS = HOME / ".cache" / "chroma" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx"
UNREAD = ("config.json", "special_tokens_map.json", "tokenizer_config.json", "vocab.txt")
"""Files whose presence Chroma checks and which it does not read."""

provide_weights(WEIGHTS)
for name in UNREAD:
    (WEIGHTS / name).touch()
os.environ["MEMPALACE_PALACE_PATH"] = str(HOME / "palace-0")

from mempalace import mcp_server  # noqa: E402  (reads the variables)

WING = "conversations"


class MemPalace:
    """Files each turn in the room of its session, and searches all rooms."""

    def __init__(self) -> None:
        self.palaces = 0
        self.reset()

    def reset(self) -> None:
        """Start an empty palace in a folder of its own; MemPalace keeps the last one open until told."""
        self.palaces += 1
        os.environ["MEMPALACE_PALACE_PATH"] = str(HOME / f"palace-{self.palaces}")
        mcp_server.tool_reconnect()
        self.turns: dict[str, list[str]] = {}
        self.dates: dict[str, str] = {}

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            if not turn["content"].strip():
                continue
            content = f"{turn.get('speaker') or turn['role']}: {turn['content']}"
            filed = mcp_server.tool_add_drawer(wing=WING, room=session["session_id"], content=content)
            if not filed["success"]:
                raise RuntimeError(f"MemPalace did not file a turn: {filed['error']}")
            for drawer in [filed["drawer_id"], *filed.get("chunk_ids", [])]:
                self.turns.setdefault(drawer, []).append(turn["turn_id"])
                self.dates[drawer] = session["date"]

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        if not self.turns:
            return []
        found = mcp_server.tool_search(query, limit=k)
        if "error" in found:
            raise RuntimeError(f"MemPalace's search failed: {found['error']}")
        return [self.item(hit["drawer_id"], hit["text"], hit["similarity"]) for hit in found["results"]]

    def item(self, drawer: str, text: str, score: float) -> dict[str, Any]:
        """Return a drawer as memeval takes it, with the date of its session before its text."""
        return {"text": f"[{self.dates[drawer]}] {text}", "source_ids": self.turns[drawer], "score": score}
