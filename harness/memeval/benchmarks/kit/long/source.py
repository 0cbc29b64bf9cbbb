"""What the histories of a tier by length are generated from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TypeVar

from memeval.benchmarks.kit.long import SHARED, SIZES
from memeval.benchmarks.kit.long.history import FillerSessions, HistoryLife

L = TypeVar("L")

Part = tuple[str, Sequence[HistoryLife], FillerSessions]
"""A history: its name, its lives, and its filler sessions."""


class LongSource(ABC):
    """Lives and filler sessions of a tier."""

    prefix: str
    """First part of the scenario ids."""
    folder: str
    """Folder of stored surveys, in the data folder."""
    included: str
    """Folder of the surveys that memeval includes, in the package memeval."""
    code: tuple[str, ...]
    """Folders of the benchmark with the code and the words that determine a history, in the package memeval."""

    def __init__(self, seed: int, tier: str) -> None:
        self.seed, self.tier = seed, tier

    @property
    def size(self) -> int:
        """Tokens of a history."""
        return SIZES[self.tier]

    @property
    def is_shared(self) -> bool:
        """Whether all lives share one history."""
        return self.size >= SHARED

    def groups(self, lives: Sequence[L]) -> Iterator[tuple[str, Sequence[L]]]:
        """Yield the lives of each history with its name."""
        if self.is_shared:
            yield "all", lives
            return
        for number, life in enumerate(lives, start=1):
            yield f"{number:02d}", (life,)

    @abstractmethod
    def parts(self) -> Iterator[Part]:
        """Yield the histories of the tier."""
