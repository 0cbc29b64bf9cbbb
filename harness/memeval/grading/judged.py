"""The graders that ask a judge for a verdict on one answer."""

from collections.abc import Mapping, Sequence

from memeval.grading.base import CORRECTED, failed, first_failure, only, question_of, row
from memeval.judging.base import Case, Judge, Ruling
from memeval.keys import ItemKey
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Scenario


class Judged:
    """Submits an item's one answer to the judge, unless it is blank or an error."""

    name = "judged@1"
    asks_judge = True

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return the item's one case; none if its answer is blank or an error.

        Raises ``ValueError`` if the item is not one question with one response.
        """
        response = only(item, responses, self.name)
        if first_failure(responses) is not None:
            return ()
        return (Case(item.item_id, question_of(item, scenario), response.answer, item.key, scenario),)

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`.

        Raises ``ValueError`` if the item is not one question with one response.
        """
        cases = self.cases(item, scenario, responses)
        metrics = self.metrics(item, scenario, responses[0])
        answerable = not item.key.unanswerable
        if failure := first_failure(responses):
            alternates = self.alternates(item, False if failure[0] is GradeState.EMPTY else None)
            return failed(item, self.name, failure, answerable=answerable, alternates=alternates, metrics=metrics)
        (case,) = cases
        ruling = judge.rule(case)
        return row(
            item,
            self.name,
            ruling.state,
            verdict=ruling.verdict,
            reason=ruling.reason,
            flags=ruling.flags,
            answerable=answerable,
            alternates={**ruling.alternates, **self.alternates(item, ruling.verdict)},
            metrics=metrics,
            judgment_key=ruling.judgment_key,
        )

    def metrics(self, item: ItemKey, scenario: Scenario, response: Response) -> Mapping[str, float | None]:
        """Return additional metrics; subclasses override it."""
        return {}

    def alternates(self, item: ItemKey, verdict: bool | None) -> Mapping[str, bool | None]:
        """Return the verdicts under other rules of the benchmark; see :class:`Grade`."""
        return {}


def flags_of(rulings: Sequence[Ruling]) -> tuple[Flag, ...]:
    return tuple(flag for flag in Flag if any(flag in ruling.flags for ruling in rulings))


def undecided(item: ItemKey, grader: str, rulings: Sequence[Ruling], **rest: object) -> Grade | None:
    """Return the grade of an item on a part of which the judge gives no verdict; ``None`` if it gives all."""
    ruling = next((each for each in rulings if each.verdict is None), None)
    if ruling is None:
        return None
    said = {"reason": ruling.reason, "flags": flags_of(rulings), "judgment_key": ruling.judgment_key}
    return row(item, grader, ruling.state, verdict=None, **said, **rest)


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
