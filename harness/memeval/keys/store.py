"""The key of a store: what should be kept of a life, and what should not."""

from __future__ import annotations

from typing import Literal

from memeval.keys.fact import Fact
from memeval.records.base import Record


class StoredTopic(Record):
    """One topic of a life, with all that can be said of it by the same words."""

    topic: str
    """Unique within a key: ``breakfast``."""
    current: Fact | None
    """What holds at the end; ``None`` where that is open, so that neither keeping nor dropping it is wrong."""
    stale: tuple[Fact, ...] = ()
    """What no longer holds, the latest last; what was announced and taken back comes before what once held."""
    never: tuple[Fact, ...] = ()
    """What was never said, of anybody, though it could have been."""


class StoreKey(Record):
    """What a memory should hold at the end of a history."""

    kind: Literal["store"] = "store"
    """Tells the keys apart."""
    subjects: tuple[StoredTopic, ...]
    """The topics that came up, each once."""

    @property
    def current(self) -> tuple[Fact, ...]:
        """What holds at the end."""
        return tuple(subject.current for subject in self.subjects if subject.current is not None)

    @property
    def stale(self) -> tuple[Fact, ...]:
        """What was said once, and does not hold."""
        return tuple(fact for subject in self.subjects for fact in subject.stale)

    @property
    def never(self) -> tuple[Fact, ...]:
        """What was never said."""
        return tuple(fact for subject in self.subjects for fact in subject.never)
