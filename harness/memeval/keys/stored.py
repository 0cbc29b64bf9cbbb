"""The key of a memory store: the facts that it should and should not contain."""

from __future__ import annotations

from typing import Literal

from memeval.keys.base import AnswerKey
from memeval.keys.facts import Fact
from memeval.records.base import Record


class StoredTopic(Record):
    """One topic of a simulated life, with all its facts."""

    topic: str
    """Unique within a key: ``breakfast``."""
    current: Fact | None
    """The fact at the end; ``None`` if it is uncertain, so that neither storing nor dropping it is wrong."""
    stale: tuple[Fact, ...] = ()
    """Facts that are no longer valid, the latest last; retracted announcements come before former facts."""
    never: tuple[Fact, ...] = ()
    """Plausible facts that the history never states about anybody."""


class StoreKey(AnswerKey):
    """The expected content of a memory store at the end of a history."""

    kind: Literal["store"] = "store"
    """Type of the key."""
    subjects: tuple[StoredTopic, ...]
    """The topics of the history, each once."""

    @property
    def current(self) -> tuple[Fact, ...]:
        """The facts that are valid at the end."""
        return tuple(subject.current for subject in self.subjects if subject.current is not None)

    @property
    def stale(self) -> tuple[Fact, ...]:
        """The stated facts that are no longer valid."""
        return tuple(fact for subject in self.subjects for fact in subject.stale)

    @property
    def never(self) -> tuple[Fact, ...]:
        """The facts that were never stated."""
        return tuple(fact for subject in self.subjects for fact in subject.never)

    @property
    def references(self) -> tuple[str, ...]:
        """The facts that are valid at the end."""
        return tuple(fact.text for fact in self.current)
