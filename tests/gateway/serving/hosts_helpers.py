"""A host on the network, played by a real server on loopback, and a server for systems that leads there."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from memeval.gateway.serving import ModelEndpoint, ModelServer
from memeval.records.call import Traffic

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
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except OSError:
                    self.close_connection = True

            def handle_any(self) -> None:
                outer.handle(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = handle_any

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if secure is not None:
            self._server.socket = secure.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_port
        self.url = f"{'http' if secure is None else 'https'}://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.go_on.set()
        self._server.shutdown()
        self._server.server_close()

    def handle(self, call: BaseHTTPRequestHandler) -> None:
        self.called.set()
        try:
            body = _body(call)
        except OSError:
            self.broken.set()
            raise
        told = {"method": call.command, "path": call.path, "headers": call.headers.items(), "size": len(body)}
        self.seen.append(told)
        what, _, rest = call.path.partition("?")[0].lstrip("/").partition("/")
        getattr(self, f"do_{what.replace('-', '_')}", self.do_echo)(call, rest, body, told)

    def do_echo(self, call: BaseHTTPRequestHandler, rest: str, body: bytes, told: dict[str, Any]) -> None:
        """Give back everything that came, in headers and body."""
        key = call.headers.get("Authorization", "none")
        text = json.dumps({**told, "body": body[:1000].decode(errors="replace")}).replace("/", r"\/")
        reply(call, 200, text.encode(), {"X-Echo": key, "X-Twice": "a", "Content-Type": "application/json"})

    def do_status(self, call: BaseHTTPRequestHandler, rest: str, body: bytes, told: dict[str, Any]) -> None:
        reply(call, int(rest), b"" if rest in ("204", "304") else b'{"detail": "so it is"}', {"Retry-After": "7"})

    def do_size(self, call: BaseHTTPRequestHandler, rest: str, body: bytes, told: dict[str, Any]) -> None:
        reply(call, 200, b"x" * int(rest))

    def do_endless(self, call: BaseHTTPRequestHandler, rest: str, body: bytes, told: dict[str, Any]) -> None:
        start(call, 200, {"Transfer-Encoding": "chunked"})
        while not self.go_on.is_set():
            chunk(call, b"x" * 1_000_000)

    def do_pieces(self, call: BaseHTTPRequestHandler, rest: str, body: bytes, told: dict[str, Any]) -> None:
        """Give the key back in pieces of ``rest`` bytes each."""
        start(call, 200, {"Transfer-Encoding": "chunked"})
        text = f"before {KEY} between {KEY} after {KEY[:10]}".encode()
        for place in range(0, len(text), int(rest)):
            chunk(call, text[place : place + int(rest)])
        chunk(call, b"")

    def do_gzip(self, call: BaseHTTPRequestHandler, rest: str, body: bytes, told: dict[str, Any]) -> None:
        reply(call, 200, gzip.compress(f"packed {KEY}".encode()), {"Content-Encoding": "gzip"})

    def do_packed(self, call: BaseHTTPRequestHandler, rest: str, body: bytes, told: dict[str, Any]) -> None:
        reply(call, 200, KEY.encode(), {"Content-Encoding": "compress"})

    def do_events(self, call: BaseHTTPRequestHandler, rest: str, body: bytes, told: dict[str, Any]) -> None:
        """Send the second event only once it is clear that the first has arrived."""
        start(call, 200, {"Transfer-Encoding": "chunked", "Content-Type": "text/event-stream"})
        chunk(call, b"data: 1\n\n")
        assert self.go_on.wait(10)
        chunk(call, b"data: 2\n\n")
        chunk(call, b"")

    def do_half(self, call: BaseHTTPRequestHandler, rest: str, body: bytes, told: dict[str, Any]) -> None:
        start(call, 200, {"Content-Length": "1000"})
        call.wfile.write(b"x" * 10)
        call.wfile.flush()
        call.close_connection = True

    def do_drop(self, call: BaseHTTPRequestHandler, rest: str, body: bytes, told: dict[str, Any]) -> None:
        call.connection.shutdown(socket.SHUT_RDWR)
        call.close_connection = True

    def do_to(self, call: BaseHTTPRequestHandler, rest: str, body: bytes, told: dict[str, Any]) -> None:
        reply(call, 307, b"", {"Location": unquote(rest)})

    def do_cookie(self, call: BaseHTTPRequestHandler, rest: str, body: bytes, told: dict[str, Any]) -> None:
        start(call, 200, {"Content-Length": "0", "Set-Cookie": "a=1; Path=/"}, [("Set-Cookie", "b=2")])


def _body(call: BaseHTTPRequestHandler) -> bytes:
    """Return the body of a request.

    Raises:
        OSError: the connection ended before the body did.
    """
    if call.headers.get("Transfer-Encoding") != "chunked":
        return _exactly(call, int(call.headers.get("Content-Length", 0)))
    parts = []
    while size := int(_line(call).split(b";")[0], 16):
        parts.append(_exactly(call, size))
        _line(call)
    _line(call)
    return b"".join(parts)


def _exactly(call: BaseHTTPRequestHandler, size: int) -> bytes:
    data = call.rfile.read(size)
    if len(data) < size:
        raise ConnectionError
    return data


def _line(call: BaseHTTPRequestHandler) -> bytes:
    line = call.rfile.readline()
    if not line.endswith(b"\n"):
        raise ConnectionError
    return line


def start(
    call: BaseHTTPRequestHandler, status: int, headers: dict[str, str], more: list[tuple[str, str]] | None = None
) -> None:
    call.send_response(status)
    for name, value in [*headers.items(), *(more or [])]:
        call.send_header(name, value)
    call.end_headers()


def chunk(call: BaseHTTPRequestHandler, data: bytes) -> None:
    call.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    call.wfile.flush()


def reply(call: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
    start(call, status, {"Content-Length": str(len(body)), **(headers or {})})
    if call.command != "HEAD":
        call.wfile.write(body)


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
        self.status = response.status
        self.headers = response.getheaders()
        self.data = response.read()

    @property
    def text(self) -> str:
        return self.data.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.data)

    def header(self, name: str) -> str | None:
        return next((value for each, value in self.headers if each.lower() == name.lower()), None)
