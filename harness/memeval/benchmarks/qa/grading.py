"""Graders of question sets: by needles, or by a judge."""

from collections.abc import Mapping, Sequence

from memeval.benchmarks.qa.keys import QaKey, holds, holds_anywhere
from memeval.grading.base import RuleGrader, first_failure, only, row
from memeval.grading.evidence import few_measures, index_of
from memeval.grading.judged import Judged
from memeval.judging.base import Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Scenario


class QaExact(RuleGrader):
    """Looks for needles as whole words, without a judge.

    The alternate ``published`` finds a needle anywhere in the answer. ``without-echo`` excludes the rows that pass by
    repeating the question.
    """

    name = "exact-wb@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        response = only(item, responses, self.name)
        key = item.key_as(QaKey, self.name)
        metrics = few_measures(item, index_of(scenario), response)
        verdict: bool | None
        if failure := first_failure(responses):
            state, reason = failure
            verdict = False if state is GradeState.EMPTY else None
            published = False
        else:
            state, verdict = GradeState.GRADED, holds(response.answer, key.needles, key.all_of)
            published = holds_anywhere(response.answer, key.needles)
            wanted = "all needles" if key.all_of else "a needle"
            reason = f"The answer {'holds' if verdict else 'does not hold'} {wanted} as whole words."
        return row(
            item,
            self.name,
            state,
            verdict=verdict,
            reason=reason,
            answerable=False,
            alternates={"published": published, "without-echo": None if key.echoed else verdict is True},
            metrics=metrics,
        )


class QaJudged(Judged):
    """Submits answers to a judge, together with the reference answer."""

    name = "qa-judged@1"

    def metrics(self, item: ItemKey, scenario: Scenario, response: Response) -> Mapping[str, float | None]:
        item.key_as(QaKey, self.name)
        return few_measures(item, index_of(scenario), response)

    def alternates(self, item: ItemKey, verdict: bool | None) -> Mapping[str, bool | None]:
        return {"without-echo": None if item.key_as(QaKey, self.name).echoed else verdict is True}
