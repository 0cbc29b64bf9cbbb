"""Blotting out what looks like a secret in text that goes on record and was never meant as an answer."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache

REDACTED = "[secret]"

_SHAPES = re.compile(
    r"""
    \b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}                          # keys of model providers
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_\w{20,}       # GitHub
    | \bAKIA[0-9A-Z]{16}\b                                      # Amazon
    | \bAIza[0-9A-Za-z_-]{30,}                                  # Google
    | \bxox[abprs]-[A-Za-z0-9-]{10,}                            # Slack
    | \bhf_[A-Za-z0-9]{20,}                                     # Hugging Face
    | (?<=[Bb]earer\ )[A-Za-z0-9._~+/-]{12,}=*                  # headers
    | \beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[\w-]*       # JSON web tokens
    | -----BEGIN[ A-Z]*PRIVATE\ KEY-----[^-]*(?:-----END[ A-Z]*PRIVATE\ KEY-----)?
    | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)                           # user and password in an address
    """,
    re.VERBOSE,
)
_TELLING = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 8
"""Values of the environment shorter than this are no secrets, and would blot out ordinary words."""


def redact(text: str) -> str:
    """Return text without what looks like a secret: known shapes, and values of telling environment variables."""
    for value in _own(frozenset(os.environ.items())):
        text = text.replace(value, REDACTED)
    return _SHAPES.sub(REDACTED, text)


@cache
def _own(environment: frozenset[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(sorted(secrets_of(dict(environment)), key=len, reverse=True))


def secrets_of(environment: Mapping[str, str]) -> set[str]:
    """Return the values of variables whose names say that they are secret."""
    return {value for name, value in environment.items() if _TELLING.search(name) and len(value) >= _SHORTEST}
