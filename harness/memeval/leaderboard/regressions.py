"""The regression check: a run against the mean of its baseline runs, metric by metric.

A metric is a regression if it passes a threshold, and a one-sided paired test over the same items shows a loss. All
tests of a comparison are one family, corrected together, and the level is divided between the comparisons of a check:
an unchanged system fails in at most 5 % of its checks.
"""

import math
from collections.abc import Mapping, Sequence

from memeval.analysis.comparing import COMPOSITE
from memeval.leaderboard.measured import Items, MeasuredRun
from memeval.leaderboard.paired_values import Mix, PairedValue, paired_values, score_values
from memeval.records.benchmark import Direction
from memeval.records.check import CheckedMetric, GateStatus, MetricGroup, MetricStatus, Severity
from memeval.records.settings import CheckThresholds
from memeval.records.track import CategoryPlan
from memeval.statistics.flips import PValues, family_tests

EPSILON = 1e-9
"""A loss of exactly a threshold does not pass it."""


def check_metrics(
    current: MeasuredRun, baselines: Sequence[MeasuredRun], thresholds: CheckThresholds, level: float | None = None
) -> tuple[CheckedMetric, ...]:
    values = list(paired_values(current, baselines, thresholds))
    tested = {number: each for number, each in enumerate(values) if each.loss}
    family = {number: each for number, each in tested.items() if not each.only_warns}
    p_values, corrected = _chances(tested), _corrected(family)
    level = level or thresholds.significance_percent / 100
    return tuple(
        _judged(each, p_values.get(number), corrected.get(number), thresholds, level)
        for number, each in enumerate(values)
    )


def metrics_against(
    plan: Sequence[CategoryPlan], current: Items, other: Items, thresholds: CheckThresholds, level: float
) -> tuple[CheckedMetric, ...]:
    """Compare the scores of a run with those of one other run, with the family and p-values of ``memeval compare``.

    ``level``: the two-sided corrected p-value below which a loss counts. Values without a test are left out.
    """
    values = [each for each in score_values(plan, [current, other], Mix([1, 0]), Mix([0, 1])) if each.loss]
    tested = family_tests([each.loss for each in values], [each.metric for each in values], main=COMPOSITE)
    return _tested(values, tested, thresholds, level)


def drift_metrics(
    plan: Sequence[CategoryPlan], runs: Sequence[Items], thresholds: CheckThresholds, level: float
) -> tuple[CheckedMetric, ...]:
    """Test whether scores fall over several runs, although no run is much worse than the one before.

    A straight line is fitted to the scores of every item. Its end is compared with its start, item by item, by the
    one-sided paired test: as a sum over runs, the change of a cluster is as likely up as down if nothing drifts.
    ``runs``: at least three, oldest first. ``level``: the one-sided corrected p-value below which a loss counts.
    """
    count, middle = len(runs), (len(runs) - 1) / 2
    halves = [(place - middle) * middle * 12 / (count**3 - count) for place in range(count)]
    start, end = (Mix([1 / count + sign * half for half in halves]) for sign in (-1, 1))
    values = [each for each in score_values(plan, runs, end, start) if each.loss]
    names = [each.metric for each in values]
    tested = family_tests([each.loss for each in values], names, main=COMPOSITE, one_sided=True)
    return _tested(values, tested, thresholds, level)


def _tested(
    values: Sequence[PairedValue], tested: PValues, thresholds: CheckThresholds, level: float
) -> tuple[CheckedMetric, ...]:
    pairs = zip(values, tested.p.tolist(), tested.corrected.tolist(), strict=True)
    return tuple(_judged(each, p, corrected, thresholds, level) for each, p, corrected in pairs)


def _chances(tested: Mapping[int, PairedValue]) -> dict[int, float]:
    p = family_tests(
        [each.loss for each in tested.values()], [each.metric for each in tested.values()], one_sided=True
    ).p
    return {
        number: max(float(alone), each.other_p or 0.0) for (number, each), alone in zip(tested.items(), p, strict=True)
    }


def _corrected(family: Mapping[int, PairedValue]) -> dict[int, float]:
    """Return the corrected p-values of a family of losses.

    Second tests are not of the same kind, so the level is divided: each second test gets the share of one test.
    """
    members = family.values()
    tested = family_tests(
        [each.loss for each in members], [each.metric for each in members], main=COMPOSITE, one_sided=True
    )
    tests = len(family) + sum(each.other_p is not None for each in members)
    return {
        number: min(1.0, max(float(p) * tests / len(family), (each.other_p or 0.0) * tests))
        for (number, each), p in zip(family.items(), tested.corrected, strict=True)
    }


def status_of(metrics: Sequence[CheckedMetric]) -> GateStatus:
    found = {metric.status for metric in metrics}
    if found & {MetricStatus.REGRESSION, MetricStatus.MISSING}:
        return GateStatus.REGRESSION
    if found & {MetricStatus.WITHIN_NOISE, MetricStatus.WARNING}:
        return GateStatus.WARNING
    return GateStatus.PASSED


def severity_of(loss: float, base: float, points: float | None, relative_percent: float) -> Severity | None:
    """Return how far a loss passes the thresholds; ``None`` if it passes none.

    Args:
        loss: the loss in the metric's unit, positive if worse.
        base: the baseline's value; the relative threshold does not apply to 0.
        points: largest tolerated loss in points of 100; ``None`` for relative thresholds only.
        relative_percent: largest tolerated relative loss, in percent.
    """
    relative = loss / abs(base) if base else 0.0
    tolerated = relative_percent / 100
    if relative > 2 * tolerated + EPSILON:
        return Severity.CRITICAL
    passes_points = points is not None and loss > points / 100 + EPSILON
    return Severity.WARNING if passes_points or relative > tolerated + EPSILON else None


def points_of(group: MetricGroup, thresholds: CheckThresholds) -> float | None:
    """Return the largest tolerated loss of a group, in points of 100; ``None`` for costs."""
    return {
        MetricGroup.OVERALL: thresholds.overall_points,
        MetricGroup.CATEGORY: thresholds.category_points,
        MetricGroup.RETRIEVAL: thresholds.retrieval_points,
    }.get(group)


def _judged(
    each: PairedValue, p: float | None, corrected: float | None, thresholds: CheckThresholds, level: float
) -> CheckedMetric:
    metric = CheckedMetric(
        metric=each.metric,
        group=each.group,
        unit=each.unit,
        direction=each.direction,
        current_value=each.current,
        baseline_value=each.baseline,
        items=each.items,
        clusters=each.clusters,
        p=p,
        corrected=corrected,
        status=MetricStatus.SKIPPED,
        note=each.note,
    )
    if each.current is None or each.baseline is None:
        if each.skipped:
            return metric
        status = MetricStatus.NEW if each.baseline is None else MetricStatus.MISSING
        return metric.model_copy(update={"status": status})
    delta = each.current - each.baseline
    fraction = delta / abs(each.baseline) if each.baseline else None
    measured = metric.model_copy(
        update={
            "delta": delta,
            "delta_fraction": fraction,
            "delta_percent": None if fraction is None else 100 * fraction,
        }
    )
    points = points_of(each.group, thresholds)
    if fraction is None and points is None:
        return measured.model_copy(update={"note": "The baseline is 0, so there is no relative change."})
    loss = -delta if each.direction is Direction.HIGHER else delta
    severity = severity_of(loss, each.baseline, points, thresholds.relative_percent)
    gained = severity_of(-loss, each.baseline, points, math.inf if points is not None else thresholds.relative_percent)
    note = each.note
    if severity is not None and p is None and note is None:
        note = "No test is possible, so the threshold alone decides."
    return measured.model_copy(
        update={
            "severity": severity,
            "status": _status(each, severity, corrected, loss, gained is not None, level),
            "note": note,
        }
    )


def _status(
    each: PairedValue, severity: Severity | None, corrected: float | None, loss: float, gained: bool, level: float
) -> MetricStatus:
    if severity is None:
        if gained:
            return MetricStatus.IMPROVEMENT
        return MetricStatus.MINOR_DIP if loss > EPSILON else MetricStatus.STABLE
    if each.only_warns:
        return MetricStatus.WARNING
    is_noise = corrected is not None and corrected >= level
    return MetricStatus.WITHIN_NOISE if is_noise else MetricStatus.REGRESSION
