"""A real HTTP server that speaks the OpenAI API and answers from the request alone, with faults where they are wanted.

In a test: ``with ModelServer(latency=0.05) as server: … server.url``. As a process of its own, which can be killed and
started again on the same port: ``python -m tests.support.model_server --port 8123 --latency 0.05 --fault 429=0.1``; it
prints its base URL once it listens, and ``GET /seen`` gives its counts.
"""

import argparse
import asyncio
import base64
import hashlib
import json
import re
import signal
import ssl
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

FINGERPRINT = "fp_local"
"""The fingerprint of every reply."""

_ERRORS: dict[str, tuple[int, dict[str, Any]]] = {
    "429": (429, {"message": "Rate limit reached.", "type": "requests", "code": "rate_limit_exceeded"}),
    "500": (500, {"message": "The server had an error.", "type": "server_error", "code": None}),
    "400": (400, {"message": "Invalid 'messages'.", "type": "invalid_request_error", "code": "invalid_value"}),
    "quota": (
        429,
        {
            "message": "You exceeded your current quota, please check your plan and billing details.",
            "type": "insufficient_quota",
            "code": "insufficient_quota",
        },
    ),
    "model": (
        404,
        {
            "message": "The model does not exist or you do not have access to it.",
            "type": "invalid_request_error",
            "code": "model_not_found",
        },
    ),
}
_BODIES = {
    "html": b"<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>",
    "garbage": b"\x00\xff\xfe{not json at all",
    "empty": b"",
}
FAULTS = (
    *_ERRORS,
    *_BODIES,
    "key",
    "dropped",
    "torn",
    "cut",
    "blank",
    "slow",
    "huge",
    "no-choices",
    "upstream",
    "filtered",
)
"""What can be wrong with a reply:

``429`` with a Retry-After, ``500``, ``400``, ``quota`` gone, no such ``model``, wrong ``key`` (401, with the key given
back), ``html``, ``garbage`` and ``empty`` bodies under 200, a connection ``dropped`` before the reply or ``torn`` in
it, JSON ``cut`` off, ``blank`` content, ``slow``, a ``huge`` reply of 10 MB, ``no-choices``, the error of an
``upstream`` provider in the choice after some text, a reply ``filtered`` empty; the last two under 200.
"""


def yes_or_no(body: dict[str, Any]) -> str:
    """Answer yes or no, by the hash of the prompt."""
    prompt = json.dumps(body.get("messages"), sort_keys=True).encode()
    return ("no", "yes")[hashlib.sha256(prompt).digest()[0] % 2]


def reasoning_only(body: dict[str, Any]) -> dict[str, Any] | None:
    """Refuse what OpenAI refuses for its reasoning models, in its own words."""
    if not re.match(r"o\d|gpt-5", str(body.get("model"))):
        return None
    if "max_tokens" in body:
        message = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        return _unsupported("max_tokens", "unsupported_parameter", message)
    if body.get("temperature", 1) != 1:
        message = f"Unsupported value: 'temperature' does not support {body['temperature']} with this model. "
        return _unsupported("temperature", "unsupported_value", f"{message}Only the default (1) value is supported.")
    return None


def _unsupported(param: str, code: str, message: str) -> dict[str, Any]:
    return {"message": message, "type": "invalid_request_error", "param": param, "code": code}


def digest(body: Any) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


@dataclass(kw_only=True, eq=False)
class ModelServer:
    """An OpenAI-compatible server on loopback, in a thread; use it as a context manager, as often as wanted."""

    latency: float = 0.0
    """Seconds that each reply takes."""
    answer: Callable[[dict[str, Any]], str] = yes_or_no
    """The text of a chat reply, from the request's body."""
    faults: Mapping[str, float] | None = None
    """Per name of :data:`FAULTS`, the share of tries that go wrong so, decided by seed, request and try."""
    seed: int = 0
    most_faults: int | None = 3
    """After so many faults in a row a request is answered; ``None`` for never."""
    retry_after: float | None = 0.05
    """What ``429`` says, in seconds; ``None`` says nothing."""
    slow_seconds: float = 0.5
    key: str | None = None
    """The key that must be presented; ``None`` for any."""
    models: frozenset[str] | None = None
    """The models there are; ``None`` for all."""
    port: int = 0
    """0 for a free one, which is kept when the server is started again."""
    tls: ssl.SSLContext | None = None
    refusal: tuple[int, Any] | None = None
    """The status and the body of every reply, whatever is asked: text as it is, all else as JSON."""
    refusal_headers: Mapping[str, str] | None = None
    refuses: Callable[[dict[str, Any]], dict[str, Any] | None] = lambda _body: None
    """The error that a request is refused with (400), from its body; ``None`` where it is not."""
    answered: Counter[str] = field(default_factory=Counter)
    """Good replies delivered, per digest of the request's body."""
    tries: Counter[str] = field(default_factory=Counter)
    """Requests received, per digest of the body."""
    faulted: Counter[str] = field(default_factory=Counter)
    """Faults made, per name."""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    """Names in lower case."""
    queries: list[dict[str, str]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """When each request came, on the monotonic clock."""
    in_flight: int = 0
    most_in_flight: int = 0

    def __post_init__(self) -> None:
        if unknown := set(self.faults or {}) - set(FAULTS):
            raise ValueError(f"no such faults: {unknown}")
        self.received = threading.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stop = asyncio.Event()

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/v1"

    @property
    def requests(self) -> int:
        return len(self.times)

    def wait_for(self, requests: int, timeout: float = 10) -> None:
        """Wait until so many requests have come in all."""
        with self.received:
            if not self.received.wait_for(lambda: self.requests >= requests, timeout):
                raise TimeoutError(f"{self.requests} of {requests} requests came")

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self.serve(ready.set),), daemon=True)
        self._thread.start()
        if not ready.wait(10):
            raise RuntimeError("the server did not start")
        return self

    def __exit__(self, *_error: object) -> None:
        if self._loop is not None and self._thread is not None:
            with suppress(RuntimeError):  # it has stopped already
                self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)

    async def serve(self, ready: Callable[[], None]) -> None:
        """Serve until :meth:`stop`; ``ready`` is called once the server listens."""
        self._loop = asyncio.get_running_loop()
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/v1/chat/completions", self._model_call)
        app.router.add_post("/v1/embeddings", self._model_call)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/seen", self._seen)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port, ssl_context=self.tls, backlog=1024)
        await site.start()
        self.port = runner.addresses[0][1]
        ready()
        await self._stop.wait()
        await runner.cleanup()

    def stop(self) -> None:
        self._stop.set()

    async def _models(self, _request: web.Request) -> web.Response:
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "local"} for name in self.models or ()]
        return web.json_response({"object": "list", "data": data})

    async def _seen(self, _request: web.Request) -> web.Response:
        return web.json_response(
            {
                "requests": self.requests,
                "answered": self.answered,
                "faulted": self.faulted,
                "most_in_flight": self.most_in_flight,
            }
        )

    async def _model_call(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        name = digest(body)
        self.tries[name] += 1
        with self.received:
            self.times.append(time.monotonic())
            self.bodies.append(body)
            self.queries.append(dict(request.query))
            self.headers.append({field.lower(): value for field, value in request.headers.items()})
            self.received.notify_all()
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._reply(request, body, name)
        finally:
            self.in_flight -= 1

    async def _reply(self, request: web.Request, body: dict[str, Any], name: str) -> web.StreamResponse:
        if self.latency:
            await asyncio.sleep(self.latency)
        if self.refusal is not None:
            status, said = self.refusal
            text = said if isinstance(said, str) else json.dumps(said)
            return web.Response(status=status, text=text, headers=self.refusal_headers)
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        fault = self._fault(name)
        if fault:
            self.faulted[fault] += 1
        if fault == "key" or (self.key is not None and given != self.key):
            return _error(401, {"message": f"Incorrect API key provided: {given}.", "code": "invalid_api_key"})
        if (error := self.refuses(body)) is not None:
            return _error(400, error)
        if self.models is not None and body.get("model") not in self.models:
            fault = "model"
        if fault in _ERRORS:
            status, said = _ERRORS[fault]
            wait = {"Retry-After": str(self.retry_after)} if fault == "429" and self.retry_after is not None else {}
            return _error(status, said, wait)
        if fault in _BODIES:
            return web.Response(body=_BODIES[fault], content_type="text/html" if fault == "html" else None)
        if fault == "dropped":
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if fault == "slow":
            await asyncio.sleep(self.slow_seconds)
        reply = self._good(body, request.path, {"blank": "", "huge": "x" * 10_000_000}.get(fault or ""))
        if fault == "no-choices":
            reply["choices"] = []
        if fault == "upstream":
            reply["choices"][0] |= {"finish_reason": "error", "error": {"code": 502, "message": "Upstream error."}}
        if fault == "filtered":
            reply["choices"][0] |= {"finish_reason": "content_filter", "message": {"role": "assistant"}}
        data = json.dumps(reply).encode()
        if fault == "cut":
            return web.Response(body=data[: len(data) // 2], content_type="application/json")
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(data))})
        await response.prepare(request)
        if fault == "torn":
            await response.write(data[: len(data) // 2])
            assert request.transport is not None
            request.transport.close()
            return response
        good = Counter({name: 1} if fault in (None, "slow", "blank") else {})
        self.answered += good  # before the last byte is sent: the client may look at the count as soon as it has it
        try:
            await response.write(data)
            await response.write_eof()
        except BaseException:
            self.answered -= good
            raise
        return response

    def _fault(self, name: str) -> str | None:
        """Decide what goes wrong with this try of this request."""
        tried = self.tries[name]
        if self.most_faults is not None and tried > self.most_faults:
            return None
        lot = int.from_bytes(hashlib.sha256(f"{self.seed} {name} {tried}".encode()).digest()[:6]) / (1 << 48)
        for fault, share in (self.faults or {}).items():
            if lot < share:
                return fault
            lot -= share
        return None

    def _good(self, body: dict[str, Any], path: str, text: str | None) -> dict[str, Any]:
        if path.endswith("embeddings"):
            return _embeddings(body)
        content = self.answer(body) if text is None else text
        prompt = sum(len(json.dumps(message)) // 4 + 1 for message in body.get("messages", ()))
        made = len(content) // 4 + 1
        message = {"role": "assistant", "content": content}
        return {
            "id": "chatcmpl-" + digest(body)[:12],
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model"),
            "system_fingerprint": FINGERPRINT,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
            "usage": {"prompt_tokens": prompt, "completion_tokens": made, "total_tokens": prompt + made},
        }


def _error(status: int, error: dict[str, Any], headers: Mapping[str, str] | None = None) -> web.Response:
    return web.json_response({"error": error}, status=status, headers=headers)


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    data = []
    for index, text in enumerate(texts):
        vector: Any = [byte / 255 - 0.5 for byte in hashlib.sha256(str(text).encode()).digest()[:8]]
        if body.get("encoding_format") == "base64":
            vector = base64.b64encode(struct.pack("<8f", *vector)).decode()
        data.append({"object": "embedding", "index": index, "embedding": vector})
    tokens = sum(len(str(text)) // 4 + 1 for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": body.get("model"), "usage": usage}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.support.model_server")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fault", action="append", default=[], metavar="NAME=SHARE")
    given = parser.parse_args()
    faults = {name: float(share) for name, _, share in (each.partition("=") for each in given.fault)}
    server = ModelServer(latency=given.latency, faults=faults, seed=given.seed, port=given.port)

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, server.stop)
        await server.serve(lambda: print(server.url, flush=True))

    asyncio.run(serve())


if __name__ == "__main__":
    main()
