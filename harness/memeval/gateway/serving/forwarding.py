"""Passing a system's requests on to the hosts that it declares: the key goes in on the way and never comes back."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp import web
from aiohttp.abc import ResolveResult
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from memeval.gateway.endpoints import Endpoint
from memeval.gateway.serving.fields import Refusal
from memeval.gateway.serving.hosts import HostRoute
from memeval.gateway.serving.model_endpoint import ModelEndpoint, PassCounts
from memeval.gateway.serving.redaction import Redaction
from memeval.records.call import Phase
from memeval.records.traffic import Traffic

MOST_BYTES = 50 * 1024 * 1024
"""The largest body that is passed on, in either direction."""

MOST_SECONDS = 600.0
"""How long an exchange may take as a whole."""

CONNECT_SECONDS = 30.0
"""How long a host may take to accept a connection."""

MOST_EXCHANGES = 20_000
"""How many requests to hosts are passed on in one pass over a scenario."""

LONGEST_PATH = 1000
"""How much of a path is recorded."""

HOP_BY_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"),
        *("te", "trailer", "transfer-encoding", "upgrade", "http2-settings", "expect"),
    }
)
"""Headers that are about one connection, not about the exchange."""

NOT_SENT = HOP_BY_HOP | {"host", "accept-encoding", "range", "if-range"}
"""What is not passed on to a host. A packed reply could not be looked through, nor one that comes in parts."""

NOT_RETURNED = HOP_BY_HOP | {"content-encoding", "content-length", "location"}
"""What is not passed back as it is: replies are unpacked, and may change their length on the way."""

UNPACKED = ("", "identity", "gzip", "deflate")
"""Encodings of a reply that can be looked through."""


class _NotPublic(OSError):
    """A host's name leads to this machine or its own network."""


class _PublicNames(aiohttp.ThreadedResolver):
    """Looks up names, and refuses those that lead to what only this machine can reach, its cloud's metadata say.

    Args:
        own: names that the caller gave, which may lead anywhere.
    """

    def __init__(self, own: Set[str]) -> None:
        super().__init__()
        self._own = own

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await super().resolve(host, port, family)
        if host not in self._own and not all(_is_public(each["host"]) for each in found):
            raise _NotPublic
        return found


def _is_public(text: str) -> bool:
    """Whether an address is one of the public network's."""
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_global


class _Broken(Exception):
    """An exchange broke off after its reply had begun."""


@dataclass
class _Exchange:
    """One request on its way."""

    route: HostRoute
    request: web.BaseRequest
    path: str
    door: ModelEndpoint
    within: PassCounts
    phase: Phase
    at: str
    began: float
    status: int | None = None
    sent: int = 0
    received: int = 0
    error: str | None = None
    fault: Refusal | None = None
    """What was wrong with the request's body, found while it was being sent."""
    reply: web.StreamResponse | None = None
    """What goes back, once it has begun."""

    def row(self) -> Traffic:
        return Traffic(
            at=self.at,
            host=self.route.host,
            method=self.request.method[:32],
            path=self.path.partition("?")[0][:LONGEST_PATH].encode(errors="replace").decode(),
            status=self.status,
            sent_bytes=self.sent,
            received_bytes=self.received,
            seconds=round(time.monotonic() - self.began, 6),
            scenario_id=self.within.scenario_id,
            phase=self.phase,
            error=self.error,
        )


class Forwarder:
    """Passes requests on to declared hosts; make it and use it on one loop.

    Args:
        routes: the hosts, by name.
        log: told what went wrong: what it is about, a sentence, the scenario's id.
        traffic: told of every exchange once it is over.
    """

    def __init__(
        self,
        routes: Collection[HostRoute],
        log: Callable[[str, str, str], None],
        traffic: Callable[[Traffic], None],
    ) -> None:
        self._log = log
        self._traffic = traffic
        own = {urlsplit(route.origin).hostname or "" for route in routes if route.origin != f"https://{route.host}"}
        names = _PublicNames(own | {urlsplit(proxy).hostname or "" for proxy in getproxies().values()})
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=_trusted(routes), resolver=names),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            skip_auto_headers=("User-Agent", "Accept", "Content-Type"),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def forward(
        self,
        route: HostRoute,
        path: str,
        request: web.BaseRequest,
        door: ModelEndpoint,
        within: PassCounts,
        phase: Phase,
    ) -> web.StreamResponse:
        """Pass a request on, and the reply back, both as they come.

        Args:
            route: where to.
            path: path and query at the host.
            request: what came from the system.
            door: its door, whose token stands for the key.
            within: the pass that it belongs to.
            phase: what the system is doing.

        Raises:
            Refusal: nothing was passed on, or no reply came.
        """
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        exchange = _Exchange(route, request, path, door, within, phase, at, time.monotonic())
        try:
            return await self._passed_on(exchange)
        except Refusal as refusal:
            exchange.error = refusal.sentence
            raise
        finally:
            self._traffic(exchange.row())

    async def _passed_on(self, exchange: _Exchange) -> web.StreamResponse:
        host = exchange.route.host
        within, request = exchange.within, exchange.request
        if "websocket" in request.headers.get("Upgrade", "").lower():
            raise Refusal(501, "memeval passes no WebSocket on to a host. Use the vendor's HTTP API.")
        if within.exchanges >= MOST_EXCHANGES:
            raise Refusal(429, f"More than {MOST_EXCHANGES:,} requests to hosts in one scenario are not allowed.")
        within.exchanges += 1
        status = 502
        try:
            async with asyncio.timeout(MOST_SECONDS):
                return await self._exchanged(exchange)
        except _Broken as error:
            exchange.error = str(error)
        except aiohttp.ClientError as error:
            exchange.error = _sentence(error, exchange.route)
        except TimeoutError:
            status, exchange.error = 504, f"The host {host} did not reply in full within {MOST_SECONDS:.0f} seconds."
        except (ValueError, OSError) as error:
            exchange.error = _sentence(error, exchange.route)
        fault = exchange.fault or Refusal(status, exchange.error)
        if exchange.reply is None:
            raise fault
        exchange.error = fault.sentence
        if request.transport is not None:
            request.transport.close()  # without an end, so that nobody takes the part that came for the whole
        return exchange.reply

    async def _exchanged(self, exchange: _Exchange) -> web.StreamResponse:
        route, request = exchange.route, exchange.request
        headers = _outgoing(request, exchange.door.token, route.key)
        async with self._session.request(
            request.method,
            URL(route.origin + exchange.path, encoded=True),
            headers=headers,
            data=_sending(exchange) if request.body_exists else None,
            allow_redirects=False,
            proxy=_proxy(route.origin),
        ) as got:
            exchange.status = got.status
            encoding = got.headers.get("Content-Encoding", "").strip().lower()
            if encoding not in UNPACKED or got.status < 200:
                raise Refusal(502, f"The host {route.host} replied in a way that was not asked for.")
            if (got.content_length or 0) > MOST_BYTES and request.method != "HEAD":
                raise Refusal(502, f"The reply of the host {route.host} is larger than {MOST_BYTES:,} bytes.")
            redaction = Redaction(route.key, exchange.door.token)
            reply = web.StreamResponse(status=got.status, headers=self._incoming(exchange, got, redaction))
            exchange.reply = reply
            try:
                await reply.prepare(request)
            except (OSError, aiohttp.ClientError):
                raise _Broken("The system broke the connection off.") from None
            await self._pass_back(exchange, got, reply, redaction)
            return reply

    async def _pass_back(
        self, exchange: _Exchange, got: aiohttp.ClientResponse, reply: web.StreamResponse, redaction: Redaction
    ) -> None:
        """Pass the body of a reply back as it comes.

        Raises:
            _Broken: it is too large, or the system is gone.
        """

        async def write(data: bytes) -> None:
            exchange.received += len(data)
            try:
                await reply.write(data)
            except (OSError, aiohttp.ClientError):
                raise _Broken("The system broke the connection off.") from None

        async for piece in got.content.iter_any():
            if exchange.received + len(piece) > MOST_BYTES:
                raise _Broken(f"The reply of the host {exchange.route.host} is larger than {MOST_BYTES:,} bytes.")
            if data := redaction.feed(piece):
                await write(data)
        if data := redaction.rest():
            await write(data)

    def _incoming(self, exchange: _Exchange, got: aiohttp.ClientResponse, redaction: Redaction) -> CIMultiDict[str]:
        """Return the headers that go back."""
        kept = CIMultiDict((name, redaction.text(value)) for name, value in _lasting(got.headers, NOT_RETURNED))
        there = got.headers.get("Location")
        if there is not None:
            here = _location(exchange.route, exchange.path, there)
            if here is not None:
                kept["Location"] = redaction.text(f"/{exchange.door.token}/hosts/{exchange.route.host}{here}")
            else:
                sentence = (
                    f"The host {exchange.route.host} sent the system on to another host, which was not passed on."
                )
                self._log("host", sentence, exchange.within.scenario_id or "")
        return kept


def _outgoing(request: web.BaseRequest, token: str, key: str | None) -> CIMultiDict[str]:
    """Return the headers that go to a host: the system's own, with the key where its placeholder stands.

    Raises:
        Refusal: one holds signs that no header has.
    """
    packed = "Content-Encoding" in request.headers  # bodies are unpacked as they are read
    left_out = NOT_SENT | ({"content-encoding", "content-length"} if packed or not request.body_exists else set())
    headers = CIMultiDict(_lasting(request.headers, left_out))
    try:
        "".join(headers.values()).encode()
    except UnicodeEncodeError:
        raise Refusal(400, "A header holds bytes that are no text.") from None
    if key is not None:
        headers = CIMultiDict((name, value.replace(token, key)) for name, value in headers.items())
    headers["Accept-Encoding"] = "identity"
    return headers


def _lasting(headers: CIMultiDictProxy[str], left_out: Set[str]) -> list[tuple[str, str]]:
    """Return the headers of an exchange, without those of one connection, which ``Connection`` may add to."""
    named = {name.strip().lower() for line in headers.getall("Connection", []) for name in line.split(",")}
    return [(name, value) for name, value in headers.items() if name.lower() not in left_out | named]


async def _sending(exchange: _Exchange) -> AsyncIterator[bytes]:
    """Give the body of a request piece by piece, as long as it is not too large."""
    try:
        async for piece in exchange.request.content.iter_any():
            if exchange.sent + len(piece) > MOST_BYTES:
                exchange.fault = Refusal(413, f"The body is larger than {MOST_BYTES:,} bytes. Send less at once.")
                raise exchange.fault
            exchange.sent += len(piece)
            yield piece
    except (web.PayloadAccessError, web.RequestPayloadError, OSError, ValueError):
        exchange.fault = Refusal(400, "The body cannot be read.")
        raise exchange.fault from None


def _location(route: HostRoute, path: str, there: str) -> str | None:
    """Return where a redirect of a host leads, as path and query at that host; ``None`` where it leads elsewhere."""
    try:
        whole = urljoin(route.origin + path, there)
        if not route.is_here(whole):
            return None
        parts, base = urlsplit(whole), urlsplit(route.origin).path
    except ValueError:
        return None
    inner = parts.path.removeprefix(base) if parts.path.startswith(f"{base}/") else parts.path
    return (inner or "/") + (f"?{parts.query}" if parts.query else "")


def _trusted(routes: Iterable[HostRoute]) -> ssl.SSLContext | bool:
    """Return whom to trust; certificates take long to load, and are of no use where nothing is encrypted."""
    if not any(route.origin.startswith("https") for route in routes):
        return True
    import httpx2

    return httpx2.create_ssl_context()


def _proxy(origin: str) -> str | None:
    """Return the proxy that the user's environment names for a host, and none of the rest of what stands there.

    The client's own ``trust_env`` would send what ``~/.netrc`` holds for a host, which no system should act with.
    """
    parts = urlsplit(origin)
    if Endpoint(origin).is_loopback or proxy_bypass(parts.hostname or ""):
        return None
    return getproxies().get(parts.scheme)


def _sentence(error: BaseException, route: HostRoute) -> str:
    """Say why no reply came; nothing of the error's own text, which may hold what was sent."""
    host = route.host
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError):
        return f"No secure connection to the host {host} could be made."
    if isinstance(error, aiohttp.ClientConnectorError):
        if isinstance(error.os_error, socket.gaierror):
            return f"The name of the host {host} is unknown."
        if isinstance(error.os_error, _NotPublic):
            return f"The name of the host {host} leads to this machine or its own network, where no system may go."
        at = "" if route.origin == f"https://{host}" else f" at {route.origin}"
        return f"The host {host} cannot be reached{at}."
    if isinstance(error, ValueError):
        return f"The host {host} cannot be asked for this, or replied with what is no HTTP."
    return f"The connection to the host {host} broke before the whole reply was there."
