"""The key of a question set: needles, a reference answer, or both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from memeval.keys import ReferenceKey


class QaKey(ReferenceKey):
    """The expected content of an answer."""

    prompts = __package__
    doubt_abstains = True

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
    def prompt(self) -> str:
        """The one prompt of question sets."""
        return "qa-answer"

    @property
    def shown(self) -> Mapping[str, str]:
        """The reference answer."""
        return {"reference": self.expected}

    @property
    def expected(self) -> str:
        """The reference answer; blank if there is none."""
        return self.reference or ""

    @property
    def references(self) -> tuple[str, ...]:
        """The reference answer, or the needles if there is none."""
        return self.needles if self.reference is None else (self.reference,)
