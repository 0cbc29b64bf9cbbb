"""Version, commit, platform and arguments of the running memeval."""

import platform
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePath

from memeval.benchmarks import known_ids, registry
from memeval.execution.secrets import redacted_words
from memeval.records.run import Harness
from memeval.storage import package_digest

DISTRIBUTION = "memeval-leaderboard"

OID = "# branch.oid "
"""Prefix of the commit line in ``git status --porcelain=v2 --branch``."""


def harness(benchmark: str | None = None) -> Harness:
    """Return the identity of the running memeval.

    ``benchmark``: id of the benchmark of a run; its package is listed too, unless the benchmark is memeval's own.
    """
    commit, dirty = _checkout()
    origin = registry.origin(benchmark) if benchmark in known_ids() else None
    return Harness(
        version=memeval_version(),
        commit=commit,
        dirty=dirty,
        digest=package_digest(),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        packages={name: _version_of(name) for name in registry.PACKAGES}
        | ({} if origin is None or origin.is_own else {origin.package: origin.version}),
        argv=tuple(map(_without_paths, redacted_words(sys.argv[1:]))),
    )


def memeval_version() -> str:
    """Return the version of this memeval: that of its release, and the first twelve digits of its package's digest."""
    released = "0"
    with suppress(PackageNotFoundError):
        released = _version_of(DISTRIBUTION).partition("+")[0]
    return f"{released}+{package_digest()[7:19]}"


@cache
def _version_of(package: str) -> str:
    """Return the version of an installed package; read once, because its whole description is parsed for it.

    Raises ``PackageNotFoundError`` if it is not installed.
    """
    return version(package)


def _without_paths(argument: str) -> str:
    """Return a command-line argument; an absolute path is cut to its last part."""
    option, equals, value = argument.rpartition("=")
    return f"{option}{equals}{PurePath(value).name}" if PurePath(value).is_absolute() else argument


@cache
def _checkout() -> tuple[str | None, bool | None]:
    """Return commit and dirty flag of memeval's checkout; ``None`` for an installed package."""
    root = Path(__file__).resolve().parents[4]
    if not (root / ".git").exists():
        return None, None
    try:
        lines = subprocess.run(
            ["git", "-C", str(root), "status", "--porcelain=v2", "--branch", "--untracked-files=no", "--", "harness"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        ).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return None, None
    commit = next((line.removeprefix(OID) for line in lines if line.startswith(OID)), None)
    return commit, any(not line.startswith("#") for line in lines)
