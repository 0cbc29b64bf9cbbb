"""The key of a question set: needles, a reference answer, or both."""

from __future__ import annotations

from typing import Literal

from memeval.records.base import Record


class QaKey(Record):
    """The expected content of an answer."""

    kind: Literal["qa"] = "qa"
    """Type of the key."""
    needles: tuple[str, ...] = ()
    """Texts that a right answer contains: one of them, or all with ``all_of``."""
    all_of: bool = False
    """Whether a right answer must contain all needles."""
    reference: str | None = None
    """A right answer, for a judge; ``None`` if the row has none."""
    echoed: bool = False
    """Whether the question contains a needle, so that repeating the question passes."""

    @property
    def answer(self) -> str:
        """The reference answer; blank if there is none."""
        return self.reference or ""
