"""Records of a suite: texts to retain, searches, and questions to reflect on."""

from __future__ import annotations

from dataclasses import dataclass

from memeval.keys import Fact
from memeval.records.base import Digest
from memeval.records.scenario import Recall, Reflect, Retain

MAIN = "main"
"""Bank of entries that name none. Calls to a system send no bank for it."""


@dataclass(frozen=True)
class RecallCase:
    """A search with its expected results."""

    step: Recall
    """The search, with the id of the case."""
    category: str | None
    """Category in the suite."""
    absent: bool = False
    """Whether the correct result is empty."""
    keywords: tuple[str, ...] = ()
    """Keywords of a relevant text."""
    one_keyword: bool = False
    """Whether one keyword is enough."""
    relevant: tuple[str, ...] = ()
    """Ordinals of the relevant texts; empty if the correct result is empty or unknown."""
    min_score: float | None = None
    """Results with a lower score do not count."""

    @property
    def graded(self) -> bool:
        """Whether the suite has an expected result."""
        return self.absent or bool(self.relevant)


@dataclass(frozen=True)
class ReflectCase:
    """A question to reflect on, with its expected answer."""

    step: Reflect
    """The question, with the id of the case."""
    category: str | None
    """Category in the suite."""
    points: tuple[Fact, ...] = ()
    """Points that the answer should state, the central point first."""
    forbidden: tuple[Fact, ...] = ()
    """Claims that the answer must not make."""

    @property
    def graded(self) -> bool:
        """Whether the suite has an expected result."""
        return bool(self.points or self.forbidden)


@dataclass(frozen=True)
class Suite:
    """A valid suite."""

    name: str
    version: str | int
    digest: Digest
    """Digest of the bytes of the file."""
    texts: tuple[Retain, ...]
    recalls: tuple[RecallCase, ...]
    reflects: tuple[ReflectCase, ...]
    warnings: tuple[str, ...]
    """Warnings for the author of the suite, as sentences."""
