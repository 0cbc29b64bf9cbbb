"""A system's self-reported model usage, per question."""

from __future__ import annotations

from collections.abc import Callable

from memeval.execution.secrets import redact
from memeval.records.response import ReportedUsage
from memeval.systems.errors import SystemFailure
from memeval.systems.process import SystemProcess


class UsageMeter:
    """Computes the usage per question from the totals that a system reports.

    A system whose ``usage`` fails or decreases is not asked again; its answers still count.

    Args:
        system: the system; its totals are read if it has ``usage``.
        warn: receives, once, the reason why the system is not asked again.
    """

    def __init__(self, system: SystemProcess, warn: Callable[[str], None]) -> None:
        self._system = system
        self._warn = warn
        self._before: ReportedUsage | None = None
        self._given_up = False

    @property
    def wanted(self) -> bool:
        return not self._given_up and self._system.hello is not None and self._system.hello.can("usage")

    def begin(self) -> None:
        """Count from now on; after a reset, totals may restart or continue."""
        self._before = self._totals()

    def since(self) -> ReportedUsage | None:
        """Return the usage since the last call, or since :meth:`begin`; ``None`` if not reported."""
        before, now = self._before, self._totals()
        if before is None or now is None:
            return None
        self._before = now
        used = {name: _difference(getattr(before, name), getattr(now, name)) for name in ReportedUsage.model_fields}
        if any(amount is not None and amount < 0 for amount in used.values()):
            self._give_up("usage returned less than before.")
            return None
        return ReportedUsage.model_validate(used)

    def _totals(self) -> ReportedUsage | None:
        if not self.wanted:
            return None
        try:
            return self._system.usage()
        except SystemFailure as failure:
            self._give_up(str(failure))
            return None

    def _give_up(self, reason: str) -> None:
        self._given_up = True
        self._warn(f"{redact(reason)} The system is not asked for its usage again.")


def _difference(before: float | None, now: float | None) -> float | None:
    """Return the difference, without float rounding errors; integers stay integers."""
    if before is None or now is None:
        return None
    return round(now - before, 9)
