"""Grades ratings by their error in stars."""

from __future__ import annotations

from collections.abc import Sequence

from memeval.benchmarks.memorycd.grading import PUBLISHED, key_of, parse_rates, state_of
from memeval.benchmarks.memorycd.keys import MemoryCDTask
from memeval.benchmarks.memorycd.parsing import HIGHEST, LOWEST, ParseState, parsed_rating
from memeval.grading.base import RuleGrader
from memeval.grading.rows import only, row
from memeval.judging.base import Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Scenario


class MemoryCDRating(RuleGrader):
    """Grades one predicted rating, without a judge.

    The credit is ``1 - |error| / 4``, and 0 for an answer that is blank or has no number. Under ``published`` such an
    answer counts as 3 stars, like in the released code. A failure counts as 3 stars only in the ``published_`` metrics;
    its credit is 0 under all rules.
    """

    name = "memorycd-rating@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`. The judge is not used.

        Raises:
            TypeError: the item's key is not a rating.
            ValueError: the item is not one question with one response, or its key has no rating.
        """
        response = only(item, responses, self.name)
        truth = key_of(item, self.name, MemoryCDTask.RATING).rating
        if truth is None:
            raise ValueError(f"{item.item_id}: {self.name} has no rating to compare with")
        parsed = parsed_rating(response.answer)
        published = abs(parsed.value - truth)
        result = f"The answer is off by {published:g} stars."
        if parsed.state is ParseState.FALLBACK:
            result = "There is no number in the answer."
        state, reason = state_of(responses, result)
        answered = state is GradeState.GRADED
        error = published if answered and parsed.state is not ParseState.FALLBACK else None
        return row(
            item,
            self.name,
            state,
            verdict=None,
            credit=None if state.is_error else _credit(error),
            reason=reason,
            answerable=False,
            alternates={PUBLISHED: _credit(None if state.is_error else published)},
            metrics={
                "mae": error,
                "squared_error": None if error is None else error**2,
                f"{PUBLISHED}_mae": published,
                f"{PUBLISHED}_squared_error": published**2,
                **parse_rates(responses, parsed.state),
                "non_finite": float(not parsed.finite) if answered else None,
                "decimal": float(not parsed.value.is_integer()) if answered else None,
            },
        )


def _credit(error: float | None) -> float:
    """Return the credit for an error in stars; 0 for ``None``."""
    return 0.0 if error is None else 1 - error / (HIGHEST - LOWEST)
