"""VehicleMemBench's graders: retrieval by the minute of events, and calls as sets."""

from collections.abc import Sequence

from memeval.benchmarks.vehiclemembench.calls import CallsError, argument_f1, parse_calls
from memeval.benchmarks.vehiclemembench.keys import VehicleMemBenchKey, minute_of
from memeval.grading.base import RuleGrader, first_failure, only, row
from memeval.grading.evidence import TurnIndex, index_of, measures
from memeval.judging.base import Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response, RetrievedItem
from memeval.records.scenario import Scenario

DEPTHS = (1, 5, 10, 20)
"""The cut-off ranks, in minutes."""

HEADLINE = "event_recall@10"


def ranked_minutes(history: TurnIndex, items: Sequence[RetrievedItem]) -> tuple[str, ...]:
    """Return the retrieved minutes by their ordinals, best first, each once.

    A session counts as its minutes in their order, so that returning whole sessions gains nothing. An unknown source
    takes one rank.
    """
    sources = history.retrieved(items).sources
    turns = (turn for source in sources for turn in history.turns_of(source) or (source,))
    return tuple(dict.fromkeys(map(minute_of, turns)))


class EventRetrieval(RuleGrader):
    """Grades retrieved items by the minutes of the events that the query depends on, without a judge."""

    name = "event-retrieval@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`.

        Raises ``ValueError`` if the item is not one question with one response, or its key names no event.
        """
        response, key = only(item, responses, self.name), item.key_as(VehicleMemBenchKey, self.name)
        if not key.events:
            raise ValueError(f"{item.item_id}: {self.name} cannot grade an item whose key names no event")
        if response.outcome.is_error and (failure := first_failure(responses)):
            state, reason = failure
            return row(item, self.name, state, verdict=None, reason=reason, answerable=False)
        found = measures(ranked_minutes(index_of(scenario), response.items or ()), set(key.events), DEPTHS)
        metrics = {f"event_{name}": value for name, value in found.items()}
        credit = metrics[HEADLINE]
        reason = f"{round(credit * len(key.events))} of {len(key.events)} events are among the first 10 minutes."
        return row(
            item,
            self.name,
            GradeState.GRADED,
            verdict=None,
            credit=credit,
            reason=reason if response.items is not None else "The system does not say what it retrieved.",
            answerable=False,
            metrics={"context_tokens": response.context_tokens, **metrics},
        )


class CallSet(RuleGrader):
    """Grades the calls of an answer: as a set, they must equal the expected ones, with all their arguments."""

    name = "call-set@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        response, key = only(item, responses, self.name), item.key_as(VehicleMemBenchKey, self.name)
        if failure := first_failure(responses):
            state, reason = failure
            blank = state is GradeState.EMPTY
            return row(item, self.name, state, verdict=False if blank else None, reason=reason, answerable=False)
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
