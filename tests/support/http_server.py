"""HTTP servers of tests: on loopback, in a thread, and silent."""

import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Call(BaseHTTPRequestHandler):
    """A request; ``answer`` replies to every method."""

    protocol_version = "HTTP/1.1"
    answer: Callable[..., object]

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except OSError:  # the client has left
            self.close_connection = True

    def any(self) -> None:
        self.answer()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = any

    def log_message(self, *_words: Any) -> None: ...

    def body(self) -> bytes:
        """Return the body. Raises ConnectionError: the connection ended before the body did."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self._exactly(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self._line().split(b";")[0], 16):
            parts.append(self._exactly(size))
            self._line()
        self._line()
        return b"".join(parts)

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def reply(self, status: int, body: bytes = b"", headers: Mapping[str, str] = {}) -> None:
        self.head(status, {"Content-Length": str(len(body)), **headers})
        if self.command != "HEAD":
            self.wfile.write(body)

    def _exactly(self, size: int) -> bytes:
        data = self.rfile.read(size)
        if len(data) < size:
            raise ConnectionError
        return data

    def _line(self) -> bytes:
        line = self.rfile.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError
        return line


@contextmanager
def serving(answer: Callable[[Call], object], secure: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve with a function that replies to each request, and yield the address."""
    with running(type("Answering", (Call,), {"answer": lambda call: answer(call)}), secure) as url:
        yield url


@contextmanager
def serving_folder(folder: Path) -> Iterator[str]:
    silent = type("Folder", (SimpleHTTPRequestHandler,), {"log_message": Call.log_message})
    with running(partial(silent, directory=str(folder))) as url:
        yield url


@contextmanager
def running(handler: Callable[..., BaseHTTPRequestHandler], secure: ssl.SSLContext | None = None) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if secure is not None:
        server.socket = secure.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http{'s' if secure else ''}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
