"""One try of a call over the official client: the raw body comes back, and every fault has a sentence of its own."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from memeval.gateway.endpoints import Endpoint
from memeval.gateway.settings import NAMED, VARIABLE
from memeval.gateway.stops import GOES_ON, BudgetSpent, GatewayStopped, RequestRefused
from memeval.records.call import Api, Caller, ModelRequest

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

_PATHS = {Api.CHAT: "/chat/completions", Api.EMBEDDINGS: "/embeddings"}
_WORTH_ANOTHER = {408, 409, 429}
_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance"}
_SETTING = {"unsupported_parameter", "unsupported_value"}
"""Codes of OpenAI and Azure for a request setting that the model does not take, whatever is asked."""
_OF_ONE = {"content_filter", "content_policy_violation", "context_length_exceeded", "string_above_max_length"}
"""Codes of refusals that are due to the text of one request."""
_REQUEST_ID = re.compile(r"\b(?:req|chatcmpl|trace)[_-][\w-]+|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.I)
OWNERS = {
    Caller.JUDGE: "the judge's endpoint",
    Caller.READER: "the reader's endpoint",
    Caller.SYSTEM: "the endpoint of the system's models",
}
"""Whose endpoint it is, in sentences."""
_NO_MODEL = re.compile(r"model\b.*\b(not found|not exist|unknown|not supported)|(unknown|invalid|no such) model", re.I)
_NOBODY_BEHIND = {502, 503, 504}
"""What is said in place of an endpoint that is down."""
_SIGN_OF_LIFE_SECONDS = 10
"""How long an endpoint may take to say which models it has, to count as up."""
_SHORTEST_KEY = 8
"""What is shorter is no secret, and would blot out ordinary words."""
_QUOTED = 300
"""Characters of a provider's own message that go into a sentence."""
_LOOKED_AT = 2_000
"""Characters of it that are looked at, so that nothing that is sent takes long to look at."""


class TryFailed(Exception):
    """One try brought no reply that could be used.

    Args:
        sentence: why.
        again: whether another try may do better.
        after: seconds the endpoint asked to wait.
        billed: whether it may have been worked on and billed all the same.
        reply: the body, where one came.
        refusal: status and message, without request ids, where the endpoint refused the request and no retry helps;
            ``None`` for all other faults, and for refusals that are due to the text of this request.
    """

    def __init__(
        self,
        sentence: str,
        *,
        again: bool = True,
        after: float | None = None,
        billed: bool = False,
        reply: str | None = None,
        refusal: tuple[int, str] | None = None,
    ) -> None:
        super().__init__(sentence)
        self.sentence, self.again, self.after, self.billed, self.reply = sentence, again, after, billed, reply
        self.refusal = refusal


class EndpointClient:
    """Sends requests to one endpoint; make it and use it on one loop.

    Args:
        endpoint: where to.
        caller: who makes the calls, named in errors.
        most_bytes: the largest reply that is read.
    """

    def __init__(self, endpoint: Endpoint, caller: Caller, most_bytes: int) -> None:
        from openai import AsyncOpenAI, DefaultAioHttpClient, Omit

        async def bound(response: httpx2.Response) -> None:
            if response.headers.get("content-encoding", "identity").lower() != "identity":
                response.headers["content-encoding"] = "identity"  # what was not asked for is not unpacked
            response.stream = _bounded(response.stream, most_bytes)

        headers: dict[str, Any] = {"Accept-Encoding": "identity"}
        if endpoint.key is None:
            headers["Authorization"] = Omit()
        if endpoint.variable != "OPENAI_API_KEY":  # whose organization and project the client adds by itself
            headers |= {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
        self._options: Any = {"timeout": None, "headers": headers}
        self._endpoint, self._caller = endpoint, caller
        self._name = f"{OWNERS[caller]} {endpoint.url}"
        self._openai: AsyncOpenAI = AsyncOpenAI(
            base_url=endpoint.url,
            api_key=endpoint.key or "none",
            max_retries=0,
            http_client=DefaultAioHttpClient(
                # Certificates take long to load, and are of no use where nothing is encrypted.
                verify=_trusted() if endpoint.url.startswith("https") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
                trust_env=not endpoint.is_loopback,
                follow_redirects=False,
                timeout=None,
                event_hooks={"response": [bound]},
            ),
        )

    async def send(self, request: ModelRequest, timeout_seconds: float) -> str:
        """Send a request once and return the body of the reply, whatever it is.

        Raises:
            TryFailed: no reply came, or one that says so.
            GatewayStopped: no try can succeed: key, model, certificate.
            BudgetSpent: the provider's quota is gone.
        """
        import aiohttp
        import httpx2
        from openai import APIConnectionError, APIStatusError

        try:
            async with asyncio.timeout(timeout_seconds):
                response = await self._openai.post(
                    _PATHS[request.api], cast_to=httpx2.Response, body=request.body, options=self._options
                )
            return self._redacted(response.content.decode(errors="replace"))
        except TimeoutError:
            raise TryFailed(f"No reply came within {timeout_seconds:g} seconds.", billed=True) from None
        except APIStatusError as error:
            text = self._redacted(error.response.content.decode(errors="replace"))
            raise self._refusal(error.response, text, request.model) from None
        except (APIConnectionError, httpx2.HTTPError, aiohttp.ClientError, OSError) as error:
            raise self._broken(error) from None

    async def is_up(self) -> bool:
        """Whether the endpoint says anything, whatever it is, when it is asked which models it has; that is free."""
        import aiohttp
        import httpx2
        from openai import APIConnectionError, APIStatusError

        try:
            async with asyncio.timeout(_SIGN_OF_LIFE_SECONDS):
                await self._openai.get("/models", cast_to=httpx2.Response, options=self._options)
        except APIStatusError as error:
            return error.status_code not in _NOBODY_BEHIND
        except (TimeoutError, APIConnectionError, httpx2.HTTPError, aiohttp.ClientError, OSError):
            return False
        return True

    async def close(self) -> None:
        """Close the connections."""
        await self._openai.close()

    def _redacted(self, text: str) -> str:
        """Return text without the key, which some providers give back."""
        key = self._endpoint.key
        if key is None or len(key) < _SHORTEST_KEY:
            return text
        return text.replace(key, "[secret]").replace(key.replace("/", r"\/"), "[secret]")

    def _refusal(self, response: httpx2.Response, text: str, model: str) -> Exception:
        """Say what a status other than success means."""
        status, name, variable = response.status_code, self._name, self._endpoint.variable
        code, message = _said(text)
        said = quoted(message)
        if code in _QUOTA or status == 402 or "credit balance is too low" in message:
            return BudgetSpent(
                f"{name} says that the quota is used up ({status}){said}",
                remedy=f"Raise the quota with the provider, or set another key in {variable}. {GOES_ON}",
            )
        if code == "model_not_found" or (status in (400, 404) and _NO_MODEL.search(message)):
            return RequestRefused(
                f"{name} has no model '{model}' ({status}){said}", remedy=f"Check the model's name. {GOES_ON}"
            )
        if status == 401:
            remedy = f"Check {variable}." if self._endpoint.key else f"Set {variable}: it is not set."
            return GatewayStopped(f"{name} refused the key (401){said}", remedy=f"{remedy} {GOES_ON}")
        if status == 403:
            return RequestRefused(
                f"{name} refused access (403){said}",
                remedy=f"Check what the key in {variable} may use. {GOES_ON}",
            )
        if status == 404 or 300 <= status < 400:
            return RequestRefused(
                f"{name} has nothing at {_PATHS[Api.CHAT]} or {_PATHS[Api.EMBEDDINGS]} ({status}).",
                remedy=f"Check the base URL: most end in /v1. {GOES_ON}",
            )
        if code in _SETTING and self._caller is not Caller.SYSTEM:  # whose settings are equal in all requests
            return RequestRefused(
                f"{name} refused the settings of '{model}' ({status}){said}",
                remedy=refusal_remedy(self._caller, message),
            )
        again = status in _WORTH_ANOTHER or status >= 500
        return TryFailed(
            f"The endpoint {self._endpoint.url} replied with status {status}{said}",
            again=again,
            after=_after(response.headers),
            reply=text,
            refusal=None if again or code in _OF_ONE else (status, _REQUEST_ID.sub("", message)),
        )

    def _broken(self, error: BaseException) -> Exception:
        """Say why no reply came."""
        url, host = self._endpoint.url, urlsplit(self._endpoint.url).hostname
        causes = list(_causes(error))
        if reason := _distrust(causes):
            return GatewayStopped(
                f"no secure connection to {url}: {reason}.",
                remedy=f"Check the address and the endpoint's certificate (SSL_CERT_FILE names a file of authorities "
                f"to trust). {GOES_ON}",
            )
        for cause in causes:
            if isinstance(cause, ReplyTooLarge):
                return TryFailed(f"{cause} It was not read further.", billed=True)
            if isinstance(cause, socket.gaierror):
                return TryFailed(f"The name {host} of the endpoint {url} is unknown.")
            if isinstance(cause, ConnectionRefusedError):
                return TryFailed(f"Nothing listens at the endpoint {url}.")
        return TryFailed(f"The connection to the endpoint {url} broke before the whole reply was there.", billed=True)


def quoted(message: str) -> str:
    """Return the end of a sentence that quotes an endpoint's own message, cut; a full stop where there is none."""
    return f": {message[:_QUOTED]}" if message else "."


def refusal_remedy(caller: Caller, message: str) -> str:
    """Return what to do where an endpoint refuses every request of a caller.

    Args:
        caller: who asked.
        message: the endpoint's own message.
    """
    if caller is Caller.SYSTEM:
        fix = "Fix the system's requests, or the account behind the key."
    elif NAMED.search(message):
        fix = f"List the settings that this model takes in a TOML file, and name the file in {VARIABLE}."
    else:
        fix = "Fix what the endpoint names, such as the account or the model."
    if caller is Caller.JUDGE:
        return f"{fix} {GOES_ON}"
    return f"{fix} Progress is saved. Run the same command with --retry-errors to resume."


class ReplyTooLarge(OSError):
    """A reply is larger than what is read."""


def _bounded(stream: Any, most: int) -> Any:
    """Wrap the stream of a body so that it breaks off past ``most`` bytes."""
    from httpx2 import AsyncByteStream

    class Bounded(AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            read = 0
            async for chunk in stream:
                read += len(chunk)
                if read > most:
                    raise ReplyTooLarge(f"The reply is larger than {most:,} bytes.")
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()


def _trusted() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()


def _said(text: str) -> tuple[str, str]:
    """Return the code and the message of a provider's error, on one line."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return "", ""
    error = data.get("error", data) if isinstance(data, dict) else data
    if isinstance(error, dict):
        code, message = error.get("code") or error.get("type"), error.get("message")
    else:
        code, message = None, error
    line = " ".join(message[:_LOOKED_AT].split()) if isinstance(message, str) else ""
    return str(code or ""), "".join(sign for sign in line if sign.isprintable())


def _after(headers: Any) -> float | None:
    """Return the seconds that a reply asks to wait: a number, or a date."""
    from datetime import UTC, datetime

    text = headers.get("retry-after", "")
    try:
        seconds = float(text)
    except ValueError:
        try:
            date = parsedate_to_datetime(text)
        except (ValueError, OverflowError):
            return None
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return seconds if 0 < seconds < float("inf") else None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Give an error and what it came from."""
    while error is not None:
        yield error
        inner = getattr(error, "os_error", None) or getattr(error, "certificate_error", None)
        if isinstance(inner, BaseException):
            yield inner
        error = error.__cause__ or error.__context__


def _distrust(causes: Iterable[BaseException]) -> str:
    """Return why a secure connection was refused; empty where it was not, or only broke."""
    faults = [cause for cause in causes if isinstance(cause, ssl.SSLError)]
    if not faults or any(isinstance(fault, ssl.SSLEOFError | ssl.SSLZeroReturnError) for fault in faults):
        return ""
    reasons = [getattr(fault, "verify_message", None) or getattr(fault, "reason", None) for fault in faults]
    return str(next(filter(None, reasons), "the handshake failed")).lower().replace("_", " ")
