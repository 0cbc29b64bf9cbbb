"""Keys of suites: what a search of a bank should bring up, and what a reflection should say."""

from __future__ import annotations

from typing import Literal

from memeval.keys.fact import Fact
from memeval.records.base import Record


class RecallKey(Record):
    """What a search should bring up. Which texts are relevant is the item's evidence: their ordinals."""

    kind: Literal["recall"] = "recall"
    """Tells the keys apart."""
    absent: bool = False
    """Whether nothing in the store answers, so that nothing should come up."""
    keywords: tuple[str, ...] = ()
    """What a relevant text holds; read only where a system does not say which texts it brings up."""
    one_keyword: bool = False
    """Whether a relevant text holds one of the keywords, rather than all of them."""
    alike: tuple[tuple[str, ...], ...] = ()
    """Relevant texts that say the same in other words, by ordinal: one of them does for all."""
    min_score: float | None = None
    """Hits of a lower score of the system's own count as not brought up; ``None`` counts all."""
    graded: bool = True
    """Whether there is a truth to grade by; false where a suite names none."""


class ReflectKey(Record):
    """What a reflection should say, and what it must not; neither where a suite names no truth."""

    kind: Literal["reflect"] = "reflect"
    """Tells the keys apart."""
    points: tuple[Fact, ...]
    """What it should state, the central point first."""
    forbidden: tuple[Fact, ...] = ()
    """What it must not claim."""
