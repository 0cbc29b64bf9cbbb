"""The two transports of the Model Context Protocol: lines over standard streams, and HTTP."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import selectors
import subprocess
import termios
import threading
import time
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from typing import Any

    from memeval.systems.drivers.printed import DriverFailed, PrintedLines, ServerDied, not_found
    from memeval.systems.drivers.serving import ServerProcess, patience, work_folder
    from memeval.systems.drivers.web import (
        REQUEST_SECONDS,
        HttpReply,
        HttpServer,
        WebFailed,
        not_json,
        trouble,
        unreachable,
    )
else:
    from printed import DriverFailed, PrintedLines, ServerDied, not_found
    from serving import patience, work_folder
    from web import REQUEST_SECONDS, WebFailed, not_json, trouble, unreachable

LINE_BYTES = 64 << 20

PIECE_BYTES = 1 << 16

QUOTED = 120

ENDING_SECONDS = 5.0
"""How long a server may take to end after its input is closed, and again after SIGTERM."""


class McpFailed(DriverFailed):
    """The server refused a call, or does not follow the protocol."""


class StdioTransport:
    """A server that is started here, over its standard streams, with one JSON message per line.

    Raises McpFailed: it cannot be started.
    """

    def __init__(self, command: Sequence[str], folder: str, start_seconds: float) -> None:
        work = work_folder(folder)
        self._seconds = patience(start_seconds)
        try:
            self._process = subprocess.Popen(
                [part.replace("{work}", work) for part in command],
                cwd=work,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except (OSError, ValueError) as error:
            raise McpFailed(not_found(command[0], error)) from None
        self.printed = PrintedLines(folder, work)
        self._printed = threading.Thread(target=self.printed.copy, args=(self._process.stderr,), daemon=True)
        self._printed.start()
        self._unread = b""
        self._ready: deque[bytes] = deque()

    def ask(self, message: Mapping[str, Any]) -> Generator[dict[str, Any]]:
        self.tell(message)
        what = str(message["method"])
        deadline = time.monotonic() + self._seconds
        while True:
            line = self._line(deadline, what)
            if line.strip():
                yield as_message(line)

    def tell(self, message: Mapping[str, Any]) -> None:
        try:
            self._process.stdin.write(json.dumps(message).encode("ascii") + b"\n")  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]
        except OSError:
            raise self._gone(str(message.get("method", "a reply"))) from None

    def agreed(self, version: str) -> None:
        """Give every later request its own time; over lines, no message carries the version of the protocol."""
        self._seconds = REQUEST_SECONDS

    def end(self) -> None:
        """End the server: close its input, then terminate it, then kill it."""
        for ask in (self._process.stdin.close, self._process.terminate, self._process.kill):  # type: ignore[union-attr]
            with contextlib.suppress(OSError):
                ask()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(ENDING_SECONDS)
                break
        self._printed.join(ENDING_SECONDS)
        self._process.stdout.close()  # type: ignore[union-attr]

    def _line(self, deadline: float, what: str) -> bytes:
        descriptor = self._process.stdout.fileno()  # type: ignore[union-attr]
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            parts, size = [self._unread], len(self._unread)
            self._unread = b""
            while not self._ready:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self._unread = b"".join(parts)
                    raise McpFailed(f"The server did not reply to {what} within {self._seconds:g} s. {self._why()}")
                piece = os.read(descriptor, PIECE_BYTES)
                if not piece:
                    raise self._gone(what)
                first, *others = piece.split(b"\n")
                parts.append(first)
                size += len(first)
                if size > LINE_BYTES:
                    raise McpFailed(f"The server's reply to {what} exceeds {LINE_BYTES >> 20} MB. Send less.")
                if others:
                    self._ready.extend([b"".join(parts), *others[:-1]])
                    parts = [others[-1]]
            self._unread = b"".join(parts)
        return self._ready.popleft()

    def _why(self) -> str:
        """Return what to do about a missing reply, by whether the server has read the request."""
        unread = bytearray(4)
        with contextlib.suppress(OSError):
            fcntl.ioctl(self._process.stdin, termios.FIONREAD, unread)  # type: ignore[arg-type]
        if any(unread):
            return "It has not read the request. Read messages from standard input, one a line."
        return "It has read the request. Flush standard output after each message, or raise resources.start_seconds."

    def _gone(self, what: str) -> DriverFailed:
        """Return how the server ended during a request, or that it only closed its output."""
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return ServerDied(f"The server closed its standard output during {what}, and still runs.")
        self._printed.join(1.0)
        return ServerDied(self.printed.ended(code, f"during {what}"))


class HttpTransport:
    """A server over HTTP, with one POST per message; it replies with JSON or an event stream.

    ``path``: the path of its endpoint, after the base of ``web``.
    """

    def __init__(self, web: HttpServer, path: str, server: ServerProcess | None) -> None:
        self._web = web
        self._path = path
        self._server = server
        self.printed = server.printed if server is not None else None
        """What the server has printed; ``None`` if it was not started here."""
        self._session: dict[str, str] = {}

    def ask(self, message: Mapping[str, Any]) -> Generator[dict[str, Any]]:
        body = json.dumps(message).encode("ascii")
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **self._session}
        try:
            with self._web.open("POST", self._path, body, headers) as response:
                if not 200 <= response.status < 300:
                    raise _refusal(str(message.get("method", "a reply")), self._web.whole(response))
                if session := response.headers.get("Mcp-Session-Id"):
                    self._session["Mcp-Session-Id"] = session
                if response.headers.get_content_type() == "text/event-stream":
                    for event in self._web.events(response):
                        if event.name == "message" and event.data:
                            yield as_message(event.data.encode("utf-8"))
                elif data := self._web.whole(response).body:
                    yield as_message(data)
        except WebFailed as error:
            died = self._server.died(str(message.get("method", "a reply"))) if self._server is not None else None
            raise died or McpFailed(str(error)) from None

    def tell(self, message: Mapping[str, Any]) -> None:
        for _ in self.ask(message):
            pass

    def agreed(self, version: str) -> None:
        """Send the agreed protocol version with every later message."""
        self._session["MCP-Protocol-Version"] = version

    def end(self) -> None:
        """End the session, and the server if it was started here."""
        if self._server is not None:
            self._server.end()
        elif "Mcp-Session-Id" in self._session:
            with contextlib.suppress(WebFailed):
                self._web.ask("DELETE", self._path, None, self._session)


def _refusal(what: str, reply: HttpReply) -> McpFailed:
    if (cause := unreachable(reply.status, reply.body, "MCP server")) is not None:
        return McpFailed(cause)
    reason = trouble(reply.body, reply.headers.get_content_type())
    head = f"The server answered {what} with status {reply.status}{f': {reason}' if reason else ''}."
    if reply.status in (404, 405):
        head += " Give the path of the MCP endpoint in 'endpoint'."
    return McpFailed(head)


def as_message(data: bytes) -> dict[str, Any]:
    try:
        message = json.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise McpFailed(f"A message of the server {not_json(data)}") from None
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        shown = data[:QUOTED].decode("utf-8", "backslashreplace").strip()
        raise McpFailed(f"The server wrote a line that is not JSON-RPC: {shown!r}. Print to standard error instead.")
    return message
