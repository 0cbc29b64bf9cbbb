"""A system instance with its door: where it reaches the models that memeval lends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from memeval.records.call import Phase
from memeval.systems.process import SystemProcess


class Door(Protocol):
    """Where one system instance makes its model calls; told what it is doing, so that they are recorded under it."""

    def enter(self, scenario_id: str) -> None:
        """A pass over a scenario begins."""

    def in_phase(self, phase: Phase) -> None:
        """What is asked of the system from now on belongs to a phase."""


class NoDoor:
    """The door of a system that is lent no models."""

    def enter(self, scenario_id: str) -> None:
        """See :class:`Door`."""

    def in_phase(self, phase: Phase) -> None:
        """See :class:`Door`."""


@dataclass(frozen=True)
class Instance:
    """One instance of a system."""

    process: SystemProcess
    """Its process."""
    door: Door | None = None
    """Its door to models; ``None`` where it is lent none."""
