"""Where models are reached, with which key, and whose models they are."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from memeval.records.call import Caller
from memeval.records.errors import BadInput

OPENAI = "https://api.openai.com/v1"
"""The endpoint where none is named."""

MAKERS = (
    ("api.openai.com", "openai", ("gpt-", "o1", "o3", "o4", "chatgpt-", "text-embedding-")),
    ("api.anthropic.com", "anthropic", ("claude-",)),
    ("generativelanguage.googleapis.com", "google", ("gemini-", "models/gemini-", "gemma-")),
    ("api.mistral.ai", "mistral", ("mistral-", "ministral-", "magistral-", "codestral-", "open-mistral-")),
    ("api.deepseek.com", "deepseek", ("deepseek-",)),
    ("api.x.ai", "x-ai", ("grok-",)),
    ("api.cohere.com", "cohere", ("command-", "embed-")),
)
"""Host, name in the price list, and how the names of its own models begin."""


_DATED = {"gpt-4o": "gpt-4o-2024-08-06", "gpt-4o-mini": "gpt-4o-mini-2024-07-18"}


@dataclass(frozen=True)
class Endpoint:
    """Where models are reached, and the key to it."""

    url: str
    """Base URL, without user, password, query, fragment or a slash at its end."""
    key: str | None = field(default=None, repr=False)
    """What proves who pays; ``None`` where the endpoint asks for none."""
    variable: str = field(default="OPENAI_API_KEY", compare=False)
    """The environment variable that the key is taken from, to be named in remedies."""

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")


def endpoint_for(caller: Caller, environment: Mapping[str, str] | None = None, *, needs_key: bool = True) -> Endpoint:
    """Return the endpoint that the environment names for a caller.

    The judge looks for ``MEMEVAL_JUDGE_BASE_URL`` and ``MEMEVAL_JUDGE_API_KEY``, the reader for ``MEMEVAL_READER_…``;
    both, and systems, for ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``. A key goes only where it is meant for: a base URL
    of the caller's own is never given the key of ``OPENAI_API_KEY``.

    Args:
        caller: who is going to call.
        environment: variables; those of this process where it is ``None``.
        needs_key: whether something is going to be sent; an address alone needs no key.

    Raises:
        BadInput: there is no key and no base URL, or the URL cannot be called.
    """
    given = os.environ if environment is None else environment
    for prefix in _prefixes(caller):
        url, key = (given.get(f"{prefix}_{name}", "").strip() for name in ("BASE_URL", "API_KEY"))
        if url or key:
            variable = f"{prefix}_API_KEY"
            return Endpoint(base_url(url or OPENAI, f"{prefix}_BASE_URL"), _sendable(key, variable), variable)
    if not needs_key:
        return Endpoint(OPENAI)
    raise _no_key(caller)


def refuse_keyless(endpoint: Endpoint, caller: Caller) -> None:
    """Refuse to send anything where a maker serves its models, without the key that it asks for.

    Raises:
        BadInput: there is no key.
    """
    if endpoint.key is None and any(urlsplit(endpoint.url).hostname == host for host, _name, _models in MAKERS):
        raise _no_key(caller)


def base_url(text: str, where: str) -> str:
    """Return a base URL in its normal form.

    Args:
        text: the URL; user, password, query and fragment are cut off.
        where: what it was given in, named in the refusal.

    Raises:
        BadInput: it is not an http or https URL.
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in ("http", "https") or not host or not text.isprintable() or " " in text:
        raise BadInput(
            "not an http or https URL.", where=where, remedy="Give a base URL such as http://127.0.0.1:8080/v1."
        )
    name = f"[{host}]" if ":" in host else host
    usual = port in (None, {"http": 80, "https": 443}[parts.scheme])
    return urlunsplit((parts.scheme, name if usual else f"{name}:{port}", parts.path.rstrip("/"), "", ""))


def dated(model: str) -> str:
    """Return the dated model that is asked for a name which its maker may let point at another model one day."""
    return _DATED.get(model, model)


def is_makers(url: str, model: str) -> bool:
    """Whether an endpoint is that of the model's own maker."""
    host = urlsplit(url).hostname
    return any(host == maker and model.startswith(names) for maker, _name, names in MAKERS)


def maker_of(model: str) -> str | None:
    """Return the name of a model's maker in the price list; ``None`` where nobody known makes it."""
    return next((name for _host, name, names in MAKERS if model.startswith(names)), None)


def _prefixes(caller: Caller) -> list[str]:
    """Return how the names of a caller's variables begin, its own first."""
    return ["OPENAI"] if caller is Caller.SYSTEM else [f"MEMEVAL_{caller.upper()}", "OPENAI"]


def _no_key(caller: Caller) -> BadInput:
    prefixes = _prefixes(caller)
    return BadInput(
        f"there is no key for the {caller}'s model: {' and '.join(f'{each}_API_KEY' for each in prefixes)} "
        f"{'are' if len(prefixes) > 1 else 'is'} not set.",
        remedy=f"Set one, or set {prefixes[0]}_BASE_URL to an endpoint of your own that needs no key.",
    )


def _sendable(key: str, variable: str) -> str | None:
    """Refuse a key that no header can carry; its text goes nowhere."""
    if not all("!" <= sign <= "~" for sign in key):
        raise BadInput(
            "the key has a character that no HTTP header can carry.",
            where=variable,
            remedy="Copy the key again.",
        )
    return key or None
