"""Questions in flight: several sent to one instance of a system before it has replied to the first."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from memeval.systems.errors import SystemFailure

WAIT_SECONDS = 0.25
"""How long an instance without questions in flight waits for a slot before it looks around."""

AGAIN_SECONDS = 0.01
"""How often an instance with questions in flight asks for another slot."""


class Slots:
    """Slots that several instances share, each for one question in flight."""

    def __init__(self, number: int) -> None:
        self._free = threading.Semaphore(number)
        self._is_open = False

    def take(self, *, wait: bool) -> bool:
        """Take a slot; return whether there was one, within a moment if ``wait``."""
        if self._is_open:
            return True
        return self._free.acquire(timeout=WAIT_SECONDS) if wait else self._free.acquire(blocking=False)

    def give_back(self, number: int) -> None:
        if number:
            self._free.release(number)

    def open(self) -> None:
        """Limit nothing any more: the run ends, and nobody may wait for a slot."""
        self._is_open = True


@dataclass(frozen=True)
class Flight:
    """How questions are sent together."""

    most: int
    """The most questions in flight in this instance."""
    in_order: bool = False
    """Whether the system may answer one after the other: then a time limit counts from the reply before."""
    slots: Slots | None = None
    """How many may be in flight over all instances; ``None`` for no such limit."""


@dataclass(frozen=True)
class Sent:
    place: int
    """Its place in the order of sending."""
    call: str
    at: float
    """When it was sent, by the clock of the process."""


class EndedInFlight(Exception):
    """The process has ended with questions in flight.

    Attributes:
        places: the questions without a reply, any of which may have caused it.
    """

    def __init__(self, failure: SystemFailure, places: Sequence[int]) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.places = tuple(places)
