"""Which memeval ran, where, and how it was called."""

from __future__ import annotations

import platform
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePath

from memeval.records.run import Harness

OID = "# branch.oid "
"""How ``git status --porcelain=v2 --branch`` tells the commit."""

PACKAGES = ("bpe-openai", "pydantic")
"""Packages whose version can decide a number."""


def harness() -> Harness:
    """Return what there is to say about the memeval that runs now."""
    commit, dirty = _checkout()
    return Harness(
        version=memeval_version(),
        commit=commit,
        dirty=dirty,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        packages={name: version(name) for name in PACKAGES},
        argv=tuple(_without_paths(argument) for argument in sys.argv[1:]),
    )


def memeval_version() -> str:
    """Return the version of the installed memeval."""
    try:
        return version("memeval-leaderboard")
    except PackageNotFoundError:
        return "unknown"


def _without_paths(argument: str) -> str:
    """Return an argument of the call, an absolute path cut to its last name."""
    option, equals, value = argument.rpartition("=")
    return f"{option}{equals}{PurePath(value).name}" if PurePath(value).is_absolute() else argument


@cache
def _checkout() -> tuple[str | None, bool | None]:
    """Return commit and dirty flag of the checkout memeval runs from; nothing where it is installed."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return None, None
    try:
        told = subprocess.run(
            ["git", "-C", str(root), "status", "--porcelain=v2", "--branch", "--untracked-files=no", "--", "harness"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        ).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return None, None
    commit = next((line.removeprefix(OID) for line in told if line.startswith(OID)), None)
    return commit, any(not line.startswith("#") for line in told)
