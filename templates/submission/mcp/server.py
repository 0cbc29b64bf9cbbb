"""Serves the memory over the Model Context Protocol: one JSON-RPC message per line, in and out.

A server made with an MCP library works too; ``submission.toml`` maps its tools to calls.
"""

from __future__ import annotations

import json
import sys
import traceback

from memory import Memory

memory = Memory()

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def add_memory(content: str, id: str = "", time: str = "") -> dict:
    """Store a text."""
    memory.keep(id or str(len(memory.notes)), content, time)
    return {}


def search_memory(query: str, limit: int = 5, time: str = "now") -> dict:
    """Return at most ``limit`` items."""
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
    """Return the name and the abilities of the server."""
    about = {"name": "memory", "version": "1.0"}
    return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}


def list_tools(params: dict) -> dict:
    """List the tools."""
    return {
        "tools": [
            {"name": name, "inputSchema": {"type": "object", "properties": arguments, "required": needed}}
            for name, (_, arguments, needed) in TOOLS.items()
        ]
    }


def call_tool(params: dict) -> dict:
    """Call a tool; its return value is the structured result."""
    function = TOOLS[params["name"]][0]
    result = function(**params.get("arguments", {}))
    return {"content": [{"type": "text", "text": json.dumps(result)}], "structuredContent": result}


METHODS = {"initialize": initialize, "ping": lambda params: {}, "tools/list": list_tools, "tools/call": call_tool}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue  # a notification needs no reply
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    try:
        reply["result"] = METHODS[message["method"]](message.get("params", {}))
    except Exception as error:
        traceback.print_exc()  # memeval quotes its last own line
        reply["error"] = {"code": -32603, "message": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), flush=True)
