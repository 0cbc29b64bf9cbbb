"""The figures of a regraded file: a pure function of its rows, so that anyone can count them again."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from memeval.records.regraded import (
    CategoryFigures,
    PartialSum,
    RegradedFigures,
    RegradedRow,
    RowCounts,
    TwoWay,
    VerdictShare,
)
from memeval.records.scores import Interval
from memeval.statistics.composite import Layout, composite_interval
from memeval.statistics.intervals import wilson

Verdict = Callable[[RegradedRow], bool | None]

DECIMALS = 9
"""Decimals of stored means."""


def figures_of(rows: Sequence[RegradedRow], counts: RowCounts) -> RegradedFigures:
    others = counts.unmatched_verdicts
    judges = sorted({name for row in rows for name in row.verdicts})
    recounts = {name: found for name in judges if (found := _recount(rows, _of(name)))}
    rules = _recount(rows, lambda row: row.verdict)
    by_category: dict[str, list[RegradedRow]] = {}
    for row in rows:
        by_category.setdefault(row.category, []).append(row)
    shares = [each.share for each in recounts.values()]
    recalls = [row.recall for row in rows if row.recall is not None]
    return RegradedFigures(
        judges=recounts,
        judges_of_all={
            name: round((each.right + others[name].total) / (each.rows + others[name].rows), DECIMALS)
            for name, each in recounts.items()
            if name in others
        },
        mean_of_judges=round(math.fsum(shares) / len(shares), DECIMALS) if len(shares) > 1 else None,
        rules=rules,
        majority=_recount(rows, majority) if len(recounts) > 2 else None,
        agreement={name: _two_way(rows, _of(name)) for name in recounts} if rules else {},
        majority_agreement=_two_way(rows, majority) if rules and len(recounts) > 2 else None,
        split_votes=sum(len({*row.verdicts.values()} - {None}) > 1 for row in rows) if len(shares) > 1 else None,
        metrics=_means(row.metrics for row in rows),
        scores=_means(row.scores for row in rows),
        scores_of_all={
            name: _mean_of_all([row.scores[name] for row in rows if name in row.scores], others)
            for name, others in counts.unmatched_scores.items()
        },
        recall=_mean(recalls),
        recall_rows=len(recalls),
        recall_of_all=_mean_of_all(recalls, counts.unmatched_recall) if recalls else None,
        categories=tuple(_category(name, each) for name, each in sorted(by_category.items())),
        seconds=_mean(row.seconds for row in rows),
        prompt_tokens=_mean(row.prompt_tokens for row in rows),
        cost_usd=_sum(row.cost_usd for row in rows),
    )


def _of(judge: str) -> Verdict:
    return lambda row: row.verdicts.get(judge)


def _recount(rows: Sequence[RegradedRow], verdict: Verdict) -> VerdictShare | None:
    """Count right rows. An unreadable verdict is left out; ``None`` if there is no verdict."""
    judged = [(row.cluster, float(found)) for row in rows if (found := verdict(row)) is not None]
    if not judged:
        return None
    right = sum(value for _cluster, value in judged)
    layout = Layout(weights=(1.0,), clusters=(tuple(cluster for cluster, _value in judged),))
    estimate = composite_interval(layout, [[value for _cluster, value in judged]])
    low, high = wilson(right, len(judged))
    if estimate.low is not None and estimate.high is not None:
        low, high = estimate.low, estimate.high
    return VerdictShare(
        right=int(right),
        rows=len(judged),
        share=round(right / len(judged), DECIMALS),
        interval=Interval(low=round(max(low, 0.0), DECIMALS), high=round(min(high, 1.0), DECIMALS)),
    )


def majority(row: RegradedRow) -> bool | None:
    """Return the verdict of most judges of a row; ``None`` without one or at a tie."""
    votes = [verdict for verdict in row.verdicts.values() if verdict is not None]
    right = sum(votes)
    return None if 2 * right == len(votes) else 2 * right > len(votes)


def _two_way(rows: Iterable[RegradedRow], verdict: Verdict) -> TwoWay:
    pairs = [(found, row.verdict) for row in rows if (found := verdict(row)) is not None and row.verdict is not None]
    return TwoWay(
        both_right=pairs.count((True, True)),
        judge_only=pairs.count((True, False)),
        rules_only=pairs.count((False, True)),
        both_wrong=pairs.count((False, False)),
    )


def _category(name: str, rows: Sequence[RegradedRow]) -> CategoryFigures:
    judges = sorted({judge for row in rows for judge in row.verdicts})
    return CategoryFigures(
        name=name,
        rows=len(rows),
        judges={
            judge: share
            for judge in judges
            if (share := _mean(_credit(row.verdicts.get(judge)) for row in rows)) is not None
        },
        rules=_mean(_credit(row.verdict) for row in rows),
        metrics=_means(row.metrics for row in rows),
    )


def _mean_of_all(known: Sequence[float], others: PartialSum) -> float:
    """Return the mean over the rows with an item and the other rows."""
    return round((math.fsum(known) + others.total) / (len(known) + others.rows), DECIMALS)


def _credit(verdict: bool | None) -> float | None:
    return None if verdict is None else float(verdict)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(math.fsum(known) / len(known), DECIMALS) if known else None


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(math.fsum(known), DECIMALS) if known else None


def _means(tables: Iterable[Mapping[str, float]]) -> dict[str, float]:
    by_name: dict[str, list[float]] = {}
    for table in tables:
        for name, value in table.items():
            by_name.setdefault(name, []).append(value)
    return {name: round(math.fsum(values) / len(values), DECIMALS) for name, values in sorted(by_name.items())}
