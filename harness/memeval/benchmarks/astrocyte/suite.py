"""A suite as its file has it: texts to retain, searches, and questions to reflect on."""

from __future__ import annotations

from dataclasses import dataclass

from memeval.keys import Fact
from memeval.records.base import Digest
from memeval.records.scenario import Recall, Reflect, Retain

MAIN = "main"
"""The bank of what names none. Where a system is called, it is the system's own."""


@dataclass(frozen=True)
class RecallCase:
    """A search, and what it should bring up."""

    step: Recall
    """The search, under the case's id."""
    category: str | None
    """Where it counts, as the suite says."""
    absent: bool = False
    """Whether nothing should come up."""
    keywords: tuple[str, ...] = ()
    """What a relevant text holds."""
    one_keyword: bool = False
    """Whether one of the keywords is enough."""
    relevant: tuple[str, ...] = ()
    """Ordinals of the relevant texts; none where nothing should come up, or the suite names no truth."""
    min_score: float | None = None
    """Hits of a lower score do not count as brought up."""

    @property
    def graded(self) -> bool:
        """Whether there is a truth."""
        return self.absent or bool(self.relevant)


@dataclass(frozen=True)
class ReflectCase:
    """A question to reflect on, and what the answer should say."""

    step: Reflect
    """The question, under the case's id."""
    category: str | None
    """Where it counts, as the suite says."""
    points: tuple[Fact, ...] = ()
    """What it should state, the central point first."""
    forbidden: tuple[Fact, ...] = ()
    """What it must not claim."""

    @property
    def graded(self) -> bool:
        """Whether there is a truth."""
        return bool(self.points or self.forbidden)


@dataclass(frozen=True)
class Suite:
    """A suite, checked."""

    name: str
    version: str | int
    digest: Digest
    """Digest of the file's bytes."""
    texts: tuple[Retain, ...]
    recalls: tuple[RecallCase, ...]
    reflects: tuple[ReflectCase, ...]
    warnings: tuple[str, ...]
    """What the suite's author should know, a sentence each."""
