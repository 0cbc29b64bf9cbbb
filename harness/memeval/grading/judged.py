"""The grader that asks a judge for a verdict on one answer."""

from __future__ import annotations

from collections.abc import Sequence

from memeval.grading.outcomes import first_failure
from memeval.judging.base import Case, Judge
from memeval.keys import CascadeKey, ItemKey, Stance, UncertaintyKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Scenario


class Judged:
    """Brings an item's one answer before the judge; what is not an answer never gets there."""

    name = "judged@1"

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return the item's one case, or none where its answer is blank or an error.

        Raises:
            ValueError: the item is not one question with one response.
        """
        if len(item.question_ids) != 1 or len(responses) != 1:
            raise ValueError(f"{item.item_id}: {self.name} grades one response to one question, not {len(responses)}")
        if first_failure(responses) is not None:
            return ()
        question = next(ask.question for ask in scenario.questions() if ask.question_id == item.question_ids[0])
        return (Case(item.item_id, question, responses[0].answer, item.key, scenario),)

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`.

        Raises:
            ValueError: the item is not one question with one response.
        """
        cases = self.cases(item, scenario, responses)
        if failure := first_failure(responses):
            state, reason = failure
            return self._grade(item, state, False if state is GradeState.EMPTY else None, reason=reason)
        (case,) = cases
        ruling = judge.rule(case)
        return self._grade(
            item,
            ruling.state,
            ruling.verdict,
            reason=ruling.reason,
            flags=ruling.flags,
            judgment_key=ruling.judgment_key,
            alternates=dict(ruling.alternates),
        )

    def _grade(self, item: ItemKey, state: GradeState, verdict: bool | None, **rest: object) -> Grade:
        return Grade(
            item_id=item.item_id,
            category=item.category,
            cluster=item.cluster,
            slices=item.slices,
            grader=self.name,
            state=state,
            verdict=verdict,
            answerable=is_answerable(item),
            **rest,  # type: ignore[arg-type]
        )


def is_answerable(item: ItemKey) -> bool:
    """Return whether a plain answer to the item is right, rather than doubt."""
    key = item.key
    return not (isinstance(key, CascadeKey | UncertaintyKey) and key.stance is Stance.DOUBT)
