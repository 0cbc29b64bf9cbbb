"""The grader protocol: from an item's responses and key to its grade."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from memeval.judging.base import Case, Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade
from memeval.records.response import Response
from memeval.records.scenario import Scenario


class Grader(Protocol):
    """Grades one item; a pure function of its arguments and the judge's recorded replies."""

    @property
    def name(self) -> str:
        """Name and version, such as ``judged@1``; part of the track."""

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return the cases that :meth:`grade` submits to the judge for one item.

        Blank answers and failures give no cases. The arguments are those of :meth:`grade`.
        """

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item.

        Args:
            item: the item's key.
            scenario: the complete scenario of its questions, not the reduced view of a control.
            responses: the last attempt at each of the item's questions, in the key's order.
            judge: the judge; graders without cases do not use it.

        Returns:
            The grade. An item takes the first outcome among its responses that is not ``ok``.
        """
