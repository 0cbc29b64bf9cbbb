"""The driver for servers with memeval's HTTP contract: each call of the line protocol is a POST.

The contract is published as ``site/openapi/memeval-adapter.json``. memeval limits the time of each call, so the driver
does not.
"""

from __future__ import annotations

import http.client
import json
import os
import select
import socket
import threading
import urllib.parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from memeval.systems.drivers.printed import QUOTED, DriverFailed, cause_in
    from memeval.systems.drivers.serving import ServerProcess, base_url, bearer
    from memeval.systems.drivers.web import not_json, trouble, unreachable
else:
    from printed import QUOTED, DriverFailed, cause_in
    from serving import ServerProcess, base_url, bearer
    from web import not_json, trouble, unreachable

HEALTH = "/healthz"
"""The path that answers 2xx once the server is ready."""

REPLY_BYTES = 32_000_000
"""The longest body that is read. The worker checks the limit of a reply, which is lower."""

READ_BYTES = 1 << 16
QUICK_ACK = getattr(socket, "TCP_QUICKACK", None)

CHANGE_NOTHING = frozenset({"ask", "search", "recall", "reflect", "export", "usage"})
"""Calls that are safe to repeat after the server closed a reused connection without an answer."""

DISPOSITIONS = "dispositions"
"""A capability of servers whose ``reflect`` takes them."""

TEXTS_TOGETHER = "texts_together"
"""A capability of servers that retain several texts at the same time."""

OPTIONAL = {
    "close": "close",
    "export_memories": "export",
    "forget": "forget",
    "ingest_session": "take_in",
    "query": "ask",
    "recall": "recall",
    "reflect": "reflect",
    "retain": "retain",
    "search": "search",
    "settle": "settle",
    "usage": "usage",
}
"""The call behind each optional method; a method is hidden if the server does not list its call."""


class HttpError(DriverFailed):
    """The server refused a call, or its answer cannot be used."""


class HttpContract:
    """A server as an adapter: started here, or already running.

    Args:
        command: the program that starts the server and its arguments, with ``{port}``; empty if it already runs.
        endpoint_variable: the variable with the URL of a server that already runs.
        parameters: the submission's own, passed to ``load``.
    """

    def __init__(
        self,
        command: Sequence[str] = (),
        folder: str = ".",
        start_seconds: float = 60.0,
        endpoint_variable: str | None = None,
        endpoint_path: str = "",
        key_variable: str | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        headers = {"Content-Type": "application/json", "Accept": "application/json", **bearer(key_variable)}
        self._headers = {**headers, "Memeval-Instance": os.urandom(16).hex()}
        path = "/" + endpoint_path.strip("/")
        self._server = ServerProcess(command, folder, start_seconds, path.rstrip("/") + HEALTH) if command else None
        url = urllib.parse.urlsplit(base_url(self._server, endpoint_variable, endpoint_path))
        self._kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._path = url.hostname or "", url.port, url.path
        self._connections = threading.local()
        loaded = self._call("load", {"parameters": parameters or {}})
        if not isinstance(loaded, dict) or not isinstance(loaded.get("capabilities"), list):
            raise HttpError(
                "The answer to POST /load has no list 'capabilities'. "
                'Answer {"capabilities": ["take_in", "ask"]}, with the calls that the server has.'
            )
        self._loaded: dict[str, Any] = loaded
        self.questions_at_once = loaded.get("questions_at_once", 1)
        self.texts_together = TEXTS_TOGETHER in loaded["capabilities"]
        for call in loaded["capabilities"]:
            if call not in ("load", "reset", DISPOSITIONS, TEXTS_TOGETHER, *OPTIONAL, *OPTIONAL.values()):
                raise HttpError(
                    f"POST /load names the unknown capability {str(call)[:100]!r}. "
                    f"Known are {', '.join(sorted(OPTIONAL.values()))}."
                )
        for method, call in OPTIONAL.items():
            if method != "close" and not {method, call}.intersection(loaded["capabilities"]):
                setattr(self, method, None)
        if DISPOSITIONS in loaded["capabilities"] and self.reflect is not None:
            vars(self)["reflect"] = self.reflect_under  # this method accepts the keyword

    @property
    def _connection(self) -> http.client.HTTPConnection:
        """The connection of this thread: each of several questions at the same time has its own."""
        if not hasattr(self._connections, "own"):
            self._connections.own = self._kind(self._host, self._port)
        connection: http.client.HTTPConnection = self._connections.own
        return connection

    def versions(self) -> dict[str, str]:
        return self._loaded.get("packages") or {}

    def reset(self) -> None:
        self._call("reset", {})

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self._call("take_in", {"session": session, "timestamp": timestamp})

    def settle(self, timeout: float) -> bool:
        return self._call("settle", {"timeout": timeout}) is not False

    def query(self, question: str, timestamp: str | None = None) -> Any:
        return self._call("ask", {"question": question, "timestamp": timestamp})

    def search(self, query: str, k: int, timestamp: str | None = None) -> Any:
        return self._call("search", {"query": query, "k": k, "timestamp": timestamp})

    def retain(self, content: str, **about: Any) -> None:
        self._call("retain", {"content": content, **about})

    def recall(self, query: str, **about: Any) -> Any:
        return self._call("recall", {"query": query, **about})

    def reflect(self, query: str, bank: str | None = None, timestamp: str | None = None) -> Any:
        return self.reflect_under(query, bank=bank, timestamp=timestamp)

    def reflect_under(self, query: str, **about: Any) -> Any:
        return self._call("reflect", {"query": query, **about})

    def forget(self, **what: Any) -> Any:
        answer = self._call("forget", what)
        return answer.get("forgotten") if isinstance(answer, dict) else None

    def export_memories(self) -> Any:
        return self._call("export", {})

    def usage(self) -> Any:
        return self._call("usage", {})

    def close(self) -> None:
        """Call ``close`` if the server lists it, and end the server if it was started here."""
        try:
            if "close" in self._loaded["capabilities"] and (self._server is None or self._server.alive):
                self._call("close", {})
        finally:
            self._connection.close()
            if self._server is not None:
                self._server.end()

    def _call(self, call: str, body: dict[str, Any]) -> Any:
        """Make one call, and return its value; ``None`` values in ``body`` are left out.

        Raises HttpError: there is no answer, or it is an error. ServerDied: the server has ended.
        """
        payload = json.dumps({name: value for name, value in body.items() if value is not None}).encode("ascii")
        if _has_been_closed(self._connection):
            self._connection.close()
        reused = self._connection.sock is not None
        printed = self._server.printed.count if self._server is not None else 0
        try:
            try:
                response = self._sent(call, payload)
            except (ConnectionError, http.client.RemoteDisconnected):
                if not reused or call not in CHANGE_NOTHING:
                    raise
                self._connection.close()  # closed before the request arrived, perhaps: safe to repeat
                response = self._sent(call, payload)
            data = _whole_body(response, call)
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise self._broken(call, error, printed) from None
        except HttpError:
            self._connection.close()
            raise
        kind = response.headers.get_content_type()
        if not 200 <= response.status < 300:
            server = self._server if response.status >= 500 else None
            stack = "" if server is None else server.printed.error_since(printed)
            raise HttpError(_refusal(call, response.status, kind, data, stack))
        if not data:
            return None
        if kind != "application/json":
            raise HttpError(
                f"The answer to POST /{call} has the content type {kind[:100]!r}. Send it as 'application/json'."
            )
        try:
            return json.loads(data.decode("utf-8"), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            raise HttpError(f"The answer to POST /{call} {not_json(data)}") from None

    def _sent(self, call: str, payload: bytes) -> http.client.HTTPResponse:
        self._connection.request("POST", f"{self._path}/{call}", payload, self._headers)
        _acknowledge_quickly(self._connection.sock)
        return self._connection.getresponse()

    def _broken(self, call: str, error: Exception, printed: int) -> DriverFailed:
        """Return the error for a connection that closed during a call.

        ``printed``: how many lines the server had printed before the call.
        """
        died = self._server.died(f"POST /{call}") if self._server is not None else None
        if died is not None:
            return died
        if isinstance(error, http.client.RemoteDisconnected):
            problem = f"The server closed the connection without an answer to POST /{call}."
            if self._server is not None and (lines := self._server.printed.since(printed)):
                problem += f" Last output: {cause_in(lines, self._server.printed.folders) or lines[-1][:QUOTED]}."
            return HttpError(f"{problem} Answer errors with status 500 and a 'detail'.")
        return HttpError(f"No answer to POST /{call} ({type(error).__name__}: {error}). Check the server's log.")


def _acknowledge_quickly(connection: socket.socket) -> None:
    """Avoid the kernel's 40 ms delay of the acknowledgement to a server that sends head and body separately."""
    if QUICK_ACK is not None:
        connection.setsockopt(socket.IPPROTO_TCP, QUICK_ACK, 1)


def _has_been_closed(connection: http.client.HTTPConnection) -> bool:
    """Whether the server has closed a reused connection: an idle one is readable only at its end."""
    if connection.sock is None:
        return False
    readable, _, _ = select.select([connection.sock], [], [], 0)
    return bool(readable)


def _whole_body(response: http.client.HTTPResponse, call: str) -> bytes:
    parts, size = [], 0
    while part := response.read(READ_BYTES):
        parts.append(part)
        size += len(part)
        if size > REPLY_BYTES:
            raise HttpError(f"The answer to POST /{call} exceeds {REPLY_BYTES // 1_000_000} MB. Send less.")
    if response.length:
        raise HttpError(f"The answer to POST /{call} ended {response.length} bytes early. Check its Content-Length.")
    return b"".join(parts)


def _refusal(call: str, status: int, kind: str, data: bytes, printed: str) -> str:
    """Return the error and the remedy for a status other than 2xx; ``printed`` is the error that the server printed."""
    if (cause := unreachable(status, data, "server")) is not None:
        return cause
    reason = trouble(data, kind)
    head = f"The server answered POST /{call} with status {status}{f': {reason}' if reason else ''}."
    if status in (404, 405):
        return f"{head} Add this path to the server, or the right path to 'endpoint'."
    if 300 <= status < 400:
        return f"{head} Redirects are not followed: answer at this path."
    if status in (401, 403):
        return f"{head} Check the key."
    if printed and printed not in head:
        head += f" Last output: {printed}."
    return f"{head} Fix the error in the server."


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)
