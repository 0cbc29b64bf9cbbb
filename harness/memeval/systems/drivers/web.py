"""Requests to the server that a driver speaks to: bounded in size and time, and each on a connection of its own.

A connection that is kept open may be gone when it is used next, and nobody knows then whether the request arrived.
"""

from __future__ import annotations

import http.client
import json
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from http.client import HTTPResponse
    from typing import Any

    from memeval.systems.drivers.sse import Event, Parser, StreamTooLong
else:
    from sse import Parser, StreamTooLong

REPLY_BYTES = 64 << 20
"""The longest body of a reply that is read."""

PIECE_BYTES = 1 << 16

QUOTED = 300
"""How many characters of what a server says of its own trouble are quoted."""


class WebFailed(Exception):
    """No reply came, or one that cannot be used; the text is a sentence."""


class TooLarge(WebFailed):
    """A reply is larger than may be."""


class Reply:
    """A reply that was read to its end."""

    def __init__(self, response: HTTPResponse, body: bytes) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = body

    def json(self) -> Any:
        """Return the body as JSON.

        Raises:
            WebFailed: it is not JSON.
        """
        try:
            return json.loads(self.body.decode("utf-8"))
        except (ValueError, RecursionError):
            raise WebFailed(f"The server's reply of status {self.status} is not JSON.") from None


class Web:
    """A server.

    Args:
        base: its URL, without a slash at its end.
        headers: sent with every request.
        seconds: how long a request may take, from the first byte to the last.

    Raises:
        WebFailed: ``base`` is no URL of HTTP.
    """

    def __init__(self, base: str, headers: Mapping[str, str], seconds: float) -> None:
        try:
            parts = urlsplit(base)
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if not host or parts.scheme not in ("http", "https"):
            raise WebFailed(f"The server's address {base!r} is no URL of HTTP.")
        self._connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._address = (host, port)
        self._prefix = parts.path
        self._headers = {**headers, "Connection": "close"}
        self._seconds = seconds

    @contextmanager
    def open(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = {}
    ) -> Iterator[HTTPResponse]:
        """Send a request, and give the reply, its body unread.

        Raises:
            WebFailed: none came.
        """
        host, port = self._address
        connection = self._connect(host, port, timeout=self._seconds)
        try:
            connection.request(method, self._prefix + path, body, {**self._headers, **headers})
            response = connection.getresponse()
        except (OSError, ValueError, http.client.HTTPException) as error:
            connection.close()
            raise WebFailed(f"{method} {path.partition('?')[0]} failed: {_reason(error)}.") from None
        try:
            yield response
        finally:
            connection.close()

    def pieces(self, response: HTTPResponse) -> Iterator[bytes]:
        """Yield the body of a reply as it comes.

        Raises:
            WebFailed: all of it has not come in time.
        """
        deadline = time.monotonic() + self._seconds
        while True:
            try:
                piece = response.read1(PIECE_BYTES)
            except (OSError, ValueError, http.client.HTTPException) as error:
                raise WebFailed(f"The server's reply broke off: {_reason(error)}.") from None
            if not piece:
                break
            yield piece
            if time.monotonic() > deadline:
                raise WebFailed(f"The server's reply was not complete after {self._seconds:g} s.")
        if response.length:
            raise WebFailed(f"The server's reply broke off {response.length} bytes before its end.")

    def events(self, response: HTTPResponse) -> Iterator[Event]:
        """Yield the events of a stream as they come.

        Raises:
            WebFailed: the stream broke off within an event, is too long, or took too long.
        """
        parser = Parser()
        try:
            for piece in self.pieces(response):
                yield from parser.feed(piece)
        except StreamTooLong as error:
            raise WebFailed(str(error)) from None

    def whole(self, response: HTTPResponse, limit: int = REPLY_BYTES) -> Reply:
        """Read a reply to its end.

        Args:
            response: the reply.
            limit: the most bytes its body may have.

        Raises:
            TooLarge: it has more.
            WebFailed: it is not complete, or took too long.
        """
        parts, size = [], 0
        for piece in self.pieces(response):
            size += len(piece)
            if size > limit:
                raise TooLarge(f"The server's reply is longer than {limit} bytes.")
            parts.append(piece)
        return Reply(response, b"".join(parts))

    def ask(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = {}) -> Reply:
        """Send a request, and return the reply.

        Raises:
            WebFailed: none came, or none that can be read.
        """
        with self.open(method, path, body, headers) as response:
            return self.whole(response)


def _reason(error: Exception) -> str:
    """Return what went wrong with a connection, without a full stop."""
    return (str(error).strip() or type(error).__name__)[:QUOTED].rstrip(".")


def trouble(reply: Reply) -> str:
    """Return what a refusal says of itself: of ``application/problem+json`` its code and detail, else its text."""
    said = reply.body[: 4 * QUOTED].decode("utf-8", "replace").strip()
    try:
        problem = json.loads(reply.body.decode("utf-8"))
    except (ValueError, RecursionError):
        problem = None
    if isinstance(problem, dict):
        told = {name: text for name, text in problem.items() if isinstance(text, str) and text}
        why = next((told[name] for name in ("detail", "message", "error", "title") if name in told), "")
        said = ": ".join(text for text in (told.get("code"), why) if text) or said
    return " ".join(said.split())[:QUOTED].rstrip(".") or "it gave no reason"
