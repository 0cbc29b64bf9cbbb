"""One try of a call, over the official client: returns the raw body, or raises an error for each kind of fault."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from memeval.gateway.endpoints import SHORTEST_KEY, Endpoint
from memeval.gateway.provider_errors import ProviderError, error_in, quoted
from memeval.gateway.replies import UnusableReply
from memeval.gateway.settings import NAMED, VARIABLE
from memeval.gateway.stops import RESUME, BudgetSpent, GatewayStopped, RequestRefused
from memeval.local import PREFIX_HEADER
from memeval.records.call import Api, Caller, ModelRequest

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

_PATHS = {Api.CHAT: "/chat/completions", Api.EMBEDDINGS: "/embeddings"}
_RETRIED_STATUSES = {408, 409, 429}
_REQUEST_ID = re.compile(r"\b(?:req|chatcmpl|trace)[_-][\w-]+|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.I)
OWNERS = {
    Caller.JUDGE: "the judge's endpoint",
    Caller.READER: "the reader's endpoint",
    Caller.SYSTEM: "the endpoint of the system's models",
}
_NO_MODEL = re.compile(r"model\b.*\b(not found|not exist|unknown|not supported)|(unknown|invalid|no such) model", re.I)
_DOWN_STATUSES = {502, 503, 504}
"""Statuses that a proxy sends if the endpoint behind it is down."""
_PROBE_SECONDS = 10
"""Seconds within which an endpoint must answer a probe to count as up."""
_SECRET_NAME = re.compile(r"key|token|secret|sig|code|auth|passw", re.I)
"""Finds the name of a key in the query of a base URL."""


class TryFailed(Exception):
    """One try brought no usable reply.

    Args:
        retry: whether another try may succeed.
        retry_after: seconds that the endpoint asked to wait.
        billed: whether the provider may bill the try.
        is_reply: whether endpoint and model worked, and only this reply has no usable text.
        refusal: status and message, without request ids, if the endpoint refused the request and no retry helps;
            ``None`` for all other faults, and for refusals caused by the text of this request.
    """

    def __init__(
        self,
        sentence: str,
        *,
        retry: bool = True,
        retry_after: float | None = None,
        billed: bool = False,
        reply: str | None = None,
        is_reply: bool = False,
        refusal: tuple[int, str] | None = None,
    ) -> None:
        super().__init__(sentence)
        self.sentence, self.retry, self.retry_after = sentence, retry, retry_after
        self.billed, self.reply, self.is_reply, self.refusal = billed, reply, is_reply, refusal


class EndpointClient:
    """Sends requests to one endpoint; create and use it on one loop. ``most_bytes``: maximum bytes of a reply."""

    def __init__(self, endpoint: Endpoint, caller: Caller, most_bytes: int) -> None:
        from httpx2 import create_ssl_context
        from openai import AsyncOpenAI, DefaultAioHttpClient, Omit

        async def bound(response: httpx2.Response) -> None:
            if response.headers.get("content-encoding", "identity").lower() != "identity":
                response.headers["content-encoding"] = "identity"  # not requested, so not decompressed
            response.stream = _bounded(response.stream, most_bytes)

        is_secure = endpoint.url.startswith("https")
        headers: dict[str, Any] = {"Accept-Encoding": "identity"}
        if endpoint.key is None:
            headers["Authorization"] = Omit()
        if endpoint.variable != "OPENAI_API_KEY":  # the client adds organization and project to OPENAI_API_KEY only
            headers |= {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
        query = dict(parse_qsl(endpoint.query, keep_blank_values=True))
        if "api-version" in query and endpoint.key is not None:
            headers["api-key"] = endpoint.key  # Azure takes no key as a bearer token under a dated version of its API
        self._secrets = _secrets(endpoint.key, query)
        self._options: Any = {"timeout": None, "headers": headers}
        self._endpoint, self._caller = endpoint, caller
        self._name = f"{OWNERS[caller]} {endpoint.url}"
        self._openai: AsyncOpenAI = AsyncOpenAI(
            base_url=endpoint.url,
            default_query=query,
            api_key=endpoint.key or "none",
            max_retries=0,
            http_client=DefaultAioHttpClient(
                # Loading certificates is slow; plain HTTP needs none.
                verify=create_ssl_context() if is_secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
                trust_env=not endpoint.is_loopback,
                follow_redirects=False,
                timeout=None,
                event_hooks={"response": [bound]},
            ),
        )

    async def send(self, request: ModelRequest, timeout_seconds: float) -> str:
        """Send a request once and return the body of the reply.

        Raises TryFailed: no reply came, or the endpoint replied with an error. GatewayStopped: no try can succeed:
        wrong key, model or certificate. BudgetSpent: the provider's quota is used up.
        """
        import aiohttp
        import httpx2
        from openai import APIConnectionError, APIStatusError

        options = self._options
        if self._endpoint.server is not None and (characters := _prefix_of(request, self._endpoint.prefix)):
            options = options | {"headers": options["headers"] | {PREFIX_HEADER: str(characters)}}
        try:
            async with asyncio.timeout(timeout_seconds):
                response = await self._openai.post(
                    _PATHS[request.api], cast_to=httpx2.Response, body=request.body, options=options
                )
            return self._redacted(response.content.decode(errors="replace"))
        except TimeoutError:
            raise TryFailed(f"No reply came within {timeout_seconds:g} seconds.", billed=True) from None
        except APIStatusError as error:
            text = self._redacted(error.response.content.decode(errors="replace"))
            raise self._refusal(error.response, text, request.model) from None
        except (APIConnectionError, httpx2.HTTPError, aiohttp.ClientError, OSError) as error:
            raise self._connection_fault(error) from None

    async def is_up(self) -> bool:
        """Return whether the endpoint replies to a request for its list of models, which is free."""
        import aiohttp
        import httpx2
        from openai import APIConnectionError, APIStatusError

        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                await self._openai.get("/models", cast_to=httpx2.Response, options=self._options)
        except APIStatusError as error:
            return error.status_code not in _DOWN_STATUSES
        except (TimeoutError, APIConnectionError, httpx2.HTTPError, aiohttp.ClientError, OSError):
            return False
        return True

    async def close(self) -> None:
        await self._openai.close()

    def _redacted(self, text: str) -> str:
        """Return text without the keys, which some providers repeat in errors."""
        for key in self._secrets:
            text = text.replace(key, "[secret]").replace(key.replace("/", r"\/"), "[secret]")
        return text

    def fault_in(self, error: UnusableReply, text: str, model: str) -> Exception:
        """Return the error for a reply that has status 200 and cannot be used.

        An error of the provider in it counts as if it came with its own status.
        """
        said = error.error
        if said is None:
            return TryFailed(str(error), billed=True, reply=text, is_reply=error.is_reply)
        if (stop := self._stop(said, said.status, model)) is not None:
            return stop
        return self._failed_try(str(error), said, said.status or 500, text, billed=True)

    def _refusal(self, response: httpx2.Response, text: str, model: str) -> Exception:
        status, name, said = response.status_code, self._name, error_in(text)
        wait = _retry_after(response.headers)
        if (stop := None if status == 402 and wait else self._stop(said, status, model)) is not None:
            return stop
        quote = quoted(said.message)
        if not said.is_about_text:
            if status == 403:
                return RequestRefused(
                    f"{name} refused access (403){quote}",
                    remedy=f"Check the permissions of the key in {self._endpoint.variable}. {RESUME}",
                )
            if status == 404 or 300 <= status < 400:
                return RequestRefused(
                    f"{name} has nothing at {_PATHS[Api.CHAT]} or {_PATHS[Api.EMBEDDINGS]} ({status}){quote}",
                    remedy=f"Check the base URL: most end in /v1. {RESUME}",
                )
        sentence = f"The endpoint {self._endpoint.url} replied with status {status}{quote}"
        return self._failed_try(sentence, said, status, text, retry_after=wait, retry=bool(status == 402 and wait))

    def _stop(self, said: ProviderError, status: int | None, model: str) -> GatewayStopped | None:
        """Return the error for a refusal of every request; ``None`` if others may succeed."""
        name, variable, quote = self._name, self._endpoint.variable, quoted(said.message)
        stated = "" if status is None else f" ({status})"
        if said.is_used_up or status == 402:
            return BudgetSpent(
                f"{name} reports that the quota is used up{stated}{quote}",
                remedy=f"Raise the quota with the provider, or set another key in {variable}. {RESUME}",
            )
        names_model = re.search(rf"(?<!\w){re.escape(model)}(?!\w)", said.message) if model else None
        is_unknown = (status in (400, 404) and _NO_MODEL.search(said.message)) or (status == 404 and names_model)
        if "model_not_found" in said.codes or is_unknown:
            return RequestRefused(
                f"{name} has no model '{model}'{stated}{quote}", remedy=f"Check the model's name. {RESUME}"
            )
        if status == 401:
            remedy = f"Check {variable}." if self._endpoint.key else f"Set {variable}; it is not set."
            return GatewayStopped(f"{name} refused the key (401){quote}", remedy=f"{remedy} {RESUME}")
        if said.is_setting and self._caller is not Caller.SYSTEM:  # whose settings are the same in every request
            return RequestRefused(
                f"{name} refused the settings of '{model}'{stated}{quote}",
                remedy=refusal_remedy(self._caller, said.message),
            )
        return None

    @staticmethod
    def _failed_try(
        sentence: str,
        said: ProviderError,
        status: int,
        text: str,
        *,
        retry: bool = False,
        retry_after: float | None = None,
        billed: bool = False,
    ) -> TryFailed:
        retry = retry or status in _RETRIED_STATUSES or status >= 500
        return TryFailed(
            sentence,
            retry=retry,
            retry_after=retry_after,
            billed=billed,
            reply=text,
            refusal=None if retry or said.is_about_text else (status, _REQUEST_ID.sub("", said.message)),
        )

    def _connection_fault(self, error: BaseException) -> Exception:
        url, host = self._endpoint.url, urlsplit(self._endpoint.url).hostname
        causes = list(_causes(error))
        if reason := _certificate_fault(causes):
            return GatewayStopped(
                f"no secure connection to {url}: {reason}.",
                remedy=f"Check the address and the endpoint's certificate (SSL_CERT_FILE names a file of trusted "
                f"authorities). {RESUME}",
            )
        for cause in causes:
            if isinstance(cause, ReplyTooLarge):
                return TryFailed(f"{cause} Reading stopped.", billed=True)
            if isinstance(cause, socket.gaierror):
                return TryFailed(f"The host name {host} of the endpoint {url} is unknown.")
            if isinstance(cause, ConnectionRefusedError):
                return TryFailed(f"Nothing listens at the endpoint {url}.")
        return TryFailed(f"The connection to the endpoint {url} broke before the reply was complete.", billed=True)


def refusal_remedy(caller: Caller, message: str) -> str:
    if caller is Caller.SYSTEM:
        fix = "Fix the system's requests, or the account behind the key."
    elif NAMED.search(message):
        fix = f"List the settings that this model accepts in a TOML file, and name the file in {VARIABLE}."
    elif message:
        fix = "Fix the problem that the endpoint names, for example the account or the model."
    else:
        fix = "The endpoint gives no reason. Check the model's name, the account, and the endpoint's log."
    if caller is Caller.JUDGE:
        return f"{fix} {RESUME}"
    return f"{fix} Progress is saved. Run the same command with --retry-errors to resume."


def _prefix_of(request: ModelRequest, prefix: str) -> int:
    """Return the characters of a prefix with which the first message of a request begins; 0 if it does not."""
    messages = request.body.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    content = first.get("content") if isinstance(first, dict) else None
    return len(prefix) if prefix and isinstance(content, str) and content.startswith(prefix) else 0


def _secrets(key: str | None, query: Mapping[str, str]) -> list[str]:
    values = [key or "", *(value for name, value in query.items() if _SECRET_NAME.search(name))]
    return [value for value in values if len(value) >= SHORTEST_KEY]


class ReplyTooLarge(OSError):
    """A reply exceeds the size limit."""


def _bounded(stream: Any, most: int) -> Any:
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


def _retry_after(headers: Any) -> float | None:
    """Return the seconds of a reply's ``Retry-After`` header, which is a number or a date."""
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
    while error is not None:
        yield error
        inner = getattr(error, "os_error", None) or getattr(error, "certificate_error", None)
        if isinstance(inner, BaseException):
            yield inner
        error = error.__cause__ or error.__context__


def _certificate_fault(causes: Iterable[BaseException]) -> str:
    """Return why a secure connection was refused; empty if the certificate is not the cause."""
    faults = [cause for cause in causes if isinstance(cause, ssl.SSLError)]
    if not faults or any(isinstance(fault, ssl.SSLEOFError | ssl.SSLZeroReturnError) for fault in faults):
        return ""
    reasons = [getattr(fault, "verify_message", None) or getattr(fault, "reason", None) for fault in faults]
    return str(next(filter(None, reasons), "the handshake failed")).lower().replace("_", " ")
