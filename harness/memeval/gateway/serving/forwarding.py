"""Forwards a system's requests to its declared hosts, and inserts the key, which the system never receives."""

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
from memeval.gateway.serving.hosts import HostRoute, Redaction
from memeval.gateway.serving.model_endpoint import ModelEndpoint, PassCounts
from memeval.records.call import Phase, Traffic

MOST_BYTES = 50 * 1024 * 1024
"""Maximum bytes of a forwarded body, in either direction."""

MOST_SECONDS = 600.0
"""Maximum seconds of a whole exchange."""

CONNECT_SECONDS = 30.0
"""Seconds within which a host must accept a connection."""

MOST_EXCHANGES = 20_000
"""Maximum forwarded requests in one pass over a scenario."""

LONGEST_PATH = 1000

HOP_BY_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"),
        *("te", "trailer", "transfer-encoding", "upgrade", "http2-settings", "expect"),
    }
)
"""Headers of one connection, not of the exchange (RFC 9110, section 7.6.1)."""

NOT_SENT = HOP_BY_HOP | {"host", "accept-encoding", "range", "if-range"}
"""Headers that are not forwarded. Compressed or partial replies could not be searched for the key."""

NOT_RETURNED = HOP_BY_HOP | {"content-encoding", "content-length", "location"}
"""Headers that are not returned unchanged: replies are decompressed, and their length may change."""

READABLE = ("", "identity", "gzip", "deflate")
"""Encodings of a reply that can be searched for the key."""


class _NotPublic(OSError):
    """A host's name resolves to this machine or its local network."""


class _PublicNames(aiohttp.ThreadedResolver):
    """Resolves names, and refuses addresses of this machine and its network, such as cloud metadata services.

    ``own``: names from the caller's overrides, which may resolve to any address.
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
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_global


class _Broken(Exception):
    """An exchange failed after its reply had started."""


@dataclass
class _HostExchange:
    route: HostRoute
    request: web.BaseRequest
    path: str
    endpoint: ModelEndpoint
    counts: PassCounts
    phase: Phase
    at: str
    began: float
    status: int | None = None
    sent: int = 0
    received: int = 0
    error: str | None = None
    fault: Refusal | None = None
    """The error in the request's body, found while it was sent."""
    reply: web.StreamResponse | None = None
    """The reply to the system, once it has started."""

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
            scenario_id=self.counts.scenario_id,
            phase=self.phase,
            error=self.error,
        )


class Forwarder:
    """Forwards requests to declared hosts; create and use it on one loop."""

    def __init__(
        self, routes: Collection[HostRoute], log: Callable[[str, str, str], None], traffic: Callable[[Traffic], None]
    ) -> None:
        self._log = log
        self._traffic = traffic
        own = {urlsplit(route.origin).hostname or "" for route in routes if route.origin != f"https://{route.host}"}
        names = _PublicNames(own | {urlsplit(proxy).hostname or "" for proxy in getproxies().values()})
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=_certificates(routes), resolver=names),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            skip_auto_headers=("User-Agent", "Accept", "Content-Type"),
        )

    async def close(self) -> None:
        await self._session.close()

    async def forward(
        self,
        route: HostRoute,
        path: str,
        request: web.BaseRequest,
        endpoint: ModelEndpoint,
        counts: PassCounts,
        phase: Phase,
    ) -> web.StreamResponse:
        """Forward a request, and return the reply; both are streamed.

        ``endpoint``: the system's endpoint, whose token is the placeholder for the key. Raises Refusal: the request was
        not forwarded, or no reply came.
        """
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        exchange = _HostExchange(route, request, path, endpoint, counts, phase, at, time.monotonic())
        try:
            return await self._forwarded(exchange)
        except Refusal as refusal:
            exchange.error = refusal.sentence
            raise
        finally:
            self._traffic(exchange.row())

    async def _forwarded(self, exchange: _HostExchange) -> web.StreamResponse:
        host = exchange.route.host
        counts, request = exchange.counts, exchange.request
        if "websocket" in request.headers.get("Upgrade", "").lower():
            raise Refusal(501, "memeval does not forward WebSockets. Use the vendor's HTTP API.")
        if counts.exchanges >= MOST_EXCHANGES:
            raise Refusal(429, f"The limit of {MOST_EXCHANGES:,} requests to hosts per scenario is reached.")
        counts.exchanges += 1
        status = 502
        try:
            async with asyncio.timeout(MOST_SECONDS):
                return await self._send(exchange)
        except _Broken as error:
            exchange.error = str(error)
        except aiohttp.ClientError as error:
            exchange.error = _message_for(error, exchange.route)
        except TimeoutError:
            status, exchange.error = 504, f"The host {host} did not reply in full within {MOST_SECONDS:.0f} seconds."
        except (ValueError, OSError) as error:
            exchange.error = _message_for(error, exchange.route)
        fault = exchange.fault or Refusal(status, exchange.error)
        if exchange.reply is None:
            raise fault
        exchange.error = fault.sentence
        if request.transport is not None:
            request.transport.close()  # without an end, so the system does not mistake a partial reply for a whole one
        return exchange.reply

    async def _send(self, exchange: _HostExchange) -> web.StreamResponse:
        route, request = exchange.route, exchange.request
        headers = _outgoing(request, exchange.endpoint.token, route.key)
        async with self._session.request(
            request.method,
            URL(route.origin + exchange.path, encoded=True),
            headers=headers,
            data=_request_body(exchange) if request.body_exists else None,
            allow_redirects=False,
            proxy=_proxy(route.origin),
        ) as got:
            exchange.status = got.status
            encoding = got.headers.get("Content-Encoding", "").strip().lower()
            if encoding not in READABLE or got.status < 200:
                raise Refusal(502, f"The host {route.host} sent an unsupported encoding or status.")
            if (got.content_length or 0) > MOST_BYTES and request.method != "HEAD":
                raise Refusal(502, f"The reply of the host {route.host} is larger than {MOST_BYTES:,} bytes.")
            redaction = Redaction(route.key, exchange.endpoint.token)
            reply = web.StreamResponse(status=got.status, headers=self._incoming(exchange, got, redaction))
            exchange.reply = reply
            try:
                await reply.prepare(request)
            except (OSError, aiohttp.ClientError):
                raise _Broken("The system closed the connection.") from None
            await self._stream_back(exchange, got, reply, redaction)
            return reply

    async def _stream_back(
        self, exchange: _HostExchange, got: aiohttp.ClientResponse, reply: web.StreamResponse, redaction: Redaction
    ) -> None:
        async def write(data: bytes) -> None:
            if not data:
                return
            exchange.received += len(data)
            try:
                await reply.write(data)
            except (OSError, aiohttp.ClientError):
                raise _Broken("The system closed the connection.") from None

        async for piece in got.content.iter_any():
            if exchange.received + len(piece) > MOST_BYTES:
                raise _Broken(f"The reply of the host {exchange.route.host} is larger than {MOST_BYTES:,} bytes.")
            await write(redaction.feed(piece))
        await write(redaction.rest())

    def _incoming(self, exchange: _HostExchange, got: aiohttp.ClientResponse, redaction: Redaction) -> CIMultiDict[str]:
        kept = CIMultiDict((name, redaction.text(value)) for name, value in _end_to_end(got.headers, NOT_RETURNED))
        location = got.headers.get("Location")
        if location is not None:
            target = _location(exchange.route, exchange.path, location)
            if target is not None:
                kept["Location"] = redaction.text(f"/{exchange.endpoint.token}/hosts/{exchange.route.host}{target}")
            else:
                sentence = (
                    f"The host {exchange.route.host} redirected the system to another host; the redirect was removed."
                )
                self._log("host", sentence, exchange.counts.scenario_id or "")
        return kept


def _outgoing(request: web.BaseRequest, token: str, key: str | None) -> CIMultiDict[str]:
    """Return the headers for a host: the system's own, with the key in place of the placeholder."""
    compressed = "Content-Encoding" in request.headers  # bodies are decompressed as they are read
    excluded = NOT_SENT | ({"content-encoding", "content-length"} if compressed or not request.body_exists else set())
    headers = CIMultiDict(_end_to_end(request.headers, excluded))
    try:
        "".join(headers.values()).encode()
    except UnicodeEncodeError:
        raise Refusal(400, "A header contains bytes that are not text.") from None
    if key is not None:
        headers = CIMultiDict((name, value.replace(token, key)) for name, value in headers.items())
    headers["Accept-Encoding"] = "identity"
    return headers


def _end_to_end(headers: CIMultiDictProxy[str], excluded: Set[str]) -> list[tuple[str, str]]:
    """Return the end-to-end headers, without those excluded or named by ``Connection``."""
    named = {name.strip().lower() for line in headers.getall("Connection", []) for name in line.split(",")}
    return [(name, value) for name, value in headers.items() if name.lower() not in excluded | named]


async def _request_body(exchange: _HostExchange) -> AsyncIterator[bytes]:
    try:
        async for piece in exchange.request.content.iter_any():
            if exchange.sent + len(piece) > MOST_BYTES:
                exchange.fault = Refusal(413, f"The body is larger than {MOST_BYTES:,} bytes. Send a smaller request.")
                raise exchange.fault
            exchange.sent += len(piece)
            yield piece
    except (web.PayloadAccessError, web.RequestPayloadError, OSError, ValueError):
        exchange.fault = Refusal(400, "The body cannot be read.")
        raise exchange.fault from None


def _location(route: HostRoute, path: str, location: str) -> str | None:
    """Return the target of a redirect, as path and query; ``None`` for a target at another host."""
    try:
        whole = urljoin(route.origin + path, location)
        if not route.owns(whole):
            return None
        parts, base = urlsplit(whole), urlsplit(route.origin).path
    except ValueError:
        return None
    inner = parts.path.removeprefix(base) if parts.path.startswith(f"{base}/") else parts.path
    return (inner or "/") + (f"?{parts.query}" if parts.query else "")


def _certificates(routes: Iterable[HostRoute]) -> ssl.SSLContext | bool:
    """Return the trusted certificates; they load slowly, and plain HTTP needs none."""
    if not any(route.origin.startswith("https") for route in routes):
        return True
    import httpx2

    return httpx2.create_ssl_context()


def _proxy(origin: str) -> str | None:
    """Return the proxy for a host from the user's environment, or ``None``.

    The client's ``trust_env`` would also send credentials from ``~/.netrc``, which no system may use.
    """
    parts = urlsplit(origin)
    if Endpoint(origin).is_loopback or proxy_bypass(parts.hostname or ""):
        return None
    return getproxies().get(parts.scheme)


def _message_for(error: BaseException, route: HostRoute) -> str:
    """Return why no reply came, without the error's own text, which may contain the request."""
    host = route.host
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError):
        return f"No secure connection to the host {host}."
    if isinstance(error, aiohttp.ClientConnectorError):
        if isinstance(error.os_error, socket.gaierror):
            return f"The name of the host {host} is unknown."
        if isinstance(error.os_error, _NotPublic):
            return f"The host {host} resolves to this machine or its local network, which systems may not reach."
        at = "" if route.origin == f"https://{host}" else f" at {route.origin}"
        return f"The host {host} cannot be reached{at}."
    if isinstance(error, ValueError):
        return f"The request to the host {host} is invalid, or its reply is not HTTP."
    return f"The connection to the host {host} broke before the reply was complete."
