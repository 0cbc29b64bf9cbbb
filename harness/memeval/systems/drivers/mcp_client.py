"""A client of the Model Context Protocol: initializes a session, lists the tools, calls them."""

from __future__ import annotations

import re
from contextlib import closing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from memeval.systems.drivers.mcp_wire import HttpTransport, McpFailed, StdioTransport
else:
    from mcp_wire import McpFailed

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Supported versions of the protocol, the preferred one first. What is used here is the same in all of them."""

PAGES = 100

QUOTED = 300
"""How many characters of a server's error message are quoted."""

NO_SUCH_METHOD = -32601

WRONG_ARGUMENTS = re.compile(
    r"validation errors? for|is a required property|Additional properties|Invalid (?:arguments|params|request param)",
    re.IGNORECASE,
)
"""How servers refuse arguments that do not have the schema of a tool."""


class ErrorReply(Exception):
    """The server answered a request with an error; the text is its message, without a full stop."""


class ToolFailed(McpFailed):
    """The server answered a tool call with an error."""


class ToolResult:
    """The result of a tool call. ``data``: its structured result; ``None`` if it has none."""

    def __init__(self, texts: list[str], data: Any) -> None:
        self.texts = texts
        self.data = data


class McpClient:
    """A session with a server, initialized once the constructor returns.

    Raises McpFailed: the server does not follow the protocol.
    """

    def __init__(self, wire: StdioTransport | HttpTransport) -> None:
        self._wire = wire
        self._number = 0
        hello = self._must(
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
        wire.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def tools(self) -> dict[str, Mapping[str, Any]]:
        """Return the schema of the arguments of each tool; empty for a tool without one."""
        found: dict[str, Mapping[str, Any]] = {}
        cursor: Any = None
        for _ in range(PAGES):
            page = self._must("tools/list", {} if cursor is None else {"cursor": cursor})
            tools = page.get("tools")
            for tool in tools if isinstance(tools, list) else []:
                if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                    schema = tool.get("inputSchema")
                    found[tool["name"]] = schema if isinstance(schema, dict) else {}
            cursor = page.get("nextCursor")
            if cursor is None:
                break
        return found

    def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool. Raises ToolFailed: it reports an error."""
        printed = self._wire.printed.count if self._wire.printed is not None else 0
        try:
            reply = self._request("tools/call", {"name": tool, "arguments": dict(arguments)})
        except ErrorReply as error:
            raise self._failed(f"The server answered the call of {tool!r} with an error", str(error), printed) from None
        content = reply.get("content")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        texts = [str(block["text"]) for block in blocks if block.get("type") == "text" and "text" in block]
        if reply.get("isError") is True:
            raise self._failed(f"The tool {tool!r} failed", _cut(" ".join(texts)), printed)
        return ToolResult(texts, reply.get("structuredContent"))

    def end(self) -> None:
        """End the session, and the server if it was started here."""
        self._wire.end()

    def _must(self, method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self._request(method, parameters)
        except ErrorReply as error:
            raise McpFailed(f"The server answered {method} with an error: {error}.") from None

    def _failed(self, problem: str, text: str, printed: int) -> ToolFailed:
        """Return the error of a tool call, with the server's own file and line if it printed a stack.

        ``printed``: how many lines the server had printed before the call.
        """
        cause = self._wire.printed.error_since(printed) if self._wire.printed is not None else ""
        if cause.startswith(text):
            return ToolFailed(f"{problem}: {cause}.")
        return ToolFailed(f"{problem}: {text}.{f' Last output: {cause}.' if cause else ''}")

    def _request(self, method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and return its result; notifications are skipped, and the server's own requests refused."""
        self._number += 1
        number = self._number
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        with closing(self._wire.ask(request)) as incoming:
            for message in incoming:
                if "method" in message:
                    if "id" in message:
                        self._refuse(message)
                elif message.get("id") == number:
                    return _result(method, message)
        raise McpFailed(f"The server's reply to {method} ended without a result.")

    def _refuse(self, request: Mapping[str, Any]) -> None:
        """Answer a request of the server: a ping with a result, all others with an error."""
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        if request["method"] == "ping":
            reply["result"] = {}
        else:
            reply["error"] = {"code": NO_SUCH_METHOD, "message": "memeval's client only calls tools."}
        self._wire.tell(reply)


def is_wrong_argument(error: str, tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether the error of a tool call is about the call's arguments, and not of the tool's own code."""
    if unexpected := re.search(r"unexpected keyword argument '(\w+)'", error):
        return unexpected[1] in arguments
    if re.search(r"missing \d+ required \S+ argument", error):
        return f"{tool}()" in error
    return bool(WRONG_ARGUMENTS.search(error))


def _result(what: str, reply: Mapping[str, Any]) -> dict[str, Any]:
    error = reply.get("error")
    if isinstance(error, dict):
        raise ErrorReply(_cut(str(error.get("message") or error.get("code"))))
    result = reply.get("result")
    if not isinstance(result, dict):
        raise McpFailed(f"The server's reply to {what} has no result.")
    return result


def _cut(text: str) -> str:
    return " ".join(text.split())[:QUOTED].rstrip(".") or "it gave no reason"
