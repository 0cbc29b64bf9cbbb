"""What a check of something stored found amiss."""

from __future__ import annotations

from dataclasses import dataclass

REMEDY = "Restore the file, or record a new run."


@dataclass(frozen=True)
class Finding:
    """Something about a stored run or audit that does not hold."""

    where: str
    """File, and line or field where there is one."""
    problem: str
    """What does not hold, as a sentence."""
    remedy: str = REMEDY
    """What to do."""

    def __str__(self) -> str:
        return f"{self.where}: {self.problem} {self.remedy}"
