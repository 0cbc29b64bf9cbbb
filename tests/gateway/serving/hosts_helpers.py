"""A host on the network, played by a real server on loopback, and a server for systems that leads there."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from memeval.gateway.serving import ModelEndpoint, ModelServer
from memeval.records.call import Traffic
from tests.support.http_server import Call, serving

KEY = "m0-real/key+that=no-system-may-see"
NAME = "api.vendor.test"

OpenHosts = Callable[..., "HostRig"]
"""Opens a rig; see the fixture ``hosts``."""


class Vendor:
    """A server that plays a host; what it does is named by the path.

    Args:
        secure: what it is encrypted with, where it is.
    """

    def __init__(self, secure: ssl.SSLContext | None = None) -> None:
        self.seen: list[dict[str, Any]] = []
        """The requests that arrived whole."""
        self.called = threading.Event()
        self.broken = threading.Event()
        """A request ended before its body did."""
        self.go_on = threading.Event()
        self._running, self._secure = ExitStack(), secure

    def __enter__(self) -> Self:
        self.url = self._running.enter_context(serving(self.handle, self._secure))
        self.port = int(self.url.rpartition(":")[2])
        return self

    def __exit__(self, *_error: object) -> None:
        self.go_on.set()
        self._running.close()

    def handle(self, call: Call) -> None:
        self.called.set()
        try:
            body = call.body()
        except OSError:
            self.broken.set()
            raise
        told = {"method": call.command, "path": call.path, "headers": call.headers.items(), "size": len(body)}
        self.seen.append(told)
        what, _, rest = call.path.partition("?")[0].lstrip("/").partition("/")
        getattr(self, f"do_{what.replace('-', '_')}", self.do_echo)(call, rest, body, told)

    def do_echo(self, call: Call, _rest: str, body: bytes, told: dict[str, Any]) -> None:
        """Give back everything that came, in headers and body."""
        key = call.headers.get("Authorization", "none")
        text = json.dumps({**told, "body": body[:1000].decode(errors="replace")}).replace("/", r"\/")
        call.reply(200, text.encode(), {"X-Echo": key, "X-Twice": "a", "Content-Type": "application/json"})

    def do_status(self, call: Call, rest: str, *_asked: Any) -> None:
        call.reply(int(rest), b"" if rest in ("204", "304") else b'{"detail": "so it is"}', {"Retry-After": "7"})

    def do_size(self, call: Call, rest: str, *_asked: Any) -> None:
        call.reply(200, b"x" * int(rest))

    def do_endless(self, call: Call, rest: str, *_asked: Any) -> None:
        call.head(200, {"Transfer-Encoding": "chunked"})
        while not self.go_on.is_set():
            chunk(call, b"x" * 1_000_000)

    def do_pieces(self, call: Call, rest: str, *_asked: Any) -> None:
        """Give the key back in pieces of ``rest`` bytes each."""
        call.head(200, {"Transfer-Encoding": "chunked"})
        text = f"before {KEY} between {KEY} after {KEY[:10]}".encode()
        for place in range(0, len(text), int(rest)):
            chunk(call, text[place : place + int(rest)])
        chunk(call, b"")

    def do_gzip(self, call: Call, rest: str, *_asked: Any) -> None:
        call.reply(200, gzip.compress(f"packed {KEY}".encode()), {"Content-Encoding": "gzip"})

    def do_packed(self, call: Call, rest: str, *_asked: Any) -> None:
        call.reply(200, KEY.encode(), {"Content-Encoding": "compress"})

    def do_events(self, call: Call, rest: str, *_asked: Any) -> None:
        """Send the second event only once it is clear that the first has arrived."""
        call.head(200, {"Transfer-Encoding": "chunked", "Content-Type": "text/event-stream"})
        chunk(call, b"data: 1\n\n")
        assert self.go_on.wait(10)
        chunk(call, b"data: 2\n\n")
        chunk(call, b"")

    def do_half(self, call: Call, rest: str, *_asked: Any) -> None:
        call.head(200, {"Content-Length": "1000"})
        call.wfile.write(b"x" * 10)
        call.wfile.flush()
        call.close_connection = True

    def do_drop(self, call: Call, rest: str, *_asked: Any) -> None:
        call.connection.shutdown(socket.SHUT_RDWR)
        call.close_connection = True

    def do_to(self, call: Call, rest: str, *_asked: Any) -> None:
        call.reply(307, b"", {"Location": unquote(rest)})

    def do_cookie(self, call: Call, rest: str, *_asked: Any) -> None:
        call.send_response(200)
        for name, value in (("Content-Length", "0"), ("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2")):
            call.send_header(name, value)
        call.end_headers()


def chunk(call: Call, data: bytes) -> None:
    call.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    call.wfile.flush()


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=20)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._path))


@dataclass
class HostRig:
    """A server for systems, with the host behind it."""

    vendor: Vendor
    server: ModelServer
    endpoint: ModelEndpoint
    rows: list[Traffic]
    logged: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def base(self) -> str:
        return self.endpoint.environment["VENDOR_BASE_URL"]

    def connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.base)
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)

    def send(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, *, at: str | None = None
    ) -> Returned:
        """Send a request to the host as a system would, with the placeholder as the key."""
        connection = self.connect()
        given = (
            {"Authorization": f"Token {self.endpoint.environment['VENDOR_API_KEY']}"} if headers is None else headers
        )
        try:
            connection.request(method, urlsplit(at or self.base).path + path, body, given)
            return Returned(connection.getresponse())
        finally:
            connection.close()


class Returned:
    """What came back over HTTP, whole."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status, self.headers, self.data = response.status, response.getheaders(), response.read()

    @property
    def text(self) -> str:
        return self.data.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.data)

    def header(self, name: str) -> str | None:
        return next((value for each, value in self.headers if each.lower() == name.lower()), None)
