"""A bucket that fails on demand: a real HTTP server between memeval and the server of :mod:`bucket_server`.

It forwards every request, except those that a test wants to fail: with an error of S3, or with a cut connection.
"""

import re
import socket
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import md5
from http.client import HTTPConnection
from threading import Lock
from urllib.parse import urlsplit

from tests.support.bucket_server import Bucket
from tests.support.http_server import Call, running

_ERROR = (
    '<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>made by a test</Message>'
    "<Region>eu-central-1</Region><RequestId>1</RequestId></Error>"
)


_REGION = {"x-amz-bucket-region": "eu-central-1"}


@dataclass
class Fault:
    requests: str
    """Pattern of the method and the path with its query, such as ``PUT .*rows/``."""
    code: str | None = None
    """The code of S3 in the reply; ``None`` to cut the connection."""
    status: int = 403
    """The status of the reply."""
    after: int = 0
    """Number of matching requests that pass first."""
    times: int = 1_000_000
    """Number of requests that fail; then they pass again."""
    reply_bytes: int | None = None
    """With a cut: forward the request, and cut after so many bytes of the reply; ``None`` to cut the request."""
    in_headers: bool = False
    """Forward the request, and cut after the first header of the reply."""
    damages: bool = False
    """Change a byte of the body on its way. As S3 does, refuse it then by its ``Content-MD5``, if it has one."""
    seen: int = 0
    """Number of matching requests so far."""

    @property
    def cuts_request(self) -> bool:
        return self.code is None and self.reply_bytes is None and not self.in_headers and not self.damages

    def hits(self, line: str) -> bool:
        """Return whether a request fails, and count it."""
        if not re.match(self.requests, line):
            return False
        self.seen += 1
        return self.after < self.seen <= self.after + self.times


@dataclass
class FaultyBucket:
    endpoint: str
    faults: list[Fault] = field(default_factory=list)
    overwrites: bool = False
    """Whether it ignores the conditions of writing, as some services do."""
    lines: list[str] = field(default_factory=list)
    """Method and path of every request, in order of arrival."""
    lock: Lock = field(default_factory=Lock)

    def next_fault(self, line: str) -> Fault | None:
        with self.lock:
            self.lines.append(line)
            return next((fault for fault in self.faults if fault.hits(line)), None)


@contextmanager
def faulty_bucket(behind: Bucket) -> Iterator[FaultyBucket]:
    """Run a server in front of a bucket."""
    state = FaultyBucket("")
    _Handler.state, _Handler.behind = state, urlsplit(behind.endpoint).netloc
    with running(_Handler) as state.endpoint:
        yield state


class _Handler(Call):
    disable_nagle_algorithm = True
    state: FaultyBucket
    behind: str

    def answer(self) -> None:
        fault = self.state.next_fault(f"{self.command} {self.path}")
        if fault is not None and fault.cuts_request:
            self.rfile.read(int(self.headers.get("Content-Length") or 0) // 2)
            self._cut()
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if fault is not None and fault.code is not None:
            self._reply(
                fault.status, {"Content-Type": "application/xml", **_REGION}, _ERROR.format(code=fault.code).encode()
            )
            return
        if fault is not None and fault.damages:
            body = bytes([body[0] ^ 1]) + body[1:]
            if (said := self.headers.get("Content-MD5")) and said != b64encode(md5(body).digest()).decode():
                self._reply(400, {"Content-Type": "application/xml"}, _ERROR.format(code="BadDigest").encode())
                return
        headers = {name: value for name, value in self.headers.items() if name.lower() != "expect"}
        if self.state.overwrites:
            headers = {name: value for name, value in headers.items() if not name.lower().startswith("if-")}
        connection = HTTPConnection(self.behind, timeout=30)
        try:
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            content, kept = answer.read(), {name: value for name, value in answer.getheaders() if name not in _OWN}
        finally:
            connection.close()
        if fault is not None and fault.in_headers:
            self.send_response_only(answer.status)
            self.send_header("Server", "cut")
            self.flush_headers()
            self._cut()
            return
        length = answer.headers.get("Content-Length") if self.command == "HEAD" else None
        self._reply(answer.status, kept, content, length, None if fault is None else fault.reply_bytes)

    def _reply(
        self, status: int, headers: dict[str, str], content: bytes, length: str | None = None, cut: int | None = None
    ) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", length or str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[:cut])
        if cut is not None:
            self._cut()

    def _cut(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


_OWN = ("Content-Length", "Connection", "Transfer-Encoding", "Date", "Server")
