"""Puts the memory on the wire as a Model Context Protocol server: one JSON-RPC message a line, in and out.

A server made with an MCP library does as well; ``submission.toml`` says which tool stands for which call.
"""

from __future__ import annotations

import json
import sys

from memory import Memory

memory = Memory()

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def add_memory(content: str, id: str = "", time: str = "") -> dict:
    """Take in a text."""
    memory.keep(id or str(len(memory.notes)), content, time)
    return {}


def search_memory(query: str, limit: int = 5, time: str = "now") -> dict:
    """Find at most so many items."""
    return {"items": memory.search(query, limit, time)}


def clear_memory() -> dict:
    """Forget everything."""
    memory.reset()
    return {}


TOOLS = {
    "add_memory": (add_memory, {"content": TEXT, "id": TEXT, "time": TEXT}, ["content"]),
    "search_memory": (search_memory, {"query": TEXT, "limit": NUMBER, "time": TEXT}, ["query"]),
    "clear_memory": (clear_memory, {}, []),
}


def initialize(params: dict) -> dict:
    """Say who this is."""
    about = {"name": "memory", "version": "1.0"}
    return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}


def list_tools(params: dict) -> dict:
    """Say which tools there are."""
    return {
        "tools": [
            {"name": name, "inputSchema": {"type": "object", "properties": arguments, "required": needed}}
            for name, (_, arguments, needed) in TOOLS.items()
        ]
    }


def call_tool(params: dict) -> dict:
    """Call a tool; what it returns is the structured result."""
    function = TOOLS[params["name"]][0]
    result = function(**params.get("arguments", {}))
    return {"content": [{"type": "text", "text": json.dumps(result)}], "structuredContent": result}


METHODS = {"initialize": initialize, "ping": lambda params: {}, "tools/list": list_tools, "tools/call": call_tool}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue  # a notification, which asks for no reply
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    try:
        reply["result"] = METHODS[message["method"]](message.get("params", {}))
    except Exception as error:
        reply["error"] = {"code": -32603, "message": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), flush=True)
