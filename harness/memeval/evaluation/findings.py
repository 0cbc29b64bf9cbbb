"""A problem that a check of stored files found."""

from __future__ import annotations

from dataclasses import dataclass

REMEDY = "Restore the file, or record a new run."


@dataclass(frozen=True)
class Finding:
    """A problem of a stored run, audit or matrix."""

    where: str
    """File, with line or field if known."""
    problem: str
    """The problem, as a sentence."""
    remedy: str = REMEDY
    """How to fix it."""

    def __str__(self) -> str:
        return f"{self.where}: {self.problem} {self.remedy}"
