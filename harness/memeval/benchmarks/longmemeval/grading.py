"""Graders of LongMemEval: answers by a judge, and retrieval, with the benchmark's own metrics for comparison.

Those (xiaowu0162/LongMemEval, ``src/retrieval/eval_utils.py``) use user turns only, recognise evidence by a mark in the
source's ids, and use the older discount of ranks. memeval's own measures are in :mod:`memeval.grading.evidence`.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import fsum, log2

from memeval.benchmarks.longmemeval.keys import LongMemEvalKey
from memeval.grading.evidence import Retrieved, TurnIndex, few_measures, index_of
from memeval.grading.judged import Judged
from memeval.grading.retrieval import Retrieval
from memeval.keys import ItemKey
from memeval.records.response import Response
from memeval.records.scenario import Ingest, Scenario

_Measure = Callable[[Sequence[str], Sequence[str], int], dict[str, float]]

OFFICIAL_DEPTHS = (1, 3, 5, 10, 30, 50)

MARK = "answer"

UNMARKED = "noans"
"""Replaces the mark if no user turn contains the answer."""


NAMES = ("recall_any", "recall_all", "ndcg_any")

_UNKNOWN = ""


@dataclass(frozen=True)
class Corpus:
    sessions: dict[str, str]
    turns: dict[str, str]


def corpus(history: TurnIndex, evidence_turns: AbstractSet[str]) -> Corpus:
    sessions, turns = {}, {}
    for step in history.scenario.steps:
        if not isinstance(step, Ingest):
            continue
        users = [(n, turn.turn_id) for n, turn in enumerate(step.session.turns, 1) if turn.role == "user"]
        has_answer = any(turn_id in evidence_turns for _, turn_id in users)
        sessions[step.session.session_id] = _marked(step.source_id, has_answer)
        for number, turn_id in users:
            turns[turn_id] = f"{_marked(step.source_id, turn_id in evidence_turns)}_{number}"
    return Corpus(sessions, turns)


def _marked(source_id: str, has_answer: bool) -> str:
    return source_id if has_answer else source_id.replace(MARK, UNMARKED)


def dcg(relevances: Sequence[float]) -> float:
    """Return ``rel_1 + Σ_{i≥2} rel_i / log2(i)``: the discount of Järvelin and Kekäläinen's first paper."""
    return fsum(relevance / log2(max(2, rank)) for rank, relevance in enumerate(relevances, 1))


def official_measures(ranking: Sequence[str], documents: Sequence[str], k: int) -> dict[str, float]:
    """Return LongMemEval's three measures of the first k ranks.

    Without evidence, ``recall_any`` and ``ndcg_any`` are 0 and ``recall_all`` is 1. ``documents``: ids of all
    documents; if turns represent sessions, each session once per turn.
    """
    gold = {document for document in documents if MARK in document}
    within = set(ranking[:k])
    ideal = dcg(sorted((float(document in gold) for document in documents), reverse=True)[:k])
    ndcg = dcg([float(one in gold) for one in ranking[:k]]) / ideal if ideal else 0.0
    return dict(zip(NAMES, (float(not gold.isdisjoint(within)), float(gold <= within), ndcg), strict=True))


def turns_as_sessions(ranking: Sequence[str], documents: Sequence[str], k: int) -> dict[str, float]:
    ranked, all_sessions = [[_session(one) for one in ids] for ids in (ranking, documents)]
    depth = k
    while depth < len(ranked) and len(set(ranked[:depth])) < k:
        depth += 1
    return official_measures(ranked, all_sessions, depth)


def _session(turn: str) -> str:
    return turn.rpartition("_")[0]


def official_retrieval(
    history: TurnIndex, evidence_turns: AbstractSet[str], retrieved: Retrieved
) -> dict[str, float | None]:
    """Return LongMemEval's retrieval measures by name, such as ``official_turn_ndcg_any@5``.

    Its code ranks user turns: assistant turns are skipped, and unknown turns take a rank. ``official_counted`` is 1 if
    a user turn contains the answer; LongMemEval's own run counts only such questions.
    """
    known = corpus(history, evidence_turns)
    ranked = [known.sessions.get(one, _UNKNOWN) for one in retrieved.sessions]
    user_turns = [one for one in retrieved.turns or () if one in known.turns or one not in history.turns]
    ranked_turns = None if retrieved.turns is None else [known.turns.get(one, _UNKNOWN) for one in user_turns]
    return {
        "official_counted": float(any(turn_id in evidence_turns for turn_id in known.turns)),
        **_at_depths("session", official_measures, ranked, list(known.sessions.values())),
        **_at_depths("turn", official_measures, ranked_turns, list(known.turns.values())),
        **_at_depths("turn2session", turns_as_sessions, ranked_turns, list(known.turns.values())),
    }


def _at_depths(
    level: str, measure: _Measure, ranking: Sequence[str] | None, documents: Sequence[str]
) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for k in OFFICIAL_DEPTHS:
        values: dict[str, float] = {} if ranking is None else measure(ranking, documents, k)
        found |= {f"official_{level}_{name}@{k}": values.get(name) for name in NAMES}
    return found


class LongMemEvalJudged(Judged):
    """Submits LongMemEval's answers to a judge.

    The alternate ``abstention`` is the score over the unanswerable questions.
    """

    name = "longmemeval-judged@2"

    def metrics(self, item: ItemKey, scenario: Scenario, response: Response) -> Mapping[str, float | None]:
        item.key_as(LongMemEvalKey, self.name)
        return few_measures(item, index_of(scenario), response)

    def alternates(self, item: ItemKey, verdict: bool | None) -> Mapping[str, bool | None]:
        return {"abstention": verdict is True if item.key_as(LongMemEvalKey, self.name).abstention else None}


class LongMemEvalRetrieval(Retrieval):
    name = "longmemeval-retrieval@2"

    def upstream(self, item: ItemKey, history: TurnIndex, retrieved: Retrieved | None) -> dict[str, float | None]:
        evidence_turns = frozenset(item.key_as(LongMemEvalKey, self.name).evidence_turns)
        return {} if retrieved is None else official_retrieval(history, evidence_turns, retrieved)
