"""Ranking measures of information retrieval (Manning, Raghavan and Schütze, "Introduction to Information Retrieval",
chapter 8; nDCG: Järvelin and Kekäläinen 2002, with today's discount).
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from math import fsum, log2

DEPTHS = (1, 5, 10, 25, 50)
"""The cut-off ranks."""


def measures(ranking: Sequence[str], relevant: AbstractSet[str], depths: Sequence[int] = DEPTHS) -> dict[str, float]:
    """Return recall, all-evidence recall, hit, precision and nDCG at each depth, and the reciprocal rank.

    With ``rel_i`` 1 for a relevant rank i and 0 otherwise, ``DCG@k = Σ_{i≤k} rel_i / log2(i + 1)``; nDCG divides it
    by the ideal DCG, in which the first ``min(|relevant|, k)`` ranks are relevant.

    Args:
        ranking: the retrieved ids, best first, without duplicates.
        relevant: the relevant ids; not empty.

    Raises:
        ValueError: ``relevant`` is empty, or ``ranking`` has duplicates.
    """
    if not relevant or len(set(ranking)) != len(ranking):
        raise ValueError("a ranking needs relevant ids and no duplicates")
    ranks = [rank for rank, one in enumerate(ranking, 1) if one in relevant]
    found = {}
    for k in depths:
        within = [rank for rank in ranks if rank <= k]
        ideal = fsum(1 / log2(rank + 1) for rank in range(1, min(len(relevant), k) + 1))
        found[f"recall@{k}"] = len(within) / len(relevant)
        found[f"recall_all@{k}"] = float(len(within) == len(relevant))
        found[f"hit@{k}"] = float(bool(within))
        found[f"precision@{k}"] = len(within) / k
        found[f"ndcg@{k}"] = fsum(1 / log2(rank + 1) for rank in within) / ideal
    found["mrr"] = 1 / ranks[0] if ranks else 0.0
    return found
