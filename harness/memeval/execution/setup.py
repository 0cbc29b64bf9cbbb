"""The caller's settings for running a system."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memeval.flags import PYTHON_ONLY, flag
from memeval.records.errors import BadInput
from memeval.systems.sandbox import SandboxMode


def default_sandbox_mode(environment: Mapping[str, str]) -> SandboxMode:
    """Return the sandbox mode of the environment: ``MEMEVAL_SANDBOX``, or ``auto``.

    Raises BadInput: ``MEMEVAL_SANDBOX`` is not a sandbox mode.
    """
    mode = environment.get("MEMEVAL_SANDBOX") or SandboxMode.AUTO.value
    try:
        return SandboxMode(mode)
    except ValueError:
        raise BadInput(f"MEMEVAL_SANDBOX is '{mode}'.", remedy=f"Set it to one of: {', '.join(SandboxMode)}.") from None


def _mode(chosen: SandboxMode | None = None) -> SandboxMode:
    return default_sandbox_mode(os.environ) if chosen is None else chosen


def _redirects(hosts: Sequence[str] | None = None) -> dict[str, str]:
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
    return redirects


@dataclass(frozen=True)
class SystemSetup:
    sandbox: SandboxMode = field(default_factory=_mode, metadata=flag(kind="SandboxMode | None", read=_mode))
    """Sandbox to use: bwrap (bubblewrap), none, or auto (bwrap where it works). Default: MEMEVAL_SANDBOX, else auto."""
    hosts: Mapping[str, str] = field(
        default_factory=dict, metadata=flag("--host", kind="tuple[str, ...]", metavar="HOST=URL", read=_redirects)
    )
    """Send requests for a declared host to your own server, repeatable."""
    python: Path | None = None
    """Your own Python interpreter for the system, instead of one built from a lock file."""
    cache: Path | None = field(default=None, metadata=PYTHON_ONLY)
    """Folder for environments; ``None`` for the user's cache folder."""
