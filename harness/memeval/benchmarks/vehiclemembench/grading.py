"""VehicleMemBench's graders: retrieval by the minute of events, and calls as sets."""

from collections.abc import Sequence

from memeval.benchmarks.vehiclemembench.calls import CallsError, argument_f1, parse_calls
from memeval.benchmarks.vehiclemembench.keys import VehicleMemBenchKey, minute_of
from memeval.grading.base import UNNAMED, Graded, ResponseGrader, RuleGrader, failed, first_failure, only, row
from memeval.grading.evidence import index_of, measures
from memeval.judging.base import Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Scenario

DEPTHS = (1, 5, 10, 20)
"""The cut-off ranks, in minutes."""

HEADLINE = "recall@10"


class EventRetrieval(ResponseGrader):
    """Grades retrieved items by the minutes of the events that the query depends on, without a judge."""

    name = "event-retrieval@1"

    def graded(self, item: ItemKey, scenario: Scenario, response: Response) -> Graded:
        key = item.key_as(VehicleMemBenchKey, self.name)
        if not key.events:
            raise ValueError(f"{item.item_id}: {self.name} cannot grade an item whose key names no event")
        turns = index_of(scenario).ranked_turns(response.items or ())
        found = measures(tuple(dict.fromkeys(map(minute_of, turns))), set(key.events), DEPTHS)
        metrics: dict[str, float | None] = {f"event_{name}": value for name, value in found.items()}
        credit = found[HEADLINE]
        reason = f"{round(credit * len(key.events))} of {len(key.events)} events are among the first 10 minutes."
        metrics["context_tokens"] = response.context_tokens
        return Graded(reason if response.items is not None else UNNAMED, credit, metrics)


class CallSet(RuleGrader):
    """Grades the calls of an answer: as a set, they must equal the expected ones, with all their arguments."""

    name = "call-set@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        response, key = only(item, responses, self.name), item.key_as(VehicleMemBenchKey, self.name)
        if failure := first_failure(responses):
            return failed(item, self.name, failure, answerable=False)
        expected = frozenset(call for text in key.calls for call in parse_calls(text))
        try:
            found = frozenset(parse_calls(response.answer))
            reason = f"{len(found & expected)} of {len(expected)} expected calls, and {len(found - expected)} others."
        except CallsError as error:
            found, reason = frozenset(), str(error)
        return row(
            item,
            self.name,
            GradeState.GRADED,
            verdict=found == expected,
            reason=reason,
            answerable=False,
            metrics={
                "argument_f1": argument_f1(found, expected),
                "same_functions": float({call.name for call in found} == {call.name for call in expected}),
                "unparsed": float(not found),
            },
        )
