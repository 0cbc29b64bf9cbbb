"""The HTTP server on loopback at which systems call models."""

import asyncio
import json
import logging
import socket as socketlib
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from aiohttp import web
from pydantic import ValidationError

from memeval.gateway.endpoints import Endpoint
from memeval.gateway.serving.completion import Exchange
from memeval.gateway.serving.dialects import EXCHANGES, LISTS, error_form
from memeval.gateway.serving.fields import Fields, Refusal
from memeval.gateway.serving.forwarding import Forwarder
from memeval.gateway.serving.hosts import HostRoute
from memeval.gateway.serving.model_endpoint import TOKEN_PREFIX, ModelEndpoint, PassCounts
from memeval.gateway.serving.slow_replies import JSON, SlowReply
from memeval.gateway.stops import MakesSystemCalls
from memeval.records.call import Call, Caller, ModelRequest, Phase, Traffic
from memeval.records.errors import BadInput, MemevalError

MOST_BYTES = 10_000_000
"""Maximum bytes of a request body."""

ARRIVAL_SECONDS = 60
"""Seconds within which a body must arrive."""

ROWS_REFUSED = 20
"""Refused requests for undeclared models, or hosts, that are recorded per pass; the log counts the others."""

HOSTS = "/hosts/"
"""Prefix, after the token, of the paths of declared hosts."""

COUNTS = ("max_tokens", "max_completion_tokens", "n")
"""Fields that limit the output; a budget must be able to read them."""

MOST_COUNTED = 10**9
"""Largest allowed value of these fields."""

NO_RETRY = {"x-should-retry": "false"}
"""Tells official clients not to retry: memeval already retried model calls. Requests to hosts are sent once."""

_QUIET = logging.getLogger("memeval.model_server")
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False


class ModelServer:
    """An endpoint on 127.0.0.1 that speaks OpenAI's, Anthropic's and Ollama's APIs; use it as a context manager.

    It also forwards requests to the hosts that a submission declares. It runs on the gateway's loop, which must be
    running.

    Args:
        endpoint: the real endpoint of the models. Systems receive only the models' replies from it.
        scenario_calls: maximum calls of a system in one pass over a scenario.
        socket: a Unix socket to listen on as well, for this user only, in an existing folder.
        origin: the address that systems receive; by default the server's own on 127.0.0.1.
        traffic: receives every exchange with a host, on the gateway's loop.
        local: the endpoints of declared models that memeval serves itself, by their names.

    Raises:
        BadInput: on entering, the socket cannot be created.
    """

    def __init__(
        self,
        gateway: MakesSystemCalls,
        endpoint: Endpoint,
        declared: Sequence[str],
        scenario_calls: int,
        log: Callable[[str, str, str], None],
        *,
        socket: Path | None = None,
        origin: str | None = None,
        hosts: Mapping[str, HostRoute] = {},
        traffic: Callable[[Traffic], None] | None = None,
        local: Mapping[str, Endpoint] = {},
    ) -> None:
        self._gateway = gateway
        self._upstream = endpoint
        self._local = dict(local)
        self._declared = tuple(declared)
        self._scenario_calls = scenario_calls
        self._log = log
        self._socket = socket
        self._bound: Path | None = None
        self._hosts = dict(hosts)
        self._traffic = traffic or (lambda _row: None)
        self._endpoints: dict[str, ModelEndpoint] = {}
        self._origin = origin or ""
        self._runner: web.ServerRunner | None = None
        self._forwarder: Forwarder | None = None

    def __enter__(self) -> Self:
        try:
            self._gateway.run(self._start())
        except BaseException:
            self._gateway.run(self._end())
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self._gateway.run(self._end())
        for endpoint in self._endpoints.values():
            self._close_pass(endpoint.current)

    def endpoint(self) -> ModelEndpoint:
        endpoint = ModelEndpoint(self._origin, self._close_pass, self._hosts.values())
        self._endpoints[endpoint.token] = endpoint
        return endpoint

    async def _start(self) -> None:
        server = web.Server(self._handle, access_log=None, logger=_QUIET)
        self._runner = web.ServerRunner(server, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, backlog=1024).start()
        self._origin = self._origin or "http://127.0.0.1:{1}".format(*self._runner.addresses[0])
        if self._socket is not None:
            listening = _private_socket(self._socket)
            self._bound = self._socket
            await web.SockSite(self._runner, listening, backlog=1024).start()
        if self._hosts:
            self._forwarder = Forwarder(self._hosts.values(), self._log, self._traffic)

    async def _end(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        if self._forwarder is not None:
            await self._forwarder.close()
        if self._bound is not None:
            self._bound.unlink(missing_ok=True)

    def _close_pass(self, ended: PassCounts) -> None:
        for kind, what in (("model", "for undeclared models"), ("host", "to undeclared hosts")):
            if (more := ended.undeclared[kind] - ROWS_REFUSED) > 0:
                sentence = f"{more:,} further requests {what} were refused and not recorded."
                self._log("endpoint", sentence, ended.scenario_id or "")

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.rel_url.raw_path
        token, path = _split(path)
        try:
            endpoint = self._endpoints.get(token or _client_key(request))
            if endpoint is None:
                raise Refusal(401, "Unknown key. Use the key and the base URL from the environment variables.")
            return await self._answer(endpoint, path, request)
        except Refusal as refusal:
            status, sentence = refusal.status, refusal.sentence
        except Exception as error:
            # A system always receives a reply; an unexpected error is a defect of memeval.
            self._log("endpoint", f"A request to {path[:100]!r} failed ({type(error).__name__}).", "")
            status, sentence = 500, "memeval's endpoint failed. This is a defect of memeval, not of the request."
        headers = None if path.startswith(HOSTS) and status >= 500 else NO_RETRY
        return web.json_response(error_form(path)(status, sentence), status=status, headers=headers)

    async def _answer(self, endpoint: ModelEndpoint, path: str, request: web.BaseRequest) -> web.StreamResponse:
        if path.startswith(HOSTS):
            return await self._forward(endpoint, path.removeprefix(HOSTS), request)
        if request.method in ("GET", "HEAD") and path in LISTS:
            return web.json_response(LISTS[path](self._declared))
        kind = EXCHANGES.get(path)
        if kind is None:
            known = ", ".join([*EXCHANGES, *LISTS])
            raise Refusal(404, f"memeval's endpoint has no such path. Its paths: {known}.")
        if request.method != "POST":
            raise Refusal(405, f"{path} accepts only POST.")
        arrived_in, phase = endpoint.current, endpoint.phase
        async with endpoint.slots:
            exchange = kind(Fields(_parsed(await _body(request))))
            local = exchange.body["model"] in self._local
            reply = SlowReply(request, exchange.stream_type if exchange.streamed else JSON, patient=local)
            try:
                with endpoint.waiting() as made:
                    call = await reply.awaited(self._call(exchange, arrived_in, phase))
                    if not local:  # the speed of this machine is not the system's fault
                        made.append(call)
                if call.error is not None:
                    raise Refusal(502, f"The model gave no usable reply. {call.error}")
                if exchange.streamed:
                    return await reply.finished("".join(exchange.events(call)).encode())
                return await reply.finished(json.dumps(exchange.whole(call)).encode())
            except Refusal:
                if (begun := reply.broken_off()) is not None:
                    return begun
                raise

    async def _forward(self, endpoint: ModelEndpoint, path: str, request: web.BaseRequest) -> web.StreamResponse:
        counts, phase = endpoint.current, endpoint.phase
        host, _slash, rest = path.partition("/")
        route = self._hosts.get(host)
        if route is None or self._forwarder is None:
            raise self._undeclared_host(host, rest, request, counts, phase)
        query = request.rel_url.raw_query_string
        async with endpoint.slots:
            where = f"/{rest}?{query}" if query else f"/{rest}"
            return await self._forwarder.forward(route, where, request, endpoint, counts, phase)

    def _undeclared_host(
        self, host: str, rest: str, request: web.BaseRequest, counts: PassCounts, phase: Phase
    ) -> Refusal:
        host, rest = (text.encode(errors="replace").decode() for text in (host[:200], rest[:200]))
        sentence = self._undeclared("host", host, self._hosts, counts)
        if counts.undeclared["host"] <= ROWS_REFUSED:
            row = Traffic(
                at=datetime.now(UTC).isoformat(timespec="milliseconds"),
                host=host,
                method=request.method[:32],
                path=f"/{rest}",
                sent_bytes=0,
                received_bytes=0,
                seconds=0.0,
                scenario_id=counts.scenario_id,
                phase=phase,
                error=sentence,
            )
            self._traffic(row)
        return Refusal(403, f"{sentence} Add it to hosts in submission.toml.")

    def _undeclared(self, kind: str, name: str, declared: Collection[str], counts: PassCounts) -> str:
        """Count a request for an undeclared model or host, log the first one of a pass, and return what is wrong."""
        known = f"It declares: {', '.join(declared)}" if declared else "It declares none"
        sentence = f"The {kind} '{name}' is not declared by the submission. {known}."
        counts.undeclared[kind] += 1
        if counts.undeclared[kind] == 1:
            self._log("endpoint", sentence, counts.scenario_id or "")
        return sentence

    async def _call(self, exchange: Exchange, counts: PassCounts, phase: Phase) -> Call:
        model = exchange.body["model"]
        if model not in self._declared:
            await self._refuse(exchange, model[:200], counts, phase)
        _refuse_uncounted(exchange.body)
        if counts.calls >= self._scenario_calls:
            raise Refusal(429, f"The limit of {self._scenario_calls:,} model calls per scenario is reached.")
        upstream = self._local.get(model, self._upstream)
        try:
            request = ModelRequest(endpoint=upstream.url, api=exchange.api, body=exchange.body)
            ordinal = counts.ordinal(request.key)
        except (ValidationError, ValueError, RecursionError):
            sentence = "The body contains a value that JSON cannot represent, or is nested too deep. Send plain JSON."
            raise Refusal(400, sentence) from None
        counts.calls += 1
        if counts.calls == self._scenario_calls:
            sentence = f"The system has made {counts.calls:,} model calls in this scenario; further ones are refused."
            self._log("endpoint", sentence, counts.scenario_id or "")
        try:
            return await self._gateway.pass_on(request, upstream, phase, counts.scenario_id, ordinal)
        except MemevalError:
            raise Refusal(503, "memeval stopped this run: no further model call is possible.") from None

    async def _refuse(self, exchange: Exchange, model: str, counts: PassCounts, phase: Phase) -> None:
        """Refuse a request for an undeclared model, and record it without its text."""
        model = model.encode(errors="replace").decode()
        sentence = self._undeclared("model", model, self._declared, counts)
        if counts.undeclared["model"] <= ROWS_REFUSED:
            request = ModelRequest(endpoint=self._upstream.url, api=exchange.api, body={"model": model})
            ordinal = counts.ordinal(request.key)
            call = Call(
                key=request.key_in(counts.scenario_id or "", ordinal),
                caller=Caller.SYSTEM,
                phase=phase,
                scenario_id=counts.scenario_id,
                ordinal=ordinal,
                request=request,
                reply=None,
                error=sentence,
                tries=0,
                at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            )
            await self._gateway.keep(call)
        raise Refusal(403, f"{sentence} Add it to declared_models in submission.toml.")


def _refuse_uncounted(body: dict[str, Any]) -> None:
    """Refuse an output limit that is not an integer: servers accept ``"50"`` and ``50.0``, but a budget cannot."""
    for name in COUNTS:
        value = body.get(name, 0)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_COUNTED:
            raise Refusal(400, f"'{name}' is not an integer from 0 to {MOST_COUNTED:,}.")


def _private_socket(path: Path) -> socketlib.socket:
    listening = socketlib.socket(socketlib.AF_UNIX)
    try:
        listening.bind(str(path))
        path.chmod(0o600)  # before it listens, so no other user can connect
    except OSError as error:
        listening.close()
        raise BadInput(
            f"cannot create a socket ({error.strerror or error}).",
            where=path,
            remedy="Set TMPDIR to a writable folder with a short path.",
        ) from None
    return listening


def _split(path: str) -> tuple[str | None, str]:
    """Return the token at the start of a path, or ``None``, and the rest of the path."""
    first, slash, rest = path[1:].partition("/")
    return (first, slash + rest) if first.startswith(TOKEN_PREFIX) else (None, path)


def _client_key(request: web.BaseRequest) -> str:
    header = request.headers.get("Authorization", "")
    return header[7:].strip() if header[:7].lower() == "bearer " else request.headers.get("x-api-key", "")


async def _body(request: web.BaseRequest) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(ARRIVAL_SECONDS):
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise Refusal(413, f"The body is larger than {MOST_BYTES:,} bytes. Send a smaller request.")
    except TimeoutError:
        raise Refusal(408, f"The body did not arrive within {ARRIVAL_SECONDS} seconds.") from None
    except (web.PayloadAccessError, web.RequestPayloadError, OSError, ValueError):
        raise Refusal(400, "The body cannot be read. Send plain JSON with its length.") from None
    return bytes(body)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refusal(400, "The body is not JSON.") from None


def _no_constant(name: str) -> None:
    raise ValueError(name)
