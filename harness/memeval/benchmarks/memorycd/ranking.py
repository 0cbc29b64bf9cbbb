"""Grades rankings: the rank of the chosen item."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from memeval.benchmarks.memorycd.grading import PUBLISHED, key_of, parse_rates, state_of
from memeval.benchmarks.memorycd.keys import MemoryCDTask
from memeval.benchmarks.memorycd.parsing import ParseState, parsed_ranking, published_ranking
from memeval.grading.base import RuleGrader
from memeval.grading.rows import only, row
from memeval.judging.base import Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Scenario

DEPTHS = (1, 3, 5)
"""The cut-off ranks."""

HEADLINE = "ndcg@5"
"""The metric that is an item's credit."""


class MemoryCDRanking(RuleGrader):
    """Grades one ranking, without a judge.

    The credit is nDCG at 5. An answer that omits a candidate, and a blank one, get 0. Under ``published``, unrecognised
    ids follow in the prompt's order, like in the released code. A failure counts as that order only in the
    ``published_`` metrics; its credit is 0 under all rules.
    """

    name = "memorycd-ranking@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`. The judge is not used.

        Raises:
            TypeError: the item's key is not a ranking.
            ValueError: the item is not one question with one response, or the chosen item is not a candidate.
        """
        response = only(item, responses, self.name)
        key = key_of(item, self.name, MemoryCDTask.RANKING)
        if key.chosen is None or key.chosen not in key.candidates:
            raise ValueError(f"{item.item_id}: {self.name} has no chosen item among the candidates")
        parsed = parsed_ranking(response.answer, key.candidates)
        whole = parsed.state is not ParseState.FALLBACK
        rank = rank_of(key.chosen, parsed.order) if whole else None
        left_out = len(set(key.candidates)) - len(parsed.order)
        result = f"What the person chose has rank {rank}." if whole else f"The answer leaves out {left_out} candidates."
        state, reason = state_of(responses, result)
        metrics = ranking_metrics(rank if state is GradeState.GRADED else None)
        published = ranking_metrics(rank_of(key.chosen, published_ranking(response.answer, key.candidates)))
        return row(
            item,
            self.name,
            state,
            verdict=None,
            credit=None if state.is_error else metrics[HEADLINE],
            reason=reason,
            answerable=False,
            alternates={PUBLISHED: 0.0 if state.is_error else published[HEADLINE]},
            metrics={
                **(dict.fromkeys(metrics) if state.is_error else metrics),
                **{f"{PUBLISHED}_{name}": value for name, value in published.items()},
                **parse_rates(responses, parsed.state),
            },
        )


def rank_of(chosen: str, order: Sequence[str]) -> int:
    """Return the rank of the chosen item, from 1.

    Raises:
        ValueError: the ranking does not contain it.
    """
    return order.index(chosen) + 1


def ranking_metrics(rank: int | None) -> dict[str, float]:
    """Return nDCG and recall at each depth, by name: ``1 / log2(rank + 1)``, and 1, for a rank within it; else 0.

    Args:
        rank: rank of the chosen item, from 1; ``None`` if it has none.
    """
    found = {}
    for depth in DEPTHS:
        within = rank is not None and rank <= depth
        found[f"ndcg@{depth}"] = 1 / log2(rank + 1) if rank is not None and within else 0.0
        found[f"recall@{depth}"] = float(within)
    return found
