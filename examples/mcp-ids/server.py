"""A small memory behind the Model Context Protocol, with SQLite: it numbers its entries itself, and knows no other ids.

Only the standard library. It speaks JSON-RPC over standard input and output, and keeps ``memory.db`` where it runs.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from typing import Any

store = sqlite3.connect("memory.db")
store.execute("pragma journal_mode = wal")
store.execute("pragma synchronous = normal")
store.execute("create table if not exists entries (id integer primary key, user text, text text, day text)")

TEXT = {"type": "string"}
ENTRY = {"type": "object", "properties": {"text": TEXT, "meta": {"type": "object"}}, "required": ["text"]}
SCOPE = {"type": "object", "properties": {"user": TEXT}}
TOOLS: dict[str, dict[str, Any]] = {
    "add_entries": {"entries": {"type": "array", "items": ENTRY}, "scope": SCOPE},
    "find_entries": {"q": TEXT, "top": {"type": "integer"}, "scope": SCOPE},
    "remove_entries": {"ids": {"type": "array", "items": {"type": "integer"}}, "scope": SCOPE},
}
"""The arguments of each tool."""


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def add_entries(entries: list[dict[str, Any]], scope: dict[str, str] | None = None) -> dict[str, Any]:
    made = []
    for entry in entries:
        row = ((scope or {}).get("user", ""), entry["text"], (entry.get("meta") or {}).get("day", ""))
        made.append({"id": store.execute("insert into entries (user, text, day) values (?, ?, ?)", row).lastrowid})
    store.commit()
    return {"created": made}


def find_entries(q: str, top: int = 10, scope: dict[str, str] | None = None) -> dict[str, Any]:
    user = (scope or {}).get("user", "")
    rows = store.execute("select id, text, day from entries where user = ?", (user,)).fetchall()
    asked = words(q)
    scored = sorted(((len(asked & words(row[1])), row) for row in rows), key=lambda each: (-each[0], -each[1][0]))
    hits = [{"id": row[0], "text": f"[{row[2]}] {row[1]}", "score": score} for score, row in scored[:top] if score]
    return {"hits": hits}


def remove_entries(ids: list[int] | None = None, scope: dict[str, str] | None = None) -> dict[str, Any]:
    """Remove the entries of a user with these ids; without ids, all of them."""
    user = (scope or {}).get("user", "")
    rows = store.execute("select id from entries where user = ?", (user,)).fetchall()
    gone = [(one,) for (one,) in rows if not ids or one in ids]
    store.executemany("delete from entries where id = ?", gone)
    store.commit()
    return {"removed": len(gone)}


def reply(asked: dict[str, Any]) -> dict[str, Any]:
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        about = {"name": "entries", "version": "0.1.0"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if asked["method"] == "tools/list":
        schemas = {name: {"type": "object", "properties": arguments} for name, arguments in TOOLS.items()}
        return {"tools": [{"name": name, "inputSchema": schema} for name, schema in schemas.items()]}
    name, arguments = asked["params"]["name"], asked["params"]["arguments"]
    called = {"add_entries": add_entries, "find_entries": find_entries, "remove_entries": remove_entries}[name]
    found = called(**arguments)
    return {"content": [{"type": "text", "text": json.dumps(found)}], "structuredContent": found}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": reply(request)}), flush=True)
