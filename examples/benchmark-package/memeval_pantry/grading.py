"""The grader of counts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memeval.grading.base import RuleGrader, first_failure, only, row
from memeval.judging.base import Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Scenario
from memeval_pantry.keys import CountKey

_NUMBER = re.compile(r"\d{1,9}")


class Counted(RuleGrader):
    """Accepts an answer whose only number is the right one."""

    name = "pantry-count@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`.

        Raises:
            TypeError: the key is no count.
            ValueError: the item is not one question with one response.
        """
        response = only(item, responses, self.name)
        if not isinstance(item.key, CountKey):
            raise TypeError(f"{item.item_id}: {self.name} cannot grade keys of kind {item.key.kind!r}")
        if failure := first_failure(responses):
            state, reason = failure
            verdict = False if state is GradeState.EMPTY else None
            return row(item, self.name, state, verdict=verdict, reason=reason, metrics={"distance": None})
        numbers = {int(found) for found in _NUMBER.findall(response.answer)}
        right = numbers == {item.key.number}
        distance = abs(numbers.pop() - item.key.number) if len(numbers) == 1 else None
        reason = "The answer has the right number." if right else "The answer has another number, several, or none."
        return row(item, self.name, GradeState.GRADED, verdict=right, reason=reason, metrics={"distance": distance})
