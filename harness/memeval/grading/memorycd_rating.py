"""Grades ratings: how many stars an answer is off."""

from __future__ import annotations

from collections.abc import Sequence

from memeval.grading.memorycd import PUBLISHED, key_of, parse_rates, state_of
from memeval.grading.memorycd_parsing import HIGHEST, LOWEST, ParseState, parsed_rating
from memeval.grading.rows import only, row
from memeval.judging.base import Case, Judge
from memeval.keys import ItemKey, MemoryCDTask
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Scenario


class MemoryCDRating:
    """Grades one predicted rating; no judge is asked.

    The credit is ``1 - |error| / 4``. An answer without a number has none, nor has a blank one. Under ``published``
    such an answer and a blank one count as 3 stars, as in the released code. A failure does so in the ``published_``
    metrics alone: it earns nothing under any rule.
    """

    name = "memorycd-rating@1"

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return nothing: no judge is asked; see :class:`memeval.grading.base.Grader`."""
        return ()

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`. The judge is not asked.

        Raises:
            TypeError: the item's key is of no rating.
            ValueError: the item is not one question with one response, or its key has no rating.
        """
        response = only(item, responses, self.name)
        truth = key_of(item, self.name, MemoryCDTask.RATING).rating
        if truth is None:
            raise ValueError(f"{item.item_id}: {self.name} has no rating to compare with")
        parsed = parsed_rating(response.answer)
        published = abs(parsed.value - truth)
        told = f"The answer is off by {published:g} stars."
        if parsed.state is ParseState.FALLBACK:
            told = "There is no number in the answer."
        state, reason = state_of(responses, told)
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
    """Return the share of a point that an error in stars leaves."""
    return 0.0 if error is None else 1 - error / (HIGHEST - LOWEST)
