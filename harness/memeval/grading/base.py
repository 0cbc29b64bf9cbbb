"""What a grader is: it turns the responses to an item, and its key, into a grade."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from memeval.judging.base import Case, Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade
from memeval.records.response import Response
from memeval.records.scenario import Scenario


class Grader(Protocol):
    """Turns the responses to one item into its grade; a pure function of its arguments and the judge's record."""

    @property
    def name(self) -> str:
        """Name and version, such as ``judged@1``; part of the track."""

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return what a judge is asked about one item: what :meth:`grade` brings before it, and nothing else.

        Blank answers and failures are never among it. The arguments are those of :meth:`grade`.
        """

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item.

        Args:
            item: the item's key.
            scenario: the scenario its questions stand in, whole (not the view a control may have had).
            responses: the last attempt at each of the item's questions, in the key's order.
            judge: who is asked for a verdict, where the grader asks.

        Returns:
            The grade. An item takes the first outcome among its responses that is not ``ok``.
        """
