"""A client of the Model Context Protocol: says hello, lists the tools, calls them."""

from __future__ import annotations

from contextlib import closing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from memeval.systems.drivers.mcp_wire import Lines, McpFailed, Streamable
else:
    from mcp_wire import McpFailed

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Versions of the protocol that are spoken, the one that is asked for first. What is used here is the same in all."""

PAGES = 100
"""How many pages a list of tools may have."""

QUOTED = 300
"""How much of a server's own account of an error is quoted, in characters."""

NO_SUCH_METHOD = -32601


class Result:
    """What a tool gave.

    Args:
        texts: its texts.
        data: its structured result; ``None`` where it gave none.
    """

    def __init__(self, texts: list[str], data: Any) -> None:
        self.texts = texts
        self.data = data


class Client:
    """A conversation with a server, begun once the constructor returns.

    Args:
        wire: the way there.

    Raises:
        McpFailed: the server does not take part as the protocol has it.
    """

    def __init__(self, wire: Lines | Streamable) -> None:
        self._wire = wire
        self._number = 0
        hello = self._request(
            "initialize",
            {"protocolVersion": VERSIONS[0], "capabilities": {}, "clientInfo": {"name": "memeval", "version": "1"}},
        )
        version = hello.get("protocolVersion")
        if version not in VERSIONS:
            raise McpFailed(
                f"The server speaks version {version!r} of the protocol. memeval speaks {', '.join(VERSIONS)}."
            )
        wire.agreed(version)
        self.server: Mapping[str, Any] = hello["serverInfo"] if isinstance(hello.get("serverInfo"), dict) else {}
        """What the server says it is."""
        wire.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def tools(self) -> tuple[str, ...]:
        """Return the names of the server's tools."""
        names: list[str] = []
        cursor: Any = None
        for _ in range(PAGES):
            page = self._request("tools/list", {} if cursor is None else {"cursor": cursor})
            tools = page.get("tools")
            for tool in tools if isinstance(tools, list) else []:
                if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                    names.append(tool["name"])
            cursor = page.get("nextCursor")
            if cursor is None:
                break
        return tuple(names)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Result:
        """Call a tool.

        Raises:
            McpFailed: it reports an error.
        """
        told = self._request("tools/call", {"name": tool, "arguments": dict(arguments)})
        content = told.get("content")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        texts = [str(block["text"]) for block in blocks if block.get("type") == "text" and "text" in block]
        if told.get("isError") is True:
            raise McpFailed(f"The tool {tool!r} failed: {_cut(' '.join(texts))}.")
        return Result(texts, told.get("structuredContent"))

    def end(self) -> None:
        """End the conversation, and the server where it was started here."""
        self._wire.end()

    def _request(self, method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and return its result; what else comes meanwhile is passed over, or politely refused."""
        self._number += 1
        number = self._number
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        with closing(self._wire.ask(message)) as incoming:
            for told in incoming:
                if "method" in told:
                    if "id" in told:
                        self._refuse(told)
                elif told.get("id") == number:
                    return _result(method, told)
        raise McpFailed(f"The server's reply to {method} ended without a result.")

    def _refuse(self, request: Mapping[str, Any]) -> None:
        """Answer a request of the server's: a ping as it should be, all else with a refusal."""
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        if request["method"] == "ping":
            reply["result"] = {}
        else:
            reply["error"] = {"code": NO_SUCH_METHOD, "message": "memeval's client only calls tools."}
        self._wire.tell(reply)


def _result(method: str, told: Mapping[str, Any]) -> dict[str, Any]:
    error = told.get("error")
    if isinstance(error, dict):
        raise McpFailed(
            f"The server answered {method} with an error: {_cut(str(error.get('message') or error.get('code')))}."
        )
    result = told.get("result")
    if not isinstance(result, dict):
        raise McpFailed(f"The server's reply to {method} has no result.")
    return result


def _cut(text: str) -> str:
    return " ".join(text.split())[:QUOTED].rstrip(".") or "it gave no reason"
