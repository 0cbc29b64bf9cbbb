"""The key of a question set: needles, a reference answer, or both."""

from __future__ import annotations

from typing import Literal

from memeval.records.base import Record


class QaKey(Record):
    """What an answer should hold."""

    kind: Literal["qa"] = "qa"
    """Tells the keys apart."""
    needles: tuple[str, ...] = ()
    """Texts that a right answer holds: one of them, unless ``all_of``."""
    all_of: bool = False
    """Whether a right answer holds all of them."""
    reference: str | None = None
    """A right answer, for a judge; ``None`` where the row has none."""
    echoed: bool = False
    """Whether a needle stands in the question itself, so that repeating the question passes."""

    @property
    def answer(self) -> str:
        """The reference answer; blank where there is none."""
        return self.reference or ""
