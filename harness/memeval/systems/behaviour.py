"""Tells what of a submission decides what runs, which its digest covers, from what only describes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from memeval.records.base import Digest, digest_bytes, digest_of
from memeval.records.submission import Submission
from memeval.systems.manifest import MANIFEST

BEHAVIOUR = frozenset(
    {"kind", "entry", "command", "endpoint", "tools", "self_reported"}
    | {"variables", "parameters", "resources", "hosts", "services"}
)
"""Fields of a manifest that decide what runs. A field at its default is left out, as in every hashed record."""

DESCRIPTION = frozenset(
    {"schema_version", "slug", "name", "version", "authors", "licence", "homepage", "summary", "light"}
    | {"deterministic", "mock", "product", "configuration", "vendor", "interests", "conflict_of_interest"}
)
"""Fields that describe a submission. Changing one changes no digest."""

FINGERPRINTED = frozenset({"declared_models", "variants"})
"""Fields that decide what one run does: its models, and the parameters of its variant. The fingerprint of the run
covers them, and not the digest of the submission: another variant changes nothing for the present ones."""

_PROSE = re.compile(
    r"(readme|licen[cs]e|copying|notice|changelog|authors|contributing)([-_.][a-z0-9.-]+)?", re.IGNORECASE
)
_PROSE_SUFFIXES = ("", ".md", ".rst", ".txt")


def is_prose(inside: str) -> bool:
    if "/" in inside or _PROSE.fullmatch(inside) is None:
        return False
    dot = inside.rfind(".")
    return inside[dot:].lower() in _PROSE_SUFFIXES if dot > 0 else True


def behaviour_digest(submission: Submission, files: Mapping[str, Path]) -> Digest:
    """Return the digest of what decides what a submission runs: fields of its manifest, code, data and lock files.

    Args:
        files: all its files, by their path inside it.
    """
    return digest_of(
        {
            "manifest": submission.model_dump(mode="json", include=set(BEHAVIOUR), exclude_defaults=True),
            "files": {
                inside: digest_bytes(path.read_bytes())
                for inside, path in files.items()
                if inside != MANIFEST and not is_prose(inside)
            },
        }
    )


def described_in(files: Mapping[str, Path]) -> tuple[Path, ...]:
    return tuple(path for inside, path in files.items() if inside == MANIFEST or is_prose(inside))
