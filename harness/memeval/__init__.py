"""Trustworthy measurement of memory systems for AI agents.

The public API is in :mod:`memeval.api` and is reachable from here: ``memeval.run``, ``memeval.run_suite``,
``memeval.regrade``, ``memeval.audit``, ``memeval.verify``, ``memeval.reproduce``, ``memeval.load_run``,
``memeval.board``, ``memeval.overall``, ``memeval.lead``, ``memeval.frames``.
"""

from typing import Any

_PUBLIC = frozenset(
    {
        *("AuditOptions", "ModelOptions", "RegradeOptions", "RunOptions", "SuiteOptions"),
        *("audit", "board", "check", "estimate", "load_run", "load_runs", "regrade", "reproduce", "run"),
        *("fetch_rows", "frames", "items", "lead", "overall", "run_suite", "verify", "verify_checks"),
    }
)


def __getattr__(name: str) -> Any:
    """Load the API at first use, so that importing one module does not load the others."""
    if name in _PUBLIC:
        from importlib import import_module

        return getattr(import_module("memeval.api"), name)
    raise AttributeError(f"module 'memeval' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_PUBLIC)
