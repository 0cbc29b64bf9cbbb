"""The hosts that a system may reach, their real addresses and their keys, which replies must not contain."""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from memeval.gateway.endpoints import MAKERS, SHORTEST_KEY, base_url
from memeval.records.errors import BadInput
from memeval.records.submission import Host

RESERVED = ("MEMEVAL_", "OPENAI_", "ANTHROPIC_", "OLLAMA_", "AWS_", "GITHUB_", "GH_")
"""Prefixes of variables of memeval and its user, which no submission may use."""

_SHARED = frozenset({"ac", "co", "com", "edu", "gov", "ne", "net", "or", "org"})
"""Labels before a country's code of two letters under which names are registered, such as ``co`` in ``co.uk``."""

_SHORTEST_WORD = 3
"""Letters that the first word of a key's variable has at least: shorter words are part of too many names."""


@dataclass(frozen=True)
class HostRoute:
    host: str
    origin: str
    """Its address: ``https://`` and the name, or the caller's override."""
    variable: str
    """The environment variable with the URL that the system uses for the host."""
    key_variable: str | None = None
    key: str | None = field(default=None, repr=False)
    """The real key. It is inserted into forwarded requests; the system never receives it."""

    def owns(self, url: str) -> bool:
        try:
            parts, ours = urlsplit(url), urlsplit(self.origin)
            return parts.netloc.lower() == ours.netloc or parts.hostname == self.host
        except ValueError:
            return False


def host_routes(
    hosts: Iterable[Host], overrides: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, HostRoute]:
    """Return the routes to all declared hosts, by name.

    ``hosts``: as ``submission.toml`` declares them. ``overrides``: base URLs that replace hosts, by the host's name;
    only these may be plain HTTP.
    """
    routes: dict[str, HostRoute] = {}
    names: set[str] = set()
    for each in hosts:
        where = f"the host {each.host}"
        if each.host in routes:
            raise BadInput("declared twice.", where=where, remedy="Declare each host once.")
        _refuse_host(each.host, where)
        for name in filter(None, (each.variable, each.key)):
            if name.startswith(RESERVED):
                raise BadInput(
                    f"submissions may not use the variable {name}.",
                    where=where,
                    remedy=f"Use a variable of the vendor; reserved prefixes: {', '.join(RESERVED)}.",
                )
            if name in names:
                raise BadInput(
                    f"the variable {name} is used twice.", where=where, remedy="Use separate variables for each host."
                )
            names.add(name)
        if each.key is not None and not is_named_for(each.key, each.host):
            raise BadInput(
                f"the variable {each.key} is not named after this host, so it may contain the key of another.",
                where=where,
                remedy=f"Begin its name with the host's, as in {key_example(each.host)}.",
            )
        override = overrides.get(each.host)
        origin = f"https://{each.host}" if override is None else base_url(override, where)
        routes[each.host] = HostRoute(
            each.host, origin, each.variable, each.key, None if each.key is None else _key(each, environment)
        )
    if unknown := sorted(overrides.keys() - routes.keys()):
        declared = f"It declares: {', '.join(routes)}." if routes else "It declares none."
        raise BadInput(f"the submission does not declare the host '{unknown[0]}'.", remedy=declared)
    return routes


def _refuse_host(host: str, where: str) -> None:
    """Refuse hosts that no system should reach through memeval."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        pass
    else:
        raise BadInput("an IP address, not a name.", where=where, remedy="Declare the host by its name.")
    if any(host == maker for maker, _name, _models in MAKERS):
        raise BadInput(
            "model calls must use memeval's own endpoint, which counts tokens.",
            where=where,
            remedy="Declare the models in declared_models, and remove this host.",
        )


def is_named_for(variable: str, host: str) -> bool:
    """Return whether a variable's first word begins or ends the host's registered name, or is the name with its suffix.

    So a submission cannot send a user's key for one vendor to the host of another.
    """
    word = variable.partition("_")[0].lower()
    name, whole = _registered(host)
    return len(word) >= _SHORTEST_WORD and (name.startswith(word) or name.endswith(word) or word == whole)


def _registered(host: str) -> tuple[str, str]:
    """Return the registered name of a host, without and with its suffix, such as ``co.uk``; both without signs."""
    labels = host.replace("-", "").split(".")
    is_shared = len(labels[-1]) == 2 and labels[-2] in _SHARED
    labels = labels[-3:] if is_shared else labels[-2:]
    return labels[0], "".join(labels)


def key_example(host: str) -> str:
    name, whole = _registered(host)
    return f"{(name if len(name) >= _SHORTEST_WORD else whole).upper()}_API_KEY"


def _key(host: Host, environment: Mapping[str, str]) -> str:
    name = host.key or ""
    key = environment.get(name, "").strip()
    if not key:
        raise BadInput(
            f"the system needs a key for {host.host}, and {name} is not set.",
            remedy=f"Set {name} to your key. memeval sends it to {host.host} only, and never shows it to the system.",
        )
    if len(key) < SHORTEST_KEY or not all("!" <= sign <= "~" for sign in key):
        raise BadInput(
            f"invalid key for {host.host}: shorter than {SHORTEST_KEY} characters, or with invalid characters.",
            where=name,
            remedy="Copy the key again.",
        )
    return key


class Redaction:
    """Replaces the key with the placeholder, in one body that arrives in pieces.

    ``key``: the key to remove; ``None`` if absent.
    """

    def __init__(self, key: str | None, placeholder: str) -> None:
        forms = () if key is None else (key, key.replace("/", r"\/"), quote(key, safe=""), quote(key))
        # Plain, as some JSON writers escape it, and as URLs encode it; the longest first.
        self._forms = sorted({form.encode() for form in forms}, key=len, reverse=True)
        self._placeholder = placeholder.encode()
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """Add a piece; return the bytes that can be forwarded: all but an end that may be the start of the key."""
        text = self._replaced(self._held + piece)
        held = max((_overlap(text, form) for form in self._forms), default=0)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def rest(self) -> bytes:
        """Return the bytes held back; call it after the last piece."""
        held, self._held = self._held, b""
        return held

    def text(self, value: str) -> str:
        return self._replaced(value.encode(errors="replace")).decode()

    def _replaced(self, data: bytes) -> bytes:
        for form in self._forms:
            data = data.replace(form, self._placeholder)
        return data


def _overlap(data: bytes, form: bytes) -> int:
    """Return the length of the longest proper prefix of ``form`` that ends ``data``."""
    longest = min(len(data), len(form) - 1)
    return next((size for size in range(longest, 0, -1) if data.endswith(form[:size])), 0)
