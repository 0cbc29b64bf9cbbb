"""HTTP requests of a driver: limited in size and time, each on its own connection.

If a server closes a reused connection, it is unknown whether the request arrived.
"""

from __future__ import annotations

import http.client
import json
import re
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from http.client import HTTPResponse
    from typing import Any

    from memeval.systems.drivers.printed import DriverFailed
    from memeval.systems.drivers.sse import EventParser, ServerSentEvent, StreamTooLong
else:
    from printed import DriverFailed
    from sse import EventParser, StreamTooLong

REQUEST_SECONDS = 300.0
"""The time limit of a request, from the first byte to the last."""

REPLY_BYTES = 64 << 20

PIECE_BYTES = 1 << 16

QUOTED = 300
"""How many characters of a server's own error message are quoted."""

QUOTED_BODY = 80

UNREACHED = re.compile(r"The host (\S+) cannot be reached(?: at (\S+))?\.|The name of the host (\S+) is unknown\.")
"""How memeval's gateway reports a declared host that it cannot reach."""


class WebFailed(DriverFailed):
    """There is no reply, or one that cannot be used."""


class HttpReply:
    def __init__(self, response: HTTPResponse, body: bytes) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = body

    def json(self) -> Any:
        """Return the body as JSON. Raises WebFailed: it is not JSON."""
        try:
            return json.loads(self.body.decode("utf-8"))
        except (ValueError, RecursionError):
            raise WebFailed(f"The server's reply of status {self.status} {not_json(self.body)}") from None


class HttpServer:
    """A server. Raises WebFailed: ``base`` is not an HTTP URL."""

    def __init__(self, base: str, headers: Mapping[str, str]) -> None:
        try:
            parts = urlsplit(base)
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if not host or parts.scheme not in ("http", "https"):
            raise WebFailed(f"The server's address {base!r} is not an HTTP URL. Correct 'endpoint'.")
        self._connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._address = (host, port)
        self._prefix = parts.path
        self._headers = {**headers, "Connection": "close"}

    @contextmanager
    def open(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = {}
    ) -> Iterator[HTTPResponse]:
        host, port = self._address
        connection = self._connect(host, port, timeout=REQUEST_SECONDS)
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
        deadline = time.monotonic() + REQUEST_SECONDS
        while True:
            try:
                piece = response.read1(PIECE_BYTES)
            except (OSError, ValueError, http.client.HTTPException) as error:
                raise WebFailed(f"The server's reply broke off: {_reason(error)}.") from None
            if not piece:
                break
            yield piece
            if time.monotonic() > deadline:
                raise WebFailed(f"The server's reply was not complete after {REQUEST_SECONDS:g} s.")
        if response.length:
            raise WebFailed(f"The server's reply ended {response.length} bytes early. Check its Content-Length.")

    def events(self, response: HTTPResponse) -> Iterator[ServerSentEvent]:
        parser = EventParser()
        try:
            for piece in self.pieces(response):
                yield from parser.feed(piece)
        except StreamTooLong as error:
            raise WebFailed(str(error)) from None

    def whole(self, response: HTTPResponse) -> HttpReply:
        """Read a reply to its end. Raises WebFailed: it is too large, not complete, or took too long."""
        parts, size = [], 0
        for piece in self.pieces(response):
            size += len(piece)
            if size > REPLY_BYTES:
                raise WebFailed(f"The server's reply exceeds {REPLY_BYTES >> 20} MB. Send less.")
            parts.append(piece)
        return HttpReply(response, b"".join(parts))

    def ask(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = {}) -> HttpReply:
        with self.open(method, path, body, headers) as response:
            return self.whole(response)


def _reason(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__)[:QUOTED].rstrip(".")


def trouble(body: bytes, kind: str = "") -> str:
    """Return the error message in a reply: from JSON its code and message, from HTML its text; blank if none."""
    message = body[: 4 * QUOTED].decode("utf-8", "backslashreplace").strip()
    try:
        problem = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        problem = None
    if isinstance(problem, dict):
        inner = problem.get("error")
        fields = {**problem, **inner} if isinstance(inner, dict) else problem
        texts = {name: text for name, text in fields.items() if isinstance(text, str) and text}
        why = next((texts[name] for name in ("detail", "message", "error", "title") if name in texts), "")
        message = ": ".join(text for text in (texts.get("code"), why) if text) or message
    elif kind == "text/html" or message[:15].lower().startswith(("<!doctype html", "<html")):
        words = " ".join(re.sub(r"<[^<>]*>", " ", message).split())
        message = f"an HTML page ('{words[:QUOTED_BODY]}')"
    return " ".join(message.split())[:QUOTED].rstrip(".")


def unreachable(status: int, body: bytes, what: str) -> str | None:
    """Return the error and the remedy if a declared host cannot be reached; ``None`` if it replied itself."""
    found = UNREACHED.search(trouble(body) + ".") if status in (502, 504) else None
    if found is None:
        return None
    host = found[1] or found[3]
    at = f" at {found[2] or f'https://{host}'}" if found[1] else f": the host name {host} is unknown"
    return (
        f"The {what} cannot be reached{at}. "
        f"Start it there, or give the address of one that runs: --host {host}=http://127.0.0.1:PORT."
    )


def not_json(body: bytes) -> str:
    """Return why a body is not JSON and the remedy, to continue a sentence about the reply."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        near = body[max(0, error.start - 20) : error.start + 20].decode("utf-8", "backslashreplace")
        return f"is not UTF-8 (near {near!r}). Encode it as UTF-8."
    return f"is not JSON: {text[:QUOTED_BODY]!r}. Send JSON."
