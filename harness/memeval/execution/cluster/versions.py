"""The versions that must be equal on every machine of a run."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from memeval.records.base import digest_bytes, digest_of
from memeval.records.errors import BadInput

PACKAGES = ("memeval-leaderboard", "bpe-openai", "distributed", "pydantic", "regex")
"""Packages on which rows, or their way here, depend."""


@cache
def own_versions() -> dict[str, str]:
    """Return the versions of this machine: Python, packages, and the digest of memeval's own code."""
    root = Path(__file__).parents[2]
    code = {path.relative_to(root).as_posix(): digest_bytes(path.read_bytes()) for path in sorted(root.rglob("*.py"))}
    return {
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
        "code of memeval": digest_of(code).removeprefix("sha256:")[:12],
    }


def check_versions(here: Mapping[str, str], there: Mapping[str, str], where: str) -> None:
    """Refuse a machine with other versions.

    Args:
        there: the versions of the other machine, at least those that it can tell.

    Raises:
        BadInput: a version differs.
    """
    differing = [name for name in here if name in there and there[name] != here[name]]
    if differing:
        name = differing[0]
        raise BadInput(
            f"{name} is {there[name]} on the worker and {here[name]} here.",
            where=where,
            remedy=f"Install the same Python and memeval-leaderboard[dask]=={here.get('memeval-leaderboard', '')} "
            "on every machine, with the pins of requirements.lock.",
        )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
