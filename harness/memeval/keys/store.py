"""The key of a store: what should be kept of a life, and what should not."""

from __future__ import annotations

from typing import Literal

from memeval.keys.fact import Fact
from memeval.records.base import Record


class StoreKey(Record):
    """What a memory should hold at the end of a history."""

    kind: Literal["store"] = "store"
    """Tells the keys apart."""
    current: tuple[Fact, ...]
    """What holds at the end."""
    stale: tuple[Fact, ...]
    """What held once, and no longer does."""
    never: tuple[Fact, ...]
    """What was never said, though it could have been: of the same topics, by the same words."""
