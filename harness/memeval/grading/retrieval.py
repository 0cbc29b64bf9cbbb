"""The grader of retrieval, independent of the answer: the share of evidence among the first sessions."""

from collections.abc import Mapping, Sequence

from memeval.grading.base import RuleGrader, first_failure, only, row
from memeval.grading.evidence import Retrieved, TurnIndex, evidence_measures, index_of, without_choice
from memeval.judging.base import Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Scenario

HEADLINE = "session_recall@5"
"""The metric that is an item's credit."""

NO_TURNS = "The system returns sessions, so turn metrics are left out."
"""Added to the reason of a grade without turn metrics although the key names turns."""


class Retrieval(RuleGrader):
    """Grades the retrieved items of one question, without a judge."""

    name = "retrieval@2"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`. The judge is not used.

        Raises ``ValueError`` if the item is not one question with one response, or its key names no evidence.
        """
        response = only(item, responses, self.name)
        if not item.evidence:
            raise ValueError(f"{item.item_id}: {self.name} cannot grade an item whose key names no evidence")
        if response.outcome.is_error and (failure := first_failure(responses)):
            state, reason = failure
            return row(item, self.name, state, verdict=None, reason=reason, answerable=False)
        history = index_of(scenario)
        metrics: dict[str, float | None] = {"context_tokens": response.context_tokens, **without_choice(history)}
        if response.items is None:
            credit, reason = 0.0, "The system does not say what it retrieved."
            metrics |= self.upstream(item, history, None)
        else:
            retrieved = history.retrieved(response.items)
            metrics |= evidence_measures(item, retrieved)
            metrics |= self.upstream(item, history, retrieved)
            credit = metrics[HEADLINE] or 0.0
            found = round(credit * len(item.evidence))
            reason = f"{found} of {len(item.evidence)} sessions of evidence are among the first 5."
            if item.key.relevant_turns and retrieved.turns is None and response.items:
                reason += f" {NO_TURNS}"
        return row(
            item,
            self.name,
            GradeState.GRADED,
            verdict=None,
            credit=credit,
            reason=reason,
            answerable=False,
            metrics=metrics,
        )

    def upstream(self, item: ItemKey, history: TurnIndex, retrieved: Retrieved | None) -> Mapping[str, float | None]:
        """Return the metrics of the benchmark's own code; subclasses override it.

        ``retrieved``: the retrieved sources; ``None`` if the system returned no items.
        """
        return {}
