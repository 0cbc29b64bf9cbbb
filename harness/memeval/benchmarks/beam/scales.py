"""The scales of published BEAM scores, from verdicts about the sentences of a rubric and the lines of an answer.

The authors' code (mohammadtavakoli78/BEAM, ``src/evaluation/compute_metrics.py`` and ``report_results.py``) asks for 0,
½ or 1 per sentence, and cuts ½ to 0 for all abilities but event ordering. For event ordering, it matches the lines of
an answer with the sentences of the rubric, and reports Kendall's τ; it also computes F1 and the product of both.
"""

from collections.abc import Mapping, Sequence
from math import fsum

from memeval.statistics.agreement import kendall_tau


def mean(scores: Sequence[float]) -> float:
    """Return the mean of 0, ½ and 1 per sentence: the scale of mem0, for all abilities."""
    return fsum(scores) / len(scores)


def cut(scores: Sequence[float]) -> float:
    """Return the mean after ½ is cut to 0: the authors' code, for all abilities but event ordering."""
    return fsum(int(score) for score in scores) / len(scores)


def event_order(lines: Sequence[str], same: Mapping[tuple[int, int], bool], events: int) -> tuple[float | None, float]:
    """Return Kendall's τ-b of the order, scaled to [0, 1], and the F1 of the events.

    Each line takes the first event that it is about and that no line before it took. Lines without an event, also blank
    ones, are false positives. In both orders, what is absent shares one last rank. ``lines``: all lines of the answer.
    ``same``: whether a line is about an event, by their places from 0; absent pairs are not. ``events``: number of
    events, in the right order.
    Returns: τ is ``None`` if an order has only one rank.
    """
    taken: list[int | str] = []
    for place, line in enumerate(lines):
        free = (event for event in range(events) if same.get((place, event)) and event not in taken)
        taken.append(next(free, line))
    right: list[int | str] = list(range(events))
    found = len(set(right) & set(taken))
    false = sum(each not in right for each in taken)
    precision, recall = found / (found + false), found / events
    union = list(dict.fromkeys(right + taken))
    ranks = [{each: rank for rank, each in enumerate(order, 1)} for order in (right, taken)]
    tau = kendall_tau(*([of.get(each, len(union) + 1) for each in union] for of in ranks))
    f1 = 2 * precision * recall / (precision + recall) if found else 0.0
    return None if tau is None else (tau + 1) / 2, f1


def scales(
    scores: Sequence[float], order: tuple[float | None, float] | None, whole: bool | None
) -> dict[str, float | None]:
    """Return the metrics of an item, one per scale.

    ``scores``: 0, ½ or 1 per sentence. ``order``: τ and F1 of event ordering; ``None`` for other abilities. ``whole``:
    whether the whole answer is right; ``None`` if the judge does not say.
    """
    yes_no = None if whole is None else float(whole)
    if order is None:
        return {"official": cut(scores), "order_times_events": mean(scores), "yes_no": yes_no}
    tau, f1 = order
    product = None if tau is None else tau * f1
    return {"official": tau, "order_times_events": product, "yes_no": yes_no, "tau": tau, "tau_times_f1": product}
