"""BEAM's graders: retrieval of the messages with the evidence."""

from collections.abc import Mapping, Sequence

from memeval.benchmarks.beam.keys import BeamKey
from memeval.grading.base import Grader, RuleGrader, first_failure, only, row
from memeval.grading.evidence import TurnIndex, index_of, measures
from memeval.judging.base import Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response, RetrievedItem
from memeval.records.scenario import Scenario
from memeval.tokens import count_tokens

DEPTHS = (1, 3, 5, 10, 20)

DEPTHS_IN_TOKENS = (500, 2000)

HEADLINE = "recall@10"


class BeamRetrieval(RuleGrader):
    """Grades which messages with the evidence are among the first retrieved ones, without a judge.

    A session that a system returns counts as its messages, in order: each takes a rank.
    """

    name = "beam-retrieval@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        response, relevant = only(item, responses, self.name), set(item.key_as(BeamKey, self.name).evidence_turns)
        if response.outcome.is_error and (failure := first_failure(responses)):
            return row(item, self.name, failure[0], verdict=None, reason=failure[1], answerable=False)
        history = index_of(scenario)
        ranking = messages_of(history, response.items or ())
        found = measures(ranking, relevant, DEPTHS)
        metrics: dict[str, float | None] = {name: found[name] for name in found if name.startswith("recall")}
        metrics |= {"mrr": found["mrr"], "context_tokens": response.context_tokens}
        for tokens in DEPTHS_IN_TOKENS:
            early = relevant.intersection(messages_of(history, within(history, response.items or (), tokens)))
            metrics[f"recall_{tokens}_tokens"] = len(early) / len(relevant)
            metrics[f"recall_all_{tokens}_tokens"] = float(len(early) == len(relevant))
        reason = (
            f"{round(found[HEADLINE] * len(relevant))} of {len(relevant)} messages of evidence are among the first 10."
        )
        return row(
            item,
            self.name,
            GradeState.GRADED,
            verdict=None,
            credit=found[HEADLINE],
            reason="The system does not say what it retrieved." if response.items is None else reason,
            answerable=False,
            metrics=metrics,
        )


def messages_of(history: TurnIndex, items: Sequence[RetrievedItem]) -> tuple[str, ...]:
    """Return the ordinals of retrieved messages, best first, each once; an unknown source stays and takes a rank."""
    sources = history.retrieved(items).sources
    return tuple(dict.fromkeys(turn for source in sources for turn in history.turns_of(source) or (source,)))


def within(history: TurnIndex, items: Sequence[RetrievedItem], tokens: int) -> Sequence[RetrievedItem]:
    """Return the first items whose texts have at most so many tokens together."""
    total = 0
    for place, each in enumerate(items):
        total += count_tokens(history.text_of(each))
        if total > tokens:
            return items[:place]
    return items


GRADERS: Mapping[str, Grader] = {"retrieval": BeamRetrieval()}
"""The grader of each protocol."""
