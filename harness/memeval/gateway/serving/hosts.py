"""Which hosts on the network a system may reach, where they really are, and with which key."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from memeval.gateway.endpoints import MAKERS, base_url
from memeval.records.errors import BadInput
from memeval.records.submission import Host

OWN = ("MEMEVAL_", "OPENAI_", "ANTHROPIC_", "OLLAMA_", "AWS_", "GITHUB_", "GH_")
"""How variables begin that hold what is memeval's or its user's own, and that no submission may have sent anywhere."""

SHORT_LABEL = 3
"""How long the last label but one is at most where a registry keeps it for itself."""

SHORTEST_KEY = 8
"""What is shorter is no secret, and cannot be told from ordinary words in a reply."""


@dataclass(frozen=True)
class HostRoute:
    """The way to one host that a submission declares."""

    host: str
    """Its name, as declared."""
    origin: str
    """Where it is reached: ``https://`` and its name, or the base URL that the caller gives in its place."""
    variable: str
    """The variable in which the system finds the way to it."""
    key_variable: str | None = None
    """The variable in which the system finds a placeholder for the key."""
    key: str | None = field(default=None, repr=False)
    """The key itself, which is put into requests on their way and never gets to the system."""

    def is_here(self, url: str) -> bool:
        """Whether a whole URL is one of this host's."""
        try:
            parts, ours = urlsplit(url), urlsplit(self.origin)
            return parts.netloc.lower() == ours.netloc or parts.hostname == self.host
        except ValueError:
            return False


def host_routes(
    hosts: Iterable[Host], overrides: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, HostRoute]:
    """Return the way to every declared host, by its name.

    Args:
        hosts: as ``submission.toml`` declares them.
        overrides: base URLs that the caller gives in place of hosts, by the host's name; only these may be plain HTTP.
        environment: memeval's own variables, where the keys are.

    Raises:
        BadInput: a key is not set or none that can be sent, a host or variable may not be declared or stands there
            twice, or an override is no URL or for no declared host.
    """
    routes: dict[str, HostRoute] = {}
    names: set[str] = set()
    for each in hosts:
        where = f"the host {each.host}"
        if each.host in routes:
            raise BadInput("declared twice.", where=where, remedy="Declare each host once.")
        _refuse_host(each.host, where)
        for name in filter(None, (each.variable, each.key)):
            if name.startswith(OWN):
                raise BadInput(
                    f"the variable {name} is not for submissions to use.",
                    where=where,
                    remedy=f"Use one of the vendor's own; none that begins with {', '.join(OWN)}.",
                )
            if name in names:
                raise BadInput(
                    f"the variable {name} is used twice.", where=where, remedy="Give each host variables of its own."
                )
            names.add(name)
        if each.key is not None and not is_named_for(each.key, each.host):
            raise BadInput(
                f"the variable {each.key} is not named for this host, so it may hold a key to another.",
                where=where,
                remedy=f"Begin its name with a part of the host's, as in {key_example(each.host)}.",
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
    """Refuse what no system should reach through memeval.

    Raises:
        BadInput: it is an address, which may be one of the machine's own network, or a place where models are served.
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        pass
    else:
        raise BadInput("an address, not a name.", where=where, remedy="Declare the host by its name.")
    if any(host == maker for maker, _name, _models in MAKERS):
        raise BadInput(
            "models are reached through memeval's own endpoint, which counts what they take.",
            where=where,
            remedy="Name the models in declared_models, and leave this host out.",
        )


def is_named_for(variable: str, host: str) -> bool:
    """Whether a variable's first word stands in the name that the host's owner has registered.

    So a submission cannot have a key sent that its user has for somebody else, unless to a name registered for that.
    """
    return variable.partition("_")[0].lower() in "".join(_registered(host)).replace("-", "")


def _registered(host: str) -> list[str]:
    """Return the labels of a host's name that are registered: the last two, or three where it may end as in co.uk."""
    labels = host.split(".")
    return labels[-3:] if len(labels[-2]) <= SHORT_LABEL else labels[-2:]


def key_example(host: str) -> str:
    """Return the name of a variable that is named for a host."""
    return f"{max(_registered(host)[:-1], key=len).replace('-', '').upper()}_API_KEY"


def _key(host: Host, environment: Mapping[str, str]) -> str:
    """Return the key to a host.

    Raises:
        BadInput: it is not set, or is none.
    """
    name = host.key or ""
    key = environment.get(name, "").strip()
    if not key:
        raise BadInput(
            f"the system needs a key for {host.host}, and {name} is not set.",
            remedy=f"Set {name} to your key. memeval sends it to {host.host} only, and never shows it to the system.",
        )
    if len(key) < SHORTEST_KEY or not all("!" <= sign <= "~" for sign in key):
        raise BadInput(
            f"no key for {host.host}: it is shorter than {SHORTEST_KEY} signs, or holds signs that no key has.",
            where=name,
            remedy="Copy the key again.",
        )
    return key
