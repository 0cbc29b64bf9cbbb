"""Following what a system says of its own model calls, question by question."""

from __future__ import annotations

from collections.abc import Callable

from memeval.execution.secrets import redact
from memeval.records.response import ReportedUsage
from memeval.systems.errors import SystemFailure
from memeval.systems.process import SystemProcess


class UsageMeter:
    """Takes the differences between the totals that a system reports.

    A system that cannot say, or says what cannot be, is not asked again, and nothing else comes of it.

    Args:
        system: is asked for its totals, where it has ``usage``.
        say: is told, once, why it is not asked again.
    """

    def __init__(self, system: SystemProcess, say: Callable[[str], None]) -> None:
        self._system = system
        self._say = say
        self._before: ReportedUsage | None = None
        self._given_up = False

    @property
    def wanted(self) -> bool:
        """Whether the system is asked."""
        return not self._given_up and self._system.hello is not None and self._system.hello.can("usage")

    def begin(self) -> None:
        """Count from here on: with a reset, totals may start again or go on."""
        self._before = self._totals()

    def since(self) -> ReportedUsage | None:
        """Return what was used since this was last asked, or since the beginning; ``None`` where nobody says."""
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

    def _give_up(self, why: str) -> None:
        self._given_up = True
        self._say(f"{redact(why)} The system is not asked for its usage again.")


def _difference(before: float | None, now: float | None) -> float | None:
    """Return how much was added, without the dust of subtracting floats; a whole number stays one."""
    if before is None or now is None:
        return None
    return round(now - before, 9)
