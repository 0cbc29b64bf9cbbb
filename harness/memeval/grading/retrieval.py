"""The grader of retrieval, independent of the answer: the share of evidence among the first sessions."""

from memeval.grading.base import UNNAMED, Graded, ResponseGrader
from memeval.grading.evidence import Retrieved, TurnIndex, evidence_measures, index_of, without_choice
from memeval.keys import ItemKey
from memeval.records.response import Response
from memeval.records.scenario import Scenario

HEADLINE = "session_recall@5"
"""The metric that is an item's credit."""

NO_TURNS = "The system returns sessions, so turn metrics are left out."
"""Added to the reason of a grade without turn metrics although the key names turns."""


class Retrieval(ResponseGrader):
    """Grades the retrieved items of one question, without a judge."""

    name = "retrieval@2"

    def graded(self, item: ItemKey, scenario: Scenario, response: Response) -> Graded:
        if not item.evidence:
            raise ValueError(f"{item.item_id}: {self.name} cannot grade an item whose key names no evidence")
        history = index_of(scenario)
        metrics: dict[str, float | None] = {"context_tokens": response.context_tokens, **without_choice(history)}
        if response.items is None:
            return Graded(UNNAMED, 0.0, metrics | self.upstream(item, history, None))
        retrieved = history.retrieved(response.items)
        metrics |= evidence_measures(item, retrieved) | self.upstream(item, history, retrieved)
        credit = metrics[HEADLINE] or 0.0
        found = round(credit * len(item.evidence))
        reason = f"{found} of {len(item.evidence)} sessions of evidence are among the first 5."
        if item.key.relevant_turns and retrieved.turns is None and response.items:
            reason += f" {NO_TURNS}"
        return Graded(reason, credit, metrics)

    def upstream(self, item: ItemKey, history: TurnIndex, retrieved: Retrieved | None) -> dict[str, float | None]:
        """Return the metrics of the benchmark's own code; subclasses override it.

        ``retrieved``: the retrieved sources; ``None`` if the system returned no items.
        """
        return {}
