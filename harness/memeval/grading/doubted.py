"""The grader of questions to which doubt is right, with a rule against doubting everything."""

from __future__ import annotations

from collections.abc import Sequence

from memeval.grading.base import CORRECTED
from memeval.grading.judged import Judged
from memeval.records.grade import Flag, Grade, GradeState

MOST_FALSE_HEDGES = 0.5
"""Doubt counts if the share of false hedges is at most this share of the share of right doubt."""


class DoubtJudged(Judged):
    """Judges answers where doubt is right and no control item asks for a plain answer.

    A system that doubts everything gets all these items right. So the corrected score counts them only if the system
    doubts less where a plain answer is right; see :meth:`settled`. The published score always counts them.
    """

    name = "judged-doubt@1"

    def settled(self, grades: Sequence[Grade]) -> list[Grade]:
        """Return all grades of a run, with a corrected verdict for every graded item of this grader.

        The verdict holds if the system's rate of false hedges is at most half of its rate of right doubt, both over
        graded answers. A system that doubts a random share of all answers has equal rates, whatever the share. Without
        graded answers to plain questions, there is no rate of false hedges, and no doubt counts.
        """
        graded = [grade for grade in grades if grade.state is GradeState.GRADED]
        false_hedges = [Flag.HEDGED in grade.flags for grade in graded if grade.answerable]
        right_doubt = [grade.verdict is True for grade in graded if self._is_own(grade)]
        counts = bool(false_hedges) and _share(false_hedges) <= MOST_FALSE_HEDGES * _share(right_doubt)
        return [self._settled(grade, counts) if self._is_own(grade) else grade for grade in grades]

    def _is_own(self, grade: Grade) -> bool:
        return grade.grader == self.name and not grade.answerable

    def _settled(self, grade: Grade, counts: bool) -> Grade:
        is_excluded = grade.alternates.get(CORRECTED, True) is None
        if grade.state.is_error or is_excluded:
            return grade
        corrected = grade.alternates.get(CORRECTED, grade.verdict)
        return grade.model_copy(update={"alternates": {**grade.alternates, CORRECTED: bool(corrected) and counts}})


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0
