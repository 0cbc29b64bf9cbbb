"""The grader that asks a judge for a verdict on one answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memeval.grading.rows import first_failure, only, row
from memeval.judging.base import Case, Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
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
        question = next(ask.question for ask in scenario.questions() if ask.question_id == item.question_ids[0])
        return (Case(item.item_id, question, response.answer, item.key, scenario),)

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`.

        Raises ``ValueError`` if the item is not one question with one response.
        """
        cases = self.cases(item, scenario, responses)
        metrics = self.metrics(item, scenario, responses[0])
        answerable = not item.key.unanswerable
        if failure := first_failure(responses):
            state, reason = failure
            verdict = False if state is GradeState.EMPTY else None
            alternates = self.alternates(item, verdict)
            return row(
                item,
                self.name,
                state,
                verdict=verdict,
                reason=reason,
                answerable=answerable,
                alternates=alternates,
                metrics=metrics,
            )
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
