"""Options of commands that start a system: sandbox and hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memeval.records.errors import BadInput
from memeval.systems.sandbox import SandboxMode

if TYPE_CHECKING:
    from memeval.execution.preparation import SystemSetup

Sandboxing = Annotated[
    SandboxMode | None,
    typer.Option(
        "--sandbox",
        help="Sandbox to use: bwrap (bubblewrap), none, or auto (bwrap where it works). "
        "Default: MEMEVAL_SANDBOX, else auto.",
    ),
]
Hosts = Annotated[
    list[str] | None,
    typer.Option(
        "--host", metavar="HOST=URL", help="Send requests for a declared host to your own server, repeatable."
    ),
]


def setup_of(sandbox: SandboxMode | None, hosts: list[str] | None) -> SystemSetup:
    """Return the system setup of the options.

    Raises:
        BadInput: a host is not of the form ``HOST=URL``, or occurs twice.
    """
    from memeval.execution.preparation import SystemSetup

    redirects: dict[str, str] = {}
    for each in hosts or ():
        name, equals, url = each.partition("=")
        if not equals or not url.startswith(("http://", "https://")):
            raise BadInput(
                f"invalid --host '{each}'.",
                remedy="Write HOST=URL, such as --host api.example.com=http://127.0.0.1:8000.",
            )
        if name in redirects:
            raise BadInput(f"--host names {name} twice.", remedy="Remove one of them.")
        redirects[name] = url
    return SystemSetup(hosts=redirects) if sandbox is None else SystemSetup(sandbox=sandbox, hosts=redirects)
