"""Keys of searches and reflections: expected results, and expected content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from memeval.keys.base import AnswerKey
from memeval.keys.facts import Fact, listed


class RecallKey(AnswerKey):
    """The expected results of a search. The ordinals of the relevant texts are the item's evidence."""

    kind: Literal["recall"] = "recall"
    """Type of the key."""
    absent: bool = False
    """Whether the store contains no relevant text, so that the search should return nothing."""
    keywords: tuple[str, ...] = ()
    """Keywords of a relevant text; used only if a system does not name the texts it returns."""
    one_keyword: bool = False
    """Whether one keyword is enough for a relevant text; otherwise it needs all."""
    alike: tuple[tuple[str, ...], ...] = ()
    """Groups of relevant texts with the same content, by ordinal; one text of a group is enough."""
    min_score: float | None = None
    """Lowest score of a counted hit, on the system's own scale; ``None`` counts all hits."""
    graded: bool = True
    """Whether the item can be graded; false if the suite names no expected result."""

    @property
    def unanswerable(self) -> bool:
        """Whether the search should return nothing."""
        return self.absent

    @property
    def references(self) -> tuple[str, ...]:
        """The keywords."""
        return self.keywords


class ReflectKey(AnswerKey):
    """The expected and forbidden content of a reflection; both empty if the suite names none."""

    kind: Literal["reflect"] = "reflect"
    """Type of the key."""
    points: tuple[Fact, ...]
    """The points it should state, the central one first."""
    forbidden: tuple[Fact, ...] = ()
    """The claims it must not make."""

    @property
    def prompt(self) -> str:
        """The prompt about a point, or about a claim if there is no point."""
        return "reflect-point" if self.points else "reflect-claim"

    @property
    def shown(self) -> Mapping[str, str]:
        """The points and the claims."""
        return {"reference": listed(self.points), "claim": listed(self.forbidden)}

    @property
    def references(self) -> tuple[str, ...]:
        """The points."""
        return tuple(point.text for point in self.points)
