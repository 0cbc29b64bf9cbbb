"""A system instance, and the model endpoint that it calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from memeval.records.call import Phase
from memeval.systems.process import SystemProcess


class ModelAccess(Protocol):
    """The model endpoint of one system instance. It records calls under the current scenario and phase."""

    def enter(self, scenario_id: str) -> None:
        """A pass over a scenario starts."""

    def in_phase(self, phase: Phase) -> None:
        """Calls from now on belong to a phase."""


class NoModelAccess:
    """The endpoint of a system without models: it does nothing."""

    def enter(self, scenario_id: str) -> None:
        """See :class:`ModelAccess`."""

    def in_phase(self, phase: Phase) -> None:
        """See :class:`ModelAccess`."""


@dataclass(frozen=True)
class SystemInstance:
    process: SystemProcess
    endpoint: ModelAccess | None = None
    """Its model endpoint; ``None`` if it has no models."""
