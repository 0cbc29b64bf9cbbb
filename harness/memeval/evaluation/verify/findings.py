"""Results of a check of stored files."""

from dataclasses import dataclass
from enum import StrEnum

from memeval.archive.rows import REMEDY as REMEDY


@dataclass(frozen=True)
class Finding:
    where: str
    """File, with line or field if known."""
    problem: str
    remedy: str = REMEDY

    def __str__(self) -> str:
        return f"{self.where}: {self.problem} {self.remedy}"


class CheckStatus(StrEnum):
    OK = "ok"
    FAILED = "failed"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Check:
    """One check of a stored run, such as that of its track. A check that was not made is never a success."""

    name: str
    """Its name, such as ``digests``, ``track``, ``system``, ``contexts``, ``scores``, ``judgments`` or ``clocks``."""
    findings: tuple[Finding, ...] = ()
    not_checked: str | None = None
    """Why all or a part was not checked, as a phrase such as ``the data is not here``; ``None`` if all was checked."""

    @property
    def status(self) -> CheckStatus:
        """The result: failed with any problem, else not checked if a part was not checked."""
        if self.findings:
            return CheckStatus.FAILED
        return CheckStatus.OK if self.not_checked is None else CheckStatus.NOT_CHECKED
