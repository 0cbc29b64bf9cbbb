"""A real MCP server, made with the ``mcp`` package: notes that are found by shared words.

``python mcp_notes.py stdio`` or ``python mcp_notes.py PORT [json]``. Its notes lie in ``HOME``, so it remembers them
across starts, as many servers do.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("notes", version="1.2.3")
KEPT = Path(os.environ["HOME"]) / "notes.json"


def notes() -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else []
    return told


def keep(told: list[dict[str, Any]]) -> None:
    KEPT.write_text(json.dumps(told), "utf-8")


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


@server.tool()
def add_note(text: str, when: str = "never", source: str = "", bank: str = "") -> str:
    """Keep a note."""
    if "unspeakable" in text:
        raise ToolError("such things are not noted")
    keep([*notes(), {"text": text, "when": when, "session_id": source, "bank": bank}])
    return "ok"


@server.tool()
def find_notes(query: str, limit: int, bank: str = "") -> dict[str, Any]:
    """Find notes."""
    if query == "die":
        print("I have had enough.", file=sys.stderr, flush=True)
        os._exit(3)
    if type(limit) is not int:
        raise TypeError("limit must be a number")
    scored = [{**note, "score": len(words(query) & words(note["text"]))} for note in notes() if note["bank"] == bank]
    return {"found": {"notes": sorted(scored, key=lambda note: -note["score"])}}


@server.tool()
def find_as_json(query: str, inner: bool = False) -> str:
    """Find notes, and give them as JSON in a text, as many servers do; ``inner``: as a text within it."""
    found = [{**note, "id": place} for place, note in enumerate(notes())]
    return json.dumps({"notes": json.dumps(found) if inner else found})


@server.tool()
def add_dated(text: str, day: str) -> str:
    """Keep a note of a day."""
    return add_note(text, when=day)


@server.tool()
def add_as_json(text: str) -> str:
    """Keep a note, and give its number as JSON in a text."""
    keep([*notes(), {"text": text, "bank": ""}])
    return json.dumps({"status": "saved", "id": len(notes()) - 1})


@server.tool()
def list_texts(query: str) -> list[str]:
    """Find notes, and give nothing but their texts."""
    return [note["text"] for note in notes()]


@server.tool()
def answer(question: str) -> str:
    """Answer a question."""
    return f"{len(notes())} notes, but no idea about {question}"


@server.tool()
def drop_note(source: str) -> str:
    """Forget a note."""
    keep([note for note in notes() if note["session_id"] != source])
    return "ok"


@server.tool()
def wipe() -> str:
    """Forget all."""
    keep([])
    return "ok"


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", port=int(sys.argv[1]), json_response="json" in sys.argv)
