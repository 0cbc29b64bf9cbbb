"""The grader protocol: from an item's responses and key to its grade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from memeval.judging.base import Case, Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade
from memeval.records.response import Response
from memeval.records.scenario import Scenario

CORRECTED = "corrected"
"""Name of the alternate score without known faults: wrong keys, contested items, and credit that can be bought."""


@dataclass(frozen=True)
class DeliveredContexts:
    """The contexts of an item's questions."""

    texts: tuple[str | None, ...] = ()
    """The text of each context, in the order of the questions; ``None`` where none is stored."""
    read: bool = False
    """Whether a reader answered from these contexts. A system that writes its own answers only reports a context."""


class Grader(Protocol):
    """Grades one item; a pure function of its arguments and the judge's recorded replies."""

    @property
    def name(self) -> str:
        """Name and version, such as ``judged@1``; part of the track."""

    @property
    def asks_judge(self) -> bool:
        """Whether its grades need verdicts of a judge."""

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return the cases that :meth:`grade` submits to the judge for one item.

        Blank answers and failures give no cases. The arguments are those of :meth:`grade`.
        """

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item.

        Args:
            scenario: the complete scenario of its questions, not the reduced view of a control.
            responses: the last attempt at each of the item's questions, in the key's order.
            judge: the judge; graders without cases do not use it.

        Returns:
            The grade. An item takes the first outcome among its responses that is not ``ok``.
        """


class RuleGrader:
    """Base of the graders that need no judge."""

    asks_judge = False

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return no cases; see :meth:`Grader.cases`."""
        return ()


@runtime_checkable
class ContextGrader(Grader, Protocol):
    """A grader that also looks at the contexts."""

    def grade_delivered(
        self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], delivered: DeliveredContexts
    ) -> Grade:
        """Grade one item with its contexts; see :meth:`grade`, which grades without contexts."""


@runtime_checkable
class RunGrader(Grader, Protocol):
    """A grader whose grades also depend on the system's other answers in the run."""

    def settled(self, grades: Sequence[Grade]) -> list[Grade]:
        """Return all grades of a run, in the same order, with the rule of the whole run applied to its own."""
