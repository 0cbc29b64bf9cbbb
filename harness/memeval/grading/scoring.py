"""From grades to scores: a pure function of plan and rows, so that scores are reproducible."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from memeval.records.grade import Flag, FlagCount, Grade, GradeState
from memeval.records.imported import ClaimMetric
from memeval.records.scores import CategoryScore, Composite, Interval, Scores, SliceScore, Tally
from memeval.records.track import CategoryPlan
from memeval.statistics.composite import Layout, composite_interval
from memeval.statistics.intervals import wilson


def counting(plan: Sequence[CategoryPlan]) -> tuple[CategoryPlan, ...]:
    """Return the categories that count in the composite, in plan order: those with a weight above 0."""
    return tuple(category for category in plan if category.weight)


def layout_of(plan: Sequence[CategoryPlan], clusters: Mapping[str, Sequence[str]]) -> Layout:
    """Return weights and clusters of the categories that count, in plan order.

    A category with a shared weight is weighted by its share of the given items. These can be fewer than planned: two
    runs are compared over their common items. ``clusters``: the cluster of every item, by category; categories without
    weight may be missing.
    """
    counted = counting(plan)
    shared_items = sum(len(clusters[category.name]) for category in counted if category.shared)
    return Layout(
        weights=tuple(len(clusters[c.name]) / shared_items if c.shared else c.weight for c in counted),
        clusters=tuple(tuple(clusters[c.name]) for c in counted),
    )


SKIPPED = "skipped"
"""The state of a planned item without a grade; computed, never written on a row."""

Worth = Callable[[Grade], float | None]
"""Credit of an item in [0, 1]; a verdict gives 1 or 0. ``None`` for an error, which counts as 0."""

_JUDGE_FAILED = frozenset({GradeState.UNPARSED, GradeState.JUDGE_ERROR})


def score(plan: Sequence[CategoryPlan], grades: Sequence[Grade]) -> Scores:
    """Return the scores of a run.

    The denominator is the plan's: an item that is missing, failed or blank counts as wrong. The composite is ``Σ weight
    · correct / planned``. It is absent, with a reason, if a category has no items or lacks a grade. Slices count only
    items with a grade, because a plan does not contain the slices of skipped items. The order of the grades does not
    matter. Raises ``ValueError``: an item has two grades or no planned category, or a category has more items than
    planned.
    """
    by_category = _by_category(plan, grades)
    names = sorted({name for grade in grades for name in grade.alternates})
    states = Counter(grade.state.value for grade in grades)
    planned = sum(category.items for category in plan)
    plain = [grade for grade in grades if grade.answerable and grade.state is GradeState.GRADED]
    return Scores(
        composite=_composite(plan, by_category, headline),
        alternates={name: _alternate_composite(plan, by_category, name) for name in names},
        overall=tally(planned, grades, headline),
        categories=tuple(_category(category, by_category[category.name]) for category in plan),
        slices=tuple(found for category in plan for found in _slices(category.name, by_category[category.name])),
        states={state.value: states[state.value] for state in GradeState if states[state.value]}
        | {SKIPPED: planned - len(grades)},
        false_hedge_rate=sum(Flag.HEDGED in grade.flags for grade in plain) / len(plain) if plain else None,
    )


def composite_of(plan: Sequence[CategoryPlan], grades: Sequence[Grade]) -> Composite:
    """Return the composite of a run; see :func:`score`.

    Raises ``ValueError`` if an item has two grades or no planned category, or a category has more items than planned.
    """
    return _composite(plan, _by_category(plan, grades), headline)


def headline(grade: Grade) -> float | None:
    """Return an item's credit, or its verdict as 1 or 0; ``None`` for an error."""
    if grade.state.is_error:
        return None
    return float(grade.verdict is True) if grade.credit is None else grade.credit


def alternate(name: str) -> Worth:
    """Return the credit function of another declared rule; items without that rule keep their headline credit.

    Another rule can find a verdict in a judge's reply in which the headline rule finds none. Failures of the system
    count as errors under every rule.
    """

    def worth(grade: Grade) -> float | None:
        if name not in grade.alternates or (grade.state.is_error and grade.state not in _JUDGE_FAILED):
            return headline(grade)
        return float(grade.alternates[name] or 0.0)

    return worth


def counts(grade: Grade, name: str) -> bool:
    return grade.alternates.get(name, True) is not None


def tally(planned: int, grades: Iterable[Grade], worth: Worth) -> Tally:
    """Return the counts and shares of a set of items.

    For credits, the interval is Wilson's of the mean credit. A credit in [0, 1] has at most the variance of a Bernoulli
    variable with that mean, so the interval is not too narrow.
    """
    grades = list(grades)
    earned = [worth(grade) for grade in grades]
    credits = [value for value in earned if value is not None]
    points = math.fsum(credits)
    measured = any(grade.credit is not None for grade in grades)
    return Tally(
        planned=planned,
        done=len(grades),
        correct=sum(value == 1.0 for value in credits),
        points=points if measured else None,
        errors=len(earned) - len(credits),
        accuracy=points / planned if planned else None,
        interval=_interval(*wilson(points, planned)) if planned else None,
        graded_accuracy=points / len(credits) if credits else None,
    )


def task_average(scores: Scores) -> float | None:
    """Return the unweighted mean over the categories with weight; ``None`` if one has no score."""
    shares = [category.tally.accuracy for category in scores.categories if category.weight]
    known = [share for share in shares if share is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(shares) else None


def matching(scores: Scores, metric: ClaimMetric) -> float | None:
    """Return a run's value of a claim's metric; ``None`` if it has none.

    Both metrics exclude categories without weight.
    """
    if metric is ClaimMetric.COMPOSITE:
        return scores.composite.value
    tallies = [category.tally for category in scores.categories if category.weight]
    planned = sum(each.planned for each in tallies)
    points = math.fsum(each.correct if each.points is None else each.points for each in tallies)
    return points / planned if planned else None


def _by_category(plan: Sequence[CategoryPlan], grades: Sequence[Grade]) -> dict[str, list[Grade]]:
    """Return the grades by category, sorted by item id; refuse grades that do not fit the plan."""
    by_category: dict[str, list[Grade]] = {category.name: [] for category in plan}
    item_ids: set[str] = set()
    for grade in sorted(grades, key=lambda grade: grade.item_id):
        if grade.item_id in item_ids:
            raise ValueError(f"{grade.item_id} has two grades")
        if grade.category not in by_category:
            raise ValueError(f"{grade.item_id} is in the category {grade.category!r}, which is not planned")
        item_ids.add(grade.item_id)
        by_category[grade.category].append(grade)
    for category in plan:
        if len(by_category[category.name]) > category.items:
            raise ValueError(
                f"{category.name} has {len(by_category[category.name])} grades for {category.items} planned items"
            )
    return by_category


def _alternate_composite(plan: Sequence[CategoryPlan], by_category: dict[str, list[Grade]], name: str) -> Composite:
    """Return the composite under another rule, which may exclude items."""
    kept = {category: [grade for grade in grades if counts(grade, name)] for category, grades in by_category.items()}
    counted = {c.name: c.items - len(by_category[c.name]) + len(kept[c.name]) for c in plan}
    shared_items = sum(counted[c.name] for c in plan if c.shared)
    smaller = [
        c.model_copy(
            update={
                "items": counted[c.name],
                "weight": counted[c.name] / shared_items if c.shared and shared_items else c.weight,
            }
        )
        for c in plan
        if counted[c.name] or not c.shared
    ]
    return _composite(smaller, kept, alternate(name))


def _composite(plan: Sequence[CategoryPlan], by_category: dict[str, list[Grade]], worth: Worth) -> Composite:
    plan = counting(plan)
    for category in plan:
        done = len(by_category[category.name])
        if category.items == 0:
            return _absent(f"There are no items in {category.name}.")
        if done < category.items:
            return _absent(f"{category.name} has {done} of {category.items} items.")
    if not plan:
        return _absent("There are no categories.")
    layout = layout_of(plan, {name: [grade.cluster for grade in grades] for name, grades in by_category.items()})
    estimate = composite_interval(layout, [[worth(grade) or 0.0 for grade in by_category[c.name]] for c in plan])
    return Composite(
        value=_clamped(estimate.value),
        interval=None if estimate.low is None or estimate.high is None else _interval(estimate.low, estimate.high),
    )


def _category(category: CategoryPlan, grades: list[Grade]) -> CategoryScore:
    flags = Counter(flag for grade in grades for flag in grade.flags)
    names = sorted({name for grade in grades for name in grade.alternates})
    return CategoryScore(
        name=category.name,
        weight=category.weight,
        tally=tally(category.items, grades, headline),
        flags=tuple(FlagCount(flag=flag, items=flags[flag]) for flag in Flag if flags[flag]),
        alternates={name: _alternate_tally(category, grades, name) for name in names},
        metrics=means(grades),
    )


def _alternate_tally(category: CategoryPlan, grades: list[Grade], name: str) -> Tally:
    kept = [grade for grade in grades if counts(grade, name)]
    return tally(category.items - len(grades) + len(kept), kept, alternate(name))


def means(grades: Sequence[Grade]) -> dict[str, float | None]:
    """Return the mean of each metric over the items with a value; ``None`` if no item has one."""
    names = sorted({name for grade in grades for name in grade.metrics})
    values = {name: [v for grade in grades if (v := grade.metrics.get(name)) is not None] for name in names}
    return {name: math.fsum(found) / len(found) if found else None for name, found in values.items()}


def _slices(category: str, grades: list[Grade]) -> list[SliceScore]:
    members: dict[tuple[str, str], list[Grade]] = {}
    for grade in grades:
        for name, value in grade.slices.items():
            members.setdefault((name, value), []).append(grade)
    return [
        SliceScore(category=category, slice=name, value=value, tally=tally(len(found), found, headline))
        for (name, value), found in sorted(members.items())
    ]


def _absent(reason: str) -> Composite:
    return Composite(value=None, interval=None, reason=reason)


def _interval(low: float, high: float) -> Interval:
    return Interval(low=_clamped(low), high=_clamped(high))


def _clamped(share: float) -> float:
    return min(1.0, max(0.0, share))
