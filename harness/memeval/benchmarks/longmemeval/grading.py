"""Graders of LongMemEval: answers by a judge, and retrieval."""

from __future__ import annotations

from collections.abc import Mapping

from memeval.benchmarks.longmemeval.keys import LongMemEvalKey
from memeval.benchmarks.longmemeval.official import official_retrieval
from memeval.grading.evidence import Retrieved, TurnIndex, TurnIndexes, Version, few_measures
from memeval.grading.judged import Judged
from memeval.grading.retrieval import Retrieval
from memeval.keys import ItemKey
from memeval.records.response import Response
from memeval.records.scenario import Scenario


class LongMemEvalJudged(Judged):
    """Submits LongMemEval's answers to a judge.

    The alternate ``abstention`` is the score over the unanswerable questions.

    Args:
        version: 1 ranks turns among sessions if a system returns both; see :class:`TurnIndex`.
    """

    name = "longmemeval-judged@2"

    def __init__(self, version: Version = 2) -> None:
        self.name = f"longmemeval-judged@{version}"
        self._histories = TurnIndexes(mixed=version == 1)

    def metrics(self, item: ItemKey, scenario: Scenario, response: Response) -> Mapping[str, float | None]:
        _key(item, self.name)
        return few_measures(item, self._histories.of(scenario), response)

    def alternates(self, item: ItemKey, verdict: bool | None) -> Mapping[str, bool | None]:
        return {"abstention": verdict is True if _key(item, self.name).abstention else None}


class LongMemEvalRetrieval(Retrieval):
    """Grades the retrieved items of one question, and adds LongMemEval's own measures."""

    family = "longmemeval-retrieval"

    def upstream(self, item: ItemKey, history: TurnIndex, retrieved: Retrieved | None) -> Mapping[str, float | None]:
        evidence_turns = frozenset(_key(item, self.name).evidence_turns)
        return {} if retrieved is None else official_retrieval(history, evidence_turns, retrieved)


def _key(item: ItemKey, grader: str) -> LongMemEvalKey:
    if not isinstance(item.key, LongMemEvalKey):
        raise TypeError(f"{item.item_id}: {grader} cannot grade keys of kind {item.key.kind!r}")
    return item.key
