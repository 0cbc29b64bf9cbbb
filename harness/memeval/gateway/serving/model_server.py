"""The HTTP server on loopback through which systems reach models."""

from __future__ import annotations

import asyncio
import json
import logging
import socket as socketlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from pydantic import ValidationError

from memeval.gateway.endpoints import Endpoint
from memeval.gateway.gateway import Gateway
from memeval.gateway.serving.dialects import EXCHANGES, LISTS, error_form
from memeval.gateway.serving.dialects.base import Exchange
from memeval.gateway.serving.fields import Fields, Refusal
from memeval.gateway.serving.forwarding import Forwarder
from memeval.gateway.serving.hosts import HostRoute
from memeval.gateway.serving.model_endpoint import TOKEN_PREFIX, ModelEndpoint, PassCounts
from memeval.records.call import Call, Caller, ModelRequest, Phase
from memeval.records.errors import BadInput, MemevalError
from memeval.records.traffic import Traffic

MOST_BYTES = 10_000_000
"""The largest body of a request."""

ARRIVAL_SECONDS = 60
"""How long a body may take to arrive."""

ROWS_REFUSED = 20
"""How many requests for undeclared models, or hosts, are recorded in one pass; the others are counted in the log."""

HOSTS = "/hosts/"
"""How the paths begin, behind the token, that lead to declared hosts."""

COUNTS = ("max_tokens", "max_completion_tokens", "n")
"""What decides how much may come back, so that a budget must be able to read it."""

MOST_COUNTED = 10**9
"""The largest of these that is passed on."""

FOR_GOOD = {"x-should-retry": "false"}
"""What tells official clients not to ask again: where it makes sense, memeval has done so. Hosts are asked once."""

_QUIET = logging.getLogger("memeval.doors")
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False


class ModelServer:
    """An endpoint on 127.0.0.1 that speaks OpenAI's, Anthropic's and Ollama's APIs; use it as a context manager.

    It also passes requests on to the hosts that a submission declares. It runs on the gateway's loop, which must be
    running.

    Args:
        gateway: makes the calls.
        endpoint: where models are really reached. Nothing of it but the models' replies gets to a system.
        declared: the only models that there are for a system.
        scenario_calls: how many calls a system may make in one pass over a scenario.
        log: told what went wrong: what it is about, a sentence, the scenario's id.
        socket: a Unix socket to listen on too, for this user alone; its folder is there.
        origin: what systems are told to reach, in place of the address on 127.0.0.1.
        hosts: the way to the declared hosts, by name.
        traffic: told of every exchange with a host, on the gateway's loop.

    Raises:
        BadInput: on entering: there can be no socket at that path.
    """

    def __init__(
        self,
        gateway: Gateway,
        endpoint: Endpoint,
        declared: Sequence[str],
        scenario_calls: int,
        log: Callable[[str, str, str], None],
        *,
        socket: Path | None = None,
        origin: str | None = None,
        hosts: Mapping[str, HostRoute] = {},
        traffic: Callable[[Traffic], None] | None = None,
    ) -> None:
        self._gateway = gateway
        self._endpoint = endpoint
        self._declared = tuple(declared)
        self._scenario_calls = scenario_calls
        self._log = log
        self._socket = socket
        self._bound: Path | None = None
        self._hosts = dict(hosts)
        self._traffic = traffic or (lambda _row: None)
        self._doors: dict[str, ModelEndpoint] = {}
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._gateway.run(self._end())
        for door in self._doors.values():
            self._close_pass(door.current)

    def door(self) -> ModelEndpoint:
        """Return a new door, for one system process."""
        door = ModelEndpoint(self._origin, self._close_pass, self._hosts.values())
        self._doors[door.token] = door
        return door

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

    def _close_pass(self, done: PassCounts) -> None:
        for refused, what in ((done.refused, "for undeclared models"), (done.strays, "to undeclared hosts")):
            if (more := refused - ROWS_REFUSED) > 0:
                sentence = f"{more:,} further requests {what} were refused and not recorded."
                self._log("door", sentence, done.scenario_id or "")

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer any request, whatever it is."""
        path = request.rel_url.raw_path
        token, path = _split(path)
        try:
            door = self._doors.get(token or _presented(request))
            if door is None:
                raise Refusal(401, "This is not a key of this endpoint. Take key and base URL from the environment.")
            return await self._answer(door, path, request)
        except Refusal as refusal:
            status, sentence = refusal.status, refusal.sentence
        except Exception as error:
            # What a system sends must never end in silence; that it got here is a fault of memeval's.
            self._log("door", f"A request to {path[:100]!r} failed ({type(error).__name__}).", "")
            status, sentence = 500, "memeval's endpoint failed. This is a fault of memeval's, not of the request."
        for_good = None if path.startswith(HOSTS) and status >= 500 else FOR_GOOD
        return _json(error_form(path)(status, sentence), status, for_good)

    async def _answer(self, door: ModelEndpoint, path: str, request: web.BaseRequest) -> web.StreamResponse:
        if path.startswith(HOSTS):
            return await self._forward(door, path.removeprefix(HOSTS), request)
        if request.method in ("GET", "HEAD") and path in LISTS:
            return _json(LISTS[path](self._declared))
        kind = EXCHANGES.get(path)
        if kind is None:
            known = ", ".join([*EXCHANGES, *LISTS])
            raise Refusal(404, f"memeval's endpoint has nothing there. It has: {known}.")
        if request.method != "POST":
            raise Refusal(405, f"{path} takes POST only.")
        arrived_in, phase = door.current, door.phase
        async with door.places:
            exchange = kind(Fields(_parsed(await _body(request))))
            with door.waiting() as made:
                call = await self._call(exchange, arrived_in, phase)
                made.append(call)
            if call.error is not None:
                raise Refusal(502, f"The model gave no reply that can be used. {call.error}")
            if exchange.streamed:
                text = "".join(exchange.events(call))
                return web.Response(text=text, content_type=exchange.stream_type)
            return _json(exchange.whole(call))

    async def _forward(self, door: ModelEndpoint, path: str, request: web.BaseRequest) -> web.StreamResponse:
        """Pass a request on to a declared host."""
        within, phase = door.current, door.phase
        host, _slash, rest = path.partition("/")
        route = self._hosts.get(host)
        if route is None or self._forwarder is None:
            raise self._stray(host, rest, request, within, phase)
        query = request.rel_url.raw_query_string
        async with door.places:
            where = f"/{rest}?{query}" if query else f"/{rest}"
            return await self._forwarder.forward(route, where, request, door, within, phase)

    def _stray(self, host: str, rest: str, request: web.BaseRequest, within: PassCounts, phase: Phase) -> Refusal:
        """Record a request to a host that is not declared, and return what is said to it."""
        host, rest = (text.encode(errors="replace").decode() for text in (host[:200], rest[:200]))
        there = f"It declares: {', '.join(self._hosts)}" if self._hosts else "It declares none"
        sentence = f"The host '{host}' is not declared by the submission. {there}."
        within.strays += 1
        if within.strays == 1:
            self._log("door", sentence, within.scenario_id or "")
        if within.strays <= ROWS_REFUSED:
            row = Traffic(
                at=datetime.now(UTC).isoformat(timespec="milliseconds"),
                host=host,
                method=request.method[:32],
                path=f"/{rest}",
                sent_bytes=0,
                received_bytes=0,
                seconds=0.0,
                scenario_id=within.scenario_id,
                phase=phase,
                error=sentence,
            )
            self._traffic(row)
        return Refusal(403, f"{sentence} Add it to hosts in submission.toml.")

    async def _call(self, exchange: Exchange, within: PassCounts, phase: Phase) -> Call:
        """Have a call made, as long as the system may make it."""
        model = exchange.body["model"]
        if model not in self._declared:
            await self._refuse(exchange, model[:200], within, phase)
        _refuse_uncounted(exchange.body)
        if within.calls >= self._scenario_calls:
            raise Refusal(429, f"More than {self._scenario_calls:,} model calls in one scenario are not allowed.")
        try:
            request = ModelRequest(endpoint=self._endpoint.url, api=exchange.api, body=exchange.body)
            ordinal = within.ordinal(request.key)
        except (ValidationError, ValueError, RecursionError):
            raise Refusal(400, "The body holds something that no JSON file can hold. Send plain JSON.") from None
        within.calls += 1
        if within.calls == self._scenario_calls:
            sentence = f"The system has made {within.calls:,} model calls in this scenario; further ones are refused."
            self._log("door", sentence, within.scenario_id or "")
        try:
            return await self._gateway.pass_on(request, self._endpoint, phase, within.scenario_id, ordinal)
        except MemevalError:
            raise Refusal(503, "memeval has stopped this run: no model can be reached any more.") from None

    async def _refuse(self, exchange: Exchange, model: str, within: PassCounts, phase: Phase) -> None:
        """Refuse a request for a model that is not declared, and record that it was made; what it said was not sent."""
        model = model.encode(errors="replace").decode()
        there = f"It declares: {', '.join(self._declared)}" if self._declared else "It declares none"
        sentence = f"The model '{model}' is not declared by the submission. {there}."
        within.refused += 1
        if within.refused == 1:
            self._log("door", sentence, within.scenario_id or "")
        if within.refused <= ROWS_REFUSED:
            request = ModelRequest(endpoint=self._endpoint.url, api=exchange.api, body={"model": model})
            ordinal = within.ordinal(request.key)
            call = Call(
                key=request.key_in(within.scenario_id or "", ordinal),
                caller=Caller.SYSTEM,
                phase=phase,
                scenario_id=within.scenario_id,
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
    """Refuse a limit of the output that is no whole number: servers take ``"50"`` and ``50.0`` for 50, a budget cannot.

    Raises:
        Refusal: one is something else.
    """
    for name in COUNTS:
        value = body.get(name, 0)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_COUNTED:
            raise Refusal(400, f"'{name}' is no whole number from 0 to {MOST_COUNTED:,}.")


def _private_socket(path: Path) -> socketlib.socket:
    """Return a Unix socket at a path, which nobody else may connect to.

    Raises:
        BadInput: there can be none.
    """
    made = socketlib.socket(socketlib.AF_UNIX)
    try:
        made.bind(str(path))
        path.chmod(0o600)  # nobody can connect before it listens
    except OSError as error:
        made.close()
        raise BadInput(
            f"no socket can be made there ({error.strerror or error}).",
            where=path,
            remedy="Set TMPDIR to a folder with a short path that you may write to.",
        ) from None
    return made


def _split(path: str) -> tuple[str | None, str]:
    """Return the token that a path begins with, where it does, and the path behind it."""
    first, slash, rest = path[1:].partition("/")
    return (first, slash + rest) if first.startswith(TOKEN_PREFIX) else (None, path)


def _presented(request: web.BaseRequest) -> str:
    """Return what a client presents as its key."""
    given = request.headers.get("Authorization", "")
    return given[7:].strip() if given[:7].lower() == "bearer " else request.headers.get("x-api-key", "")


async def _body(request: web.BaseRequest) -> bytes:
    """Read the body of a request.

    Raises:
        Refusal: it is too large, does not arrive, or is packed in a way that cannot be undone.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(ARRIVAL_SECONDS):
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise Refusal(413, f"The body is larger than {MOST_BYTES:,} bytes. Send less at once.")
    except TimeoutError:
        raise Refusal(408, f"The body did not arrive within {ARRIVAL_SECONDS} seconds.") from None
    except (web.PayloadAccessError, web.RequestPayloadError, OSError, ValueError):
        raise Refusal(400, "The body cannot be read. Send plain JSON with its length.") from None
    return bytes(body)


def _parsed(body: bytes) -> Any:
    """Parse a body strictly.

    Raises:
        Refusal: it is no JSON.
    """
    try:
        return json.loads(body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refusal(400, "The body is not JSON.") from None


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _json(data: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response(data, status=status, headers=headers)
