"""The HTTP server of a local model's process: one request at a time, each answered from the same state."""

import hmac
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from memeval.local import PREFIX_HEADER

_MOST_BYTES = 20_000_000


class Refused(Exception):
    """A request that cannot be answered: an HTTP status, and a body in OpenAI's form."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(status)
        self.status, self.body = status, body


def refused(status: int, message: str) -> Refused:
    return Refused(status, {"error": {"code": status, "message": message, "type": "invalid_request_error"}})


class ModelEngine(Protocol):
    """What answers requests."""

    name: str

    def answer(self, path: str, body: dict[str, Any], prefix: int) -> dict[str, Any] | Iterator[bytes]:
        """Return the reply to a request, or the pieces of a streamed one; raises Refused."""


class Front:
    """Listens on 127.0.0.1. ``port``: 0 for a free one. ``key``: what requests must carry; ``None`` for nothing."""

    def __init__(self, engine: ModelEngine, port: int, key: str | None) -> None:
        turn = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._reply_with(self._listed)

            def do_POST(self) -> None:
                self._reply_with(self._answered)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing: standard error has the engine's lines."""

            def _reply_with(self, send: Callable[[], None]) -> None:
                try:
                    self._check_key()
                    send()
                except Refused as error:
                    self._send(error.status, error.body)
                except OSError:  # the client is gone
                    self.close_connection = True
                except Exception as error:
                    self._send(500, {"error": {"message": f"{type(error).__name__}: {error}"[:500], "code": 500}})

            def _check_key(self) -> None:
                given = self.headers.get("Authorization", "").removeprefix("Bearer ").strip()
                if key is not None and not hmac.compare_digest(given.encode(), key.encode()):
                    raise refused(401, "this local model belongs to a run of memeval")

            def _listed(self) -> None:
                if self.path.rstrip("/") not in ("/v1/models", "/health"):
                    raise refused(404, f"there is nothing at {self.path[:100]}")
                listed = {"id": engine.name, "object": "model", "owned_by": "memeval"}
                self._send(200, {"object": "list", "data": [listed]})

            def _answered(self) -> None:
                body = self._body()
                digits = self.headers.get(PREFIX_HEADER, "0")
                with turn:
                    reply = engine.answer(self.path, body, int(digits) if digits.isdecimal() else 0)
                    if isinstance(reply, dict):
                        self._send(200, reply)
                    else:
                        self._send_pieces(reply)

            def _body(self) -> dict[str, Any]:
                length = self.headers.get("Content-Length", "")
                if not length.isdecimal() or int(length) > _MOST_BYTES:
                    raise refused(413, f"the body has no length, or more than {_MOST_BYTES:,} bytes")
                try:
                    body = json.loads(self.rfile.read(int(length)))
                except (ValueError, RecursionError):
                    body = None
                if not isinstance(body, dict):
                    raise refused(400, "the body is not a JSON object")
                return body

            def _send(self, status: int, reply: dict[str, Any]) -> None:
                data = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _send_pieces(self, pieces: Iterator[bytes]) -> None:
                self.close_connection = True
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for piece in pieces:
                    self.wfile.write(piece)
                    self.wfile.flush()

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def serve_forever(self) -> None:
        self._server.serve_forever()
