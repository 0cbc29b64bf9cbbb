"""The two ways to a server of the Model Context Protocol: lines over its standard streams, and HTTP."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import threading
import time
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from typing import IO, Any

    from memeval.systems.drivers.serving import Server
    from memeval.systems.drivers.web import Web, WebFailed, trouble
else:
    from web import WebFailed, trouble

REQUEST_SECONDS = 300.0
"""How long a server may take to reply."""

LINE_BYTES = 64 << 20
"""The longest message that is taken."""

PIECE_BYTES = 1 << 16

PRINTED_BYTES = 4000
QUOTED = 200
LAST_LINES = 3
"""Longer lines of output are cut; and how many of the last, each cut to how many characters, a sentence quotes."""

ENDING_SECONDS = 5.0
"""How long a server may take to end once its input was closed, and again once it was asked to."""


class McpFailed(Exception):
    """The server refused, broke off, or is not what it should be; the text is sentences."""


class Lines:
    """A server of our own, spoken to over its standard streams, one JSON message a line.

    Args:
        command: starts it.
        folder: where.

    Raises:
        McpFailed: it cannot be started.
    """

    def __init__(self, command: Sequence[str], folder: str) -> None:
        try:
            self._process = subprocess.Popen(
                list(command),
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise McpFailed(f"The server's command {command[0]!r} cannot be run ({reason}).") from None
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._printed = threading.Thread(target=self._hand_on, daemon=True)
        self._printed.start()
        self._unread = b""
        self._ready: deque[bytes] = deque()

    def ask(self, message: Mapping[str, Any]) -> Generator[dict[str, Any]]:
        """Send a request, and yield what comes from then on, for ever.

        Raises:
            McpFailed: the server has ended, says nothing, or writes what is no message.
        """
        self.tell(message)
        deadline = time.monotonic() + REQUEST_SECONDS
        while True:
            line = self._line(deadline)
            if line.strip():
                yield as_message(line)

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send what has no reply.

        Raises:
            McpFailed: the server has ended.
        """
        try:
            self._process.stdin.write(json.dumps(message).encode("ascii") + b"\n")  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]
        except OSError:
            raise McpFailed(self._obituary()) from None

    def agreed(self, version: str) -> None:
        """Take note of the protocol's version: over lines no message says it again."""

    def end(self) -> None:
        """End the server: its input is closed, then it is asked, then it is killed."""
        for ask in (self._process.stdin.close, self._process.terminate, self._process.kill):  # type: ignore[union-attr]
            with contextlib.suppress(OSError):
                ask()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(ENDING_SECONDS)
                break
        self._printed.join(ENDING_SECONDS)
        self._process.stdout.close()  # type: ignore[union-attr]

    def _line(self, deadline: float) -> bytes:
        descriptor = self._process.stdout.fileno()  # type: ignore[union-attr]
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            parts, size = [self._unread], len(self._unread)
            self._unread = b""
            while not self._ready:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self._unread = b"".join(parts)
                    raise McpFailed("The server did not reply in time.")
                piece = os.read(descriptor, PIECE_BYTES)
                if not piece:
                    raise McpFailed(self._obituary())
                first, *others = piece.split(b"\n")
                parts.append(first)
                size += len(first)
                if size > LINE_BYTES:
                    raise McpFailed(f"The server wrote a message longer than {LINE_BYTES} bytes.")
                if others:
                    self._ready.extend([b"".join(parts), *others[:-1]])
                    parts = [others[-1]]
            self._unread = b"".join(parts)
        return self._ready.popleft()

    def _obituary(self) -> str:
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return "The server has closed its output, and still runs."
        self._printed.join(1.0)
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        lines = " | ".join(line[:QUOTED] for line in tuple(self._last))
        return f"The server {how}.{f' Its last output: {lines}' if lines else ''}"

    def _hand_on(self) -> None:
        """Write what the server prints to our own stderr."""
        printed: IO[bytes] = self._process.stderr  # type: ignore[assignment]
        with printed:
            for line in iter(lambda: printed.readline(PRINTED_BYTES), b""):
                self._last.append(line.decode("utf-8", "backslashreplace").strip())
                with contextlib.suppress(OSError):
                    sys.stderr.buffer.write(line if line.endswith(b"\n") else line + b"\n")
                    sys.stderr.buffer.flush()


class Streamable:
    """A server spoken to over HTTP, one POST a message; it replies in JSON or in a stream of events.

    Args:
        web: the server.
        path: where it takes messages, behind the base of ``web``.
        server: its process, where it was started here.
    """

    def __init__(self, web: Web, path: str, server: Server | None) -> None:
        self._web = web
        self._path = path
        self._server = server
        self._session: dict[str, str] = {}

    def ask(self, message: Mapping[str, Any]) -> Generator[dict[str, Any]]:
        """Send a request, and yield what the reply to it holds.

        Raises:
            McpFailed: the server refuses it, has ended, or replies with what is no message.
        """
        body = json.dumps(message).encode("ascii")
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **self._session,
        }
        try:
            with self._web.open("POST", self._path, body, headers) as response:
                if not 200 <= response.status < 300:
                    raise McpFailed(
                        f"The server answered {response.status} to {message.get('method', 'a reply')}: "
                        f"{trouble(self._web.whole(response))}."
                    )
                if session := response.headers.get("Mcp-Session-Id"):
                    self._session["Mcp-Session-Id"] = session
                if response.headers.get_content_type() == "text/event-stream":
                    for event in self._web.events(response):
                        if event.name == "message" and event.data:
                            yield as_message(event.data.encode("utf-8"))
                elif data := self._web.whole(response).body:
                    yield as_message(data)
        except WebFailed as error:
            raise McpFailed(self._explained(error)) from None

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send what has no reply.

        Raises:
            McpFailed: the server refuses it, or has ended.
        """
        for _ in self.ask(message):
            pass

    def agreed(self, version: str) -> None:
        """Say from now on which version of the protocol was agreed on."""
        self._session["MCP-Protocol-Version"] = version

    def end(self) -> None:
        """End the session and, where it was started here, the server."""
        if self._server is not None:
            self._server.end()
        elif "Mcp-Session-Id" in self._session:
            with contextlib.suppress(WebFailed):
                self._web.ask("DELETE", self._path, None, self._session)

    def _explained(self, error: WebFailed) -> str:
        """Return why no reply came: where the server has ended, that."""
        if self._server is not None:
            for _ in range(10):
                if not self._server.alive:
                    return self._server.obituary()
                time.sleep(0.05)  # a process that has ended shows a moment after its connections
        return str(error)


def as_message(data: bytes) -> dict[str, Any]:
    """Read a message.

    Raises:
        McpFailed: it is none.
    """
    try:
        message = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        shown = data[:QUOTED].decode("utf-8", "backslashreplace").strip()
        raise McpFailed(f"The server wrote something else where messages of JSON-RPC belong: {shown!r}")
    return message
