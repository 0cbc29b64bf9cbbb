"""Endpoints of models, their keys, and the makers of models."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

from memeval.records.call import Caller
from memeval.records.errors import BadInput

OPENAI = "https://api.openai.com/v1"

MAKERS = (
    ("api.openai.com", "openai", ("gpt-", "o1", "o3", "o4", "chatgpt-", "text-embedding-")),
    ("api.anthropic.com", "anthropic", ("claude-",)),
    ("generativelanguage.googleapis.com", "google", ("gemini-", "models/gemini-", "gemma-")),
    ("api.mistral.ai", "mistral", ("mistral-", "ministral-", "magistral-", "codestral-", "open-mistral-")),
    ("api.deepseek.com", "deepseek", ("deepseek-",)),
    ("api.x.ai", "x-ai", ("grok-",)),
    ("api.cohere.com", "cohere", ("command-", "embed-")),
)
"""Per maker: host, name in the price list, and prefixes of its models' names."""

SHORTEST_KEY = 8
"""Shorter keys are not redacted, and refused for a host: redaction would remove ordinary words from replies."""

_CALLS = ("/chat/completions", "/completions", "/embeddings", "/responses")

_DATED = {"gpt-4o": "gpt-4o-2024-08-06", "gpt-4o-mini": "gpt-4o-mini-2024-07-18"}


class ServesModel(Protocol):
    """A server that memeval itself runs, started when it is first needed."""

    @property
    def key(self) -> str | None:
        """The key that its requests carry."""

    def address(self) -> str:
        """Return its base URL. Raises MemevalError: it cannot be started."""

    def broke(self) -> None:
        """Wait shortly, in case a connection broke because it is ending: the next address is then that of another."""


@dataclass(frozen=True)
class Endpoint:
    url: str
    """Base URL, without user, password, query, fragment or trailing slash."""
    key: str | None = field(default=None, repr=False)
    """API key; ``None`` if the endpoint needs none."""
    variable: str = field(default="OPENAI_API_KEY", compare=False)
    query: str = field(default="", repr=False)
    """The query of the base URL, sent with every request and stored nowhere: Azure has its API's version there, others
    a key."""
    server: ServesModel | None = field(default=None, compare=False, repr=False)
    """The server of a model on this machine; ``url`` then names the model, and requests go to the server's address."""
    setup: str | None = field(default=None, compare=False, repr=False)
    """All that decides the answers of a model on this machine, as JSON: weights, engine, settings."""
    prefix: str = field(default="", compare=False, repr=False)
    """How the first message of all requests begins: a model on this machine computes it once."""

    @property
    def is_loopback(self) -> bool:
        host = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")


def endpoint_for(caller: Caller, environment: Mapping[str, str] | None = None, *, needs_key: bool = True) -> Endpoint:
    """Return a caller's endpoint, as set in the environment.

    The judge uses ``MEMEVAL_JUDGE_BASE_URL`` and ``MEMEVAL_JUDGE_API_KEY``, the reader ``MEMEVAL_READER_…``. Without
    them both use ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``, as systems do. The key in ``OPENAI_API_KEY`` is never sent
    to a base URL of the judge's or reader's own.

    ``environment``: variables; ``None`` for those of this process. ``needs_key``: whether requests will be sent; the
    address alone needs no key.
    """
    variables = os.environ if environment is None else environment
    for prefix in _prefixes(caller):
        url, key = (variables.get(f"{prefix}_{name}", "").strip() for name in ("BASE_URL", "API_KEY"))
        if url or key:
            variable = f"{prefix}_API_KEY"
            base = base_url(url or OPENAI, f"{prefix}_BASE_URL")
            _refuse_unsent(url, f"{prefix}_BASE_URL", variable)
            return Endpoint(base, _sendable(key, variable), variable, urlsplit(url).query)
    if not needs_key:
        return Endpoint(OPENAI)
    raise _no_key(caller)


def refuse_keyless(endpoint: Endpoint, caller: Caller) -> None:
    """Refuse to send requests to a maker's own endpoint without a key.

    Raises BadInput: the endpoint needs a key and has none.
    """
    if endpoint.key is None and any(urlsplit(endpoint.url).hostname == host for host, _name, _models in MAKERS):
        raise _no_key(caller)


def base_url(text: str, where: str) -> str:
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
    """Return the dated name of a model whose name is an alias; other names unchanged."""
    return _DATED.get(model, model)


def is_makers(url: str, model: str) -> bool:
    host = urlsplit(url).hostname
    return any(host == maker and model.startswith(names) for maker, _name, names in MAKERS)


def maker_of(model: str) -> str | None:
    """Return the name of a model's maker in the price list; ``None`` if unknown."""
    return next((name for _host, name, names in MAKERS if model.startswith(names)), None)


def _refuse_unsent(url: str, where: str, key_variable: str) -> None:
    """Refuse a base URL with a part that no request would have, or would have twice."""
    parts = urlsplit(url)
    call = next((call for call in _CALLS if parts.path.rstrip("/").endswith(call)), None)
    problem, remedy = "", ""
    if parts.username is not None:
        problem, remedy = "a user in the URL is not sent to the endpoint.", f"Remove it, and set {key_variable}."
    elif parts.fragment:
        problem, remedy = "what follows # in the URL is not sent to the endpoint.", "Remove it."
    elif call is not None:
        problem, remedy = "the URL is that of a call, not a base URL.", f"Remove {call} from its end."
    if problem:
        raise BadInput(problem, where=where, remedy=remedy)


def _prefixes(caller: Caller) -> list[str]:
    return ["OPENAI"] if caller is Caller.SYSTEM else [f"MEMEVAL_{caller.upper()}", "OPENAI"]


def _no_key(caller: Caller) -> BadInput:
    prefixes = _prefixes(caller)
    return BadInput(
        f"there is no key for the {caller}'s model: {' and '.join(f'{each}_API_KEY' for each in prefixes)} "
        f"{'are' if len(prefixes) > 1 else 'is'} not set.",
        remedy=f"Set one of them, or set {prefixes[0]}_BASE_URL to your own endpoint that needs no key.",
    )


def _sendable(key: str, variable: str) -> str | None:
    """Return a key, or ``None`` for an empty one; refuse a key that an HTTP header cannot hold."""
    if not all("!" <= sign <= "~" for sign in key):
        raise BadInput(
            "the key has a character that an HTTP header cannot hold.",
            where=variable,
            remedy="Copy the key again.",
        )
    return key or None
