"""MemPalace as a memory that outlives its process: one drawer a turn or text, filed and searched with its own tools."""

from __future__ import annotations

import os
import shutil
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from weights import provide_weights

HOME = Path.home()
WEIGHTS = HOME / ".cache" / "chroma" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx"
UNREAD = ("config.json", "special_tokens_map.json", "tokenizer_config.json", "vocab.txt")
"""Files whose presence Chroma checks and which it does not read."""

FOLDER = Path(os.environ.get("MEMEVAL_STORAGE") or tempfile.mkdtemp(prefix="mempalace-"))
DATA = HOME / ".mempalace"
"""Where MemPalace keeps its palace, its log of writes and its locks, unless told otherwise."""

provide_weights(WEIGHTS)
for name in UNREAD:
    (WEIGHTS / name).touch()
if not DATA.is_symlink():
    DATA.symlink_to(FOLDER)
PALACE = DATA / "palace"
os.environ["MEMPALACE_PALACE_PATH"] = str(PALACE)

from mempalace import mcp_server  # noqa: E402  (reads the variable)

TURNS = "conversations"
"""The wing of the turns of sessions."""

AT_ONCE = 100
"""Drawers that are listed by one call; MemPalace lists no more."""


class MemPalace:
    """Files each turn in the room of its day, and a retained text in the wing of its bank."""

    def reset(self) -> None:
        """Remove the palace. MemPalace keeps it open until it is told that it changed."""
        for path in FOLDER.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        mcp_server.tool_reconnect()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            text = f"{turn.get('speaker') or turn['role']}: {turn['content']}"
            if turn["content"].strip():
                file(TURNS, session["date"][:10], text, turn["turn_id"])

    def retain(self, content: str, bank: str = "", source_id: str | None = None) -> None:
        """File a text in the wing of a bank."""
        file(wing_of(bank), "texts", content, source_id)

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return found(query, k, TURNS)

    def recall(self, query: str, k: int, bank: str = "") -> list[dict[str, Any]]:
        """Search the wing of a bank."""
        return found(query, k, wing_of(bank))

    def forget(self, bank: str | None = None, ids: list[str] | None = None) -> int:
        """Delete the drawers of some ids, or of a bank."""
        if not PALACE.exists():
            return 0
        if ids is not None:
            return sum(checked(mcp_server.tool_delete_by_source(name, dry_run=False))["deleted"] for name in ids)
        gone = 0
        wing = None if bank is None else wing_of(bank)
        while kept := checked(mcp_server.tool_list_drawers(wing, limit=AT_ONCE))["drawers"]:
            gone += sum(checked(mcp_server.tool_delete_drawer(each["drawer_id"]))["success"] for each in kept)
        return gone


def wing_of(bank: str) -> str:
    """Return the name of a bank's wing. MemPalace takes short names of letters, digits and a few signs."""
    return f"bank-{sha256(bank.encode()).hexdigest()[:32]}"


def file(wing: str, room: str, text: str, name: str | None) -> None:
    """File a text in a drawer whose source file is its id, if it has one."""
    checked(mcp_server.tool_add_drawer(wing=wing, room=room, content=text, source_file=name))


def found(query: str, k: int, wing: str) -> list[dict[str, Any]]:
    """Return the drawers of a wing that MemPalace finds."""
    if not query.strip() or not PALACE.exists():  # the first filed drawer makes the palace
        return []
    return [item(hit) for hit in checked(mcp_server.tool_search(query, limit=k, wing=wing))["results"]]


def checked(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what a tool said. Raises if it reports an error."""
    if "error" in answer:
        raise RuntimeError(f"MemPalace reports an error: {answer['error']}")
    return answer


def item(hit: dict[str, Any]) -> dict[str, Any]:
    """Return a drawer as memeval takes it: a turn behind its day, a retained text as it is."""
    dated = f"[{hit['room']}] " if hit["wing"] == TURNS else ""
    ids = [hit["source_path"]] if hit["source_path"] else []
    return {"text": f"{dated}{hit['text']}", "source_ids": ids, "score": hit["similarity"]}
