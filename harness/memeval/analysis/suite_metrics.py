"""Computes the figures of a suite from rows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import floor, fsum
from typing import Any

from memeval.archive.runs import RunFolder
from memeval.grading.recall import DEPTHS
from memeval.grading.reflect import Reflected
from memeval.records.call import Call, Caller
from memeval.records.evalresult import EvalMetrics, RecallReflectGap
from memeval.records.grade import Grade
from memeval.records.response import Response

QUANTILES = (50, 95, 99)


def interpolated_percentile(values: Sequence[float], p: float) -> float | None:
    """Return a percentile with linear interpolation; ``None`` for no values.

    Position ``(n − 1) · p / 100`` in the ordered values (Astrocyte's evaluation, ``percentile``). ``p``: from 0 to 100.
    Raises ``ValueError`` if ``p`` is outside this range.
    """
    if not 0 <= p <= 100:
        raise ValueError(f"the percentile must be between 0 and 100, not {p:g}")
    if not values:
        return None
    ordered = sorted(values)
    position = (len(ordered) - 1) * p / 100
    below = floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def metrics_of_run(folder: RunFolder) -> EvalMetrics:
    """Return the figures of a stored run of a suite. Raises ``BadInput`` if its rows are missing."""
    return metrics_of_rows(list(folder.responses()), list(folder.grades()), list(folder.calls()))


def metrics_of_rows(
    responses: Sequence[Response],
    grades: Sequence[Grade],
    calls: Iterable[Call] = (),
    *,
    twins: Iterable[tuple[str, str]] = (),
    failed_retains: int | None = None,
) -> EvalMetrics:
    """Return the figures of rows.

    ``calls``: model calls; only the system's calls count. ``twins``: item ids of searches and reflections with the same
    question in the same bank. ``failed_retains``: number of texts that the system failed to retain; ``None`` if
    unknown.
    """
    last = {row.question_id: row for row in sorted(responses, key=lambda row: row.attempt)}
    rows = list(last.values())
    reflected = [grade for grade in grades if grade.grader == Reflected.name and not grade.state.is_error]
    violations = [value for grade in grades if (value := grade.metrics.get("isolation_violations")) is not None]
    covered = [value for grade in grades if (value := grade.metrics.get(f"recall@{DEPTHS[-1]}")) is not None]
    rejected = _mean(grades, "true_rejection")
    depths = {str(depth): _mean(grades, f"recall@{depth}") for depth in DEPTHS}
    figures: dict[str, Any] = {
        **_latencies(rows, {grade.item_id for grade in grades if grade.grader == Reflected.name}),
        **_spent(rows, [call for call in calls if call.caller is Caller.SYSTEM]),
    }
    return EvalMetrics(
        recall_precision=_mean(grades, "precision"),
        recall_hit_rate=_mean(grades, "hit"),
        recall_mrr=_mean(grades, "mrr"),
        recall_ndcg=_mean(grades, "ndcg"),
        reflect_accuracy=_share(grade.verdict is True for grade in reflected),
        reflect_completeness=_mean(reflected, "completeness"),
        reflect_hallucination_rate=_mean(reflected, "hallucination"),
        total_duration_seconds=_duration(rows),
        recall_coverage=_share(value == 1.0 for value in covered),
        recall_reflect_gap=_gap(twins, {grade.item_id: grade for grade in grades}),
        abstention_rate_adversarial=rejected,
        error_count_by_type=dict(Counter(row.outcome.value for row in rows if row.outcome.is_error)),
        failed_retain_count=failed_retains,
        recall_at_k=depths if covered else None,
        r_precision=_mean(grades, "r_precision"),
        true_rejection_rate=rejected,
        false_positive_hits_mean=_mean(grades, "false_positive_hits"),
        filter_leak_rate=_mean(grades, "filter_leak_rate"),
        dedup_rate=_mean(grades, "duplicate_rate"),
        isolation_violations=int(fsum(violations)) if violations else None,
        **figures,
    )


def _mean(grades: Iterable[Grade], name: str) -> float | None:
    values = [value for grade in grades if (value := grade.metrics.get(name)) is not None]
    return fsum(values) / len(values) if values else None


def _share(outcomes: Iterable[bool]) -> float | None:
    listed = list(outcomes)
    return sum(listed) / len(listed) if listed else None


def _latencies(rows: Sequence[Response], reflected: set[str]) -> dict[str, float | None]:
    """Return latency percentiles in milliseconds, by field name."""
    asked = [(row.item_id in reflected, row.timings) for row in rows if not row.outcome.is_error]
    seconds = {
        "retain": [each for row in rows for each in row.timings.retain_seconds],
        "recall": [times.search_seconds for _, times in asked if times.search_seconds is not None],
        "reflect": [times.ask_seconds for mine, times in asked if mine and times.ask_seconds is not None],
    }
    percentiles = {
        f"{name}_latency_p{p}_ms": _milliseconds(interpolated_percentile(values, p))
        for name, values in seconds.items()
        for p in QUANTILES
    }
    totals = [
        fsum(each or 0.0 for each in (times.ask_seconds, times.search_seconds, times.read_seconds))
        for _, times in asked
    ]
    return percentiles | {
        f"e2e_per_question_p{p}_ms": _milliseconds(interpolated_percentile(totals, p)) for p in QUANTILES[:2]
    }


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000


def _duration(rows: Sequence[Response]) -> float | None:
    times = [row.timings for row in rows]
    parts = [
        each
        for one in times
        for each in (one.take_in_seconds, one.settle_seconds, one.search_seconds, one.ask_seconds, one.read_seconds)
        if each is not None
    ]
    return fsum(parts) if parts else None


def _gap(twins: Iterable[tuple[str, str]], grades: Mapping[str, Grade]) -> RecallReflectGap | None:
    """Return the joint counts of search and reflection results; ``None`` without twins."""
    counted = Counter(
        ((grades[search].metrics.get("hit") or 0.0) > 0, grades[reflect].verdict is True)
        for search, reflect in twins
        if search in grades and reflect in grades
    )
    if not counted:
        return None
    return RecallReflectGap(
        both_hit=counted[True, True],
        recall_hit_reflect_miss=counted[True, False],
        recall_miss_reflect_hit=counted[False, True],
        both_miss=counted[False, False],
    )


def _spent(rows: Sequence[Response], calls: Sequence[Call]) -> dict[str, object]:
    """Return the usage of the system's own model calls: measured, else self-reported, else unknown."""
    reports = [row.usage for row in rows if row.usage is not None]
    if not calls:
        counts = [count for each in reports for count in (each.prompt_tokens, each.completion_tokens)]
        dollars = [each.cost_usd for each in reports if each.cost_usd is not None]
        known = [count for count in counts if count is not None]
        return _costs(fsum(dollars) if dollars else None, rows) | {"total_tokens_used": sum(known) if known else None}
    phases: Counter[str] = Counter()
    for call in calls:
        phases[call.phase.value] += (call.prompt_tokens or 0) + (call.completion_tokens or 0)
    priced = not any(call.is_unpriced for call in calls)
    return {
        **_costs(fsum(call.cost_usd or 0.0 for call in calls) if priced else None, rows),
        "total_tokens_used": sum(phases.values()),
        "tokens_by_phase": dict(phases),
        "api_calls_total": len(calls),
        "api_calls_by_endpoint": dict(Counter(f"{call.request.endpoint} {call.request.api.value}" for call in calls)),
        "retry_count": sum(max(0, call.tries - 1) for call in calls),
    }


def _costs(dollars: float | None, rows: Sequence[Response]) -> dict[str, object]:
    each = None if dollars is None or not rows else dollars / len(rows)
    return {"cost_total_usd": dollars, "cost_per_question_usd": each}
