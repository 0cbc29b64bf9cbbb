"""What the regression check compares: the values of a run and of its baseline runs, paired item by item."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum
from statistics import fmean

from memeval.analysis.comparing import COMPOSITE, metrics_of
from memeval.evaluation.run.summary import percentile
from memeval.grading.scoring import counting, layout_of
from memeval.leaderboard.measured import Items, MeasuredRun, Values
from memeval.records.benchmark import Direction, MetricInfo
from memeval.records.check import MetricGroup, Unit
from memeval.records.errors import BadInput
from memeval.records.settings import CheckThresholds, CostMetric
from memeval.records.track import CategoryPlan
from memeval.statistics.composite import Layout, composite
from memeval.statistics.intervals import chance_of_more
from memeval.statistics.paired import PairedDifference, paired_difference, paired_means

LATENCY_RUNS = 3
"""Baseline runs from which on a latency may fail the check: fewer do not show how much it varies between runs."""

P95 = 0.95

_RETRIEVAL = re.compile(r"(session_|turn_)?(hit(@5)?|precision(@5)?|ndcg(@5)?|recall@5|mrr)|hallucination")


@dataclass(frozen=True)
class PairedValue:
    """A value of a run and the mean of its baseline runs, with a test of the difference."""

    metric: str
    group: MetricGroup
    unit: Unit = Unit.SHARE
    direction: Direction = Direction.HIGHER
    current: float | None = None
    baseline: float | None = None
    paired: PairedDifference | None = None
    """Current minus baseline; ``None`` if no test is possible."""
    items: int = 0
    clusters: int = 0
    other_p: float | None = None
    """One-sided p-value of a second test; both must show a loss."""
    note: str | None = None
    only_warns: bool = False
    """Whether it never fails the check; its test is then outside the family."""
    skipped: bool = False

    @property
    def loss(self) -> Mapping[str, float]:
        """The part of each cluster in the loss, positive if worse; empty if no test is possible."""
        sign = -1 if self.direction is Direction.HIGHER else 1
        return {} if self.paired is None else {name: sign * part for name, part in self.paired.parts.items()}


@dataclass(frozen=True)
class Mix:
    """A sum of runs: of the scores of an item in each run, times weights, divided by a number."""

    weights: Sequence[float]
    divisor: float = 1.0

    def of(self, runs: Sequence[Items], names: Sequence[str]) -> list[float]:
        used = [(weight, run) for weight, run in zip(self.weights, runs, strict=True) if weight]
        return [fsum(weight * run[name].score for weight, run in used if name in run) / self.divisor for name in names]

    def has(self, runs: Sequence[Items], names: Sequence[str]) -> bool:
        return any(name in run for weight, run in zip(self.weights, runs, strict=True) if weight for name in names)


def paired_values(
    current: MeasuredRun, baselines: Sequence[MeasuredRun], thresholds: CheckThresholds
) -> Iterator[PairedValue]:
    """Yield the composite, the categories, the retrieval metrics and the costs.

    ``baselines``: at least one run of the same track with the same limit on items. ``thresholds``: names the costs that
    never fail the check. Raises ``BadInput`` if the runs have an item in different categories or clusters.
    """
    runs = [run.items for run in (current, *baselines)]
    ours, theirs = Mix([1, *[0] * len(baselines)]), Mix([0, *[1] * len(baselines)], len(baselines))
    yield from score_values(current.run.track.categories, runs, ours, theirs)
    yield from _retrieval(current, baselines)
    yield from _costs(current, baselines, thresholds)


def score_values(plan: Sequence[CategoryPlan], runs: Sequence[Items], ours: Mix, theirs: Mix) -> Iterator[PairedValue]:
    """Yield the composite and the categories of two sums of runs, over all items that any of the runs has."""
    places = _places(runs)
    by_category: dict[str, list[str]] = {category.name: [] for category in plan}
    for item, (category, _cluster) in sorted(places.items()):
        if category not in by_category:
            raise BadInput(f"{item} has a category that is not in its track.", remedy="Run memeval verify on the run.")
        by_category[category].append(item)
    clusters = {name: [places[item][1] for item in items] for name, items in by_category.items()}
    values = {name: (ours.of(runs, items), theirs.of(runs, items)) for name, items in by_category.items()}
    counted = counting(plan)
    empty = next((category.name for category in counted if not by_category[category.name]), None)
    if not counted or empty is not None:
        reason = f"The runs have no item of {empty}." if empty else "No category counts in it."
        yield PairedValue(COMPOSITE, MetricGroup.OVERALL, note=reason, skipped=True)
    else:
        layout = layout_of(plan, clusters)
        one, two = ([values[category.name][side] for category in counted] for side in (0, 1))
        yield _subject(COMPOSITE, MetricGroup.OVERALL, layout, one, two)
    for name, items in by_category.items():
        if not items:
            continue
        (new, old), has = values[name], (ours.has(runs, items), theirs.has(runs, items))
        if not all(has):
            current, baseline = (fmean(value) if there else None for value, there in zip((new, old), has, strict=True))
            yield PairedValue(name, MetricGroup.CATEGORY, current=current, baseline=baseline, items=len(items))
            continue
        yield _subject(name, MetricGroup.CATEGORY, Layout((1.0,), (tuple(clusters[name]),)), [new], [old])


def _subject(
    name: str, group: MetricGroup, layout: Layout, ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]
) -> PairedValue:
    clusters = len(layout.names)
    return PairedValue(
        name,
        group,
        current=composite(layout, ours),
        baseline=composite(layout, theirs),
        paired=paired_difference(layout, ours, theirs) if clusters > 1 else None,
        items=layout.items,
        clusters=clusters,
    )


def _places(runs: Iterable[Items]) -> Mapping[str, tuple[str, str]]:
    places: dict[str, tuple[str, str]] = {}
    for run in runs:
        for item, score in run.items():
            if places.setdefault(item, (score.category, score.cluster)) != (score.category, score.cluster):
                raise BadInput(
                    f"the runs have {item} in different categories or clusters.",
                    remedy="Run memeval verify on the runs, and restore the files.",
                )
    return places


def _retrieval(current: MeasuredRun, baselines: Sequence[MeasuredRun]) -> Iterator[PairedValue]:
    known = metrics_of(current.run.track.benchmark)
    places = _places(run.items for run in (current, *baselines))
    names = sorted({name for run in (current, *baselines) for item in run.items.values() for name in item.metrics})
    for name in names:
        if not _RETRIEVAL.fullmatch(name):
            continue
        ours, theirs = _metric(current, name), [_metric(run, name) for run in baselines]
        old = _means(theirs)
        subject = partial(PairedValue, name, MetricGroup.RETRIEVAL, direction=_direction(known.get(name), name))
        both = sorted(ours.keys() & old.keys())
        if both:
            yield _over(both, ours, old, {item: cluster for item, (_category, cluster) in places.items()}, subject)
        elif ours or old:
            yield subject(current=fmean(ours.values()) if ours else None, baseline=fmean(old.values()) if old else None)


def _direction(metric: MetricInfo | None, name: str) -> Direction:
    if metric is not None:
        return metric.direction
    return Direction.LOWER if name == "hallucination" else Direction.HIGHER


def _metric(run: MeasuredRun, name: str) -> Values:
    values = {item: score.metrics.get(name) for item, score in run.items.items()}
    return {item: value for item, value in values.items() if value is not None}


def _means(runs: Sequence[Values]) -> Values:
    names = {name for values in runs for name in values}
    return {name: fmean(values[name] for values in runs if name in values) for name in names}


def _over(
    names: Sequence[str], ours: Values, theirs: Values, clusters: Mapping[str, str], subject: Callable[..., PairedValue]
) -> PairedValue:
    first, second = [ours[name] for name in names], [theirs[name] for name in names]
    cluster = [clusters.get(name, name) for name in names]
    count = len(set(cluster))
    return subject(
        current=fmean(first),
        baseline=fmean(second),
        paired=paired_means(cluster, first, second) if count > 1 else None,
        items=len(names),
        clusters=count,
    )


def _costs(
    current: MeasuredRun, baselines: Sequence[MeasuredRun], thresholds: CheckThresholds
) -> Iterator[PairedValue]:
    for name, unit, values in (
        (CostMetric.CONTEXT_TOKENS, Unit.TOKENS, lambda run: run.context_tokens or None),
        (CostMetric.MODEL_TOKENS, Unit.TOKENS, lambda run: run.model_tokens),
        (CostMetric.DOLLARS, Unit.DOLLARS, lambda run: run.dollars),
    ):
        subject = partial(
            PairedValue,
            name.value,
            MetricGroup.COST,
            unit=unit,
            direction=Direction.LOWER,
            only_warns=name in thresholds.warn_only,
        )
        yield from _cost(name, current, baselines, values, subject)
    yield from _latency(current, baselines, thresholds)


def _cost(
    name: CostMetric,
    current: MeasuredRun,
    baselines: Sequence[MeasuredRun],
    values: Callable[[MeasuredRun], Values | None],
    subject: Callable[..., PairedValue],
) -> Iterator[PairedValue]:
    """Yield one cost. Context tokens are a mean over questions; the others a sum over scenarios per question."""
    ours, theirs = values(current), [found for run in baselines if (found := values(run)) is not None]
    if ours is None or not theirs:
        if ours is not None or theirs:
            who = "The run has no value." if ours is None else "No baseline run has a value."
            yield subject(note=who, skipped=True)
        return
    if name is CostMetric.CONTEXT_TOKENS:
        if {current.run.tokens.source} != {run.run.tokens.source for run in baselines if values(run) is not None}:
            yield subject(note="Only some of the runs report their own token counts.", skipped=True)
            return
        old = _means(theirs)
        names, scale = sorted(ours.keys() & old.keys()), 1.0
    else:
        # A scenario without a call costs nothing.
        names = sorted({name for found in (ours, *theirs) for name in found})
        ours = {name: ours.get(name, 0.0) for name in names}
        old = {name: fmean(found.get(name, 0.0) for found in theirs) for name in names}
        scale = len(names) / max(1, current.questions)
    if not names:
        yield subject(note="The runs have no question in common.", skipped=True)
        return
    yield _over(
        names,
        {name: scale * ours[name] for name in names},
        {name: scale * old[name] for name in names},
        current.clusters,
        subject,
    )


def _latency(
    current: MeasuredRun, baselines: Sequence[MeasuredRun], thresholds: CheckThresholds
) -> Iterator[PairedValue]:
    """Yield the 95th percentile of the answer latency, against baseline runs made in the same way.

    Two tests must both show a loss. The first is paired: more questions take longer than
    the baseline's percentile. The second is over runs: the value is above those of the baseline runs, since a busy
    machine slows all questions of a run.
    """
    subject = partial(
        PairedValue, CostMetric.LATENCY.value, MetricGroup.COST, unit=Unit.SECONDS, direction=Direction.LOWER
    )
    timed = [run for run in baselines if run.latency]
    if not current.latency or not timed:
        return
    alike = [run for run in timed if _machine(run) == _machine(current)]
    if not alike:
        yield subject(note="The baseline runs have another platform, concurrency or sandbox.", skipped=True)
        return
    earlier = [percentile(list(run.latency.values()), P95) for run in alike]
    base, value = fmean(earlier), percentile(list(current.latency.values()), P95)
    slow = _means([{name: float(seconds > base) for name, seconds in run.latency.items()} for run in alike])
    ours = {name: float(seconds > base) for name, seconds in current.latency.items()}
    names = sorted(ours.keys() & slow.keys())
    enough = len(alike) >= LATENCY_RUNS
    note = None if enough else f"Fewer than {LATENCY_RUNS} comparable baseline runs: latency only warns."
    if not names:
        yield subject(note="The runs have no question in common.", skipped=True)
        return
    paired = _over(names, ours, slow, current.clusters, subject)
    yield subject(
        current=value,
        baseline=base,
        items=len(names),
        clusters=paired.clusters,
        paired=paired.paired,
        other_p=chance_of_more(earlier, value) if enough and paired.paired is not None else None,
        note=note,
        only_warns=not enough or CostMetric.LATENCY in thresholds.warn_only,
    )


def _machine(run: MeasuredRun) -> tuple[str, int, str]:
    return run.run.harness.platform, run.run.timing.concurrency, run.run.isolation.value
