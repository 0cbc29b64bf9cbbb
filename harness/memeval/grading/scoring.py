"""From grades to scores: a pure function of the plan and the rows, so that anyone can compute it again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from memeval.grading.layout import counting, layout_of
from memeval.records.grade import Flag, FlagCount, Grade, GradeState
from memeval.records.imported import ClaimMetric
from memeval.records.scores import CategoryScore, Composite, Interval, Scores, SliceScore, Tally
from memeval.records.track import CategoryPlan
from memeval.statistics import composite_interval, wilson

SKIPPED = "skipped"
"""The state of a planned item without a grade; computed, never written on a row."""

Worth = Callable[[Grade], float | None]
"""What an item is worth, in [0, 1]: 1 or 0 where a grader rules; ``None`` where it is an error, which counts as 0."""

_JUDGE_FAILED = frozenset({GradeState.UNPARSED, GradeState.JUDGE_ERROR})


def score(plan: Sequence[CategoryPlan], grades: Sequence[Grade]) -> Scores:
    """Return the scores of a run.

    The denominator is the plan's: an item that is missing, failed or blank counts as wrong. The composite is
    ``Σ weight · correct / planned`` and absent, with a reason, where a category has no items or lacks a grade.
    Slices count the items that have a grade, since a plan does not say which slice a skipped one belongs to. The
    order of the grades does not matter.

    Args:
        plan: the categories in the benchmark's order, with their planned items.
        grades: one grade an item.

    Raises:
        ValueError: an item has two grades, is in no planned category, or a category has more items than planned.
    """
    by_category = _sorted_out(plan, grades)
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


def headline(grade: Grade) -> float | None:
    """Return what an item is worth: its credit, or 1 where it came back right; ``None`` for an error."""
    if grade.state.is_error:
        return None
    return float(grade.verdict is True) if grade.credit is None else grade.credit


def alternate(name: str) -> Worth:
    """Return what items are worth under another declared rule; one that knows no such rule keeps its headline worth.

    Another reading of a judge's reply may find a verdict where the headline finds none. It does not mend what the
    system failed to answer.
    """

    def worth(grade: Grade) -> float | None:
        if name not in grade.alternates or (grade.state.is_error and grade.state not in _JUDGE_FAILED):
            return headline(grade)
        return float(grade.alternates[name] or 0.0)

    return worth


def counts(grade: Grade, name: str) -> bool:
    """Return whether another declared rule counts an item at all."""
    return grade.alternates.get(name, True) is not None


def tally(planned: int, grades: Iterable[Grade], worth: Worth) -> Tally:
    """Return the counts of a set of items, and the shares that follow.

    Where a grader measures, the interval is Wilson's of the mean credit: a credit in [0, 1] varies no more than a coin
    of that mean, so the interval is never too narrow on that account.

    Args:
        planned: the denominator.
        grades: the grades there are.
        worth: what an item is worth.
    """
    grades = list(grades)
    earned = [worth(grade) for grade in grades]
    given = [value for value in earned if value is not None]
    points = math.fsum(given)
    measured = any(grade.credit is not None for grade in grades)
    return Tally(
        planned=planned,
        done=len(grades),
        correct=sum(value == 1.0 for value in given),
        points=points if measured else None,
        errors=len(earned) - len(given),
        accuracy=points / planned if planned else None,
        interval=_interval(*wilson(points, planned)) if planned else None,
        graded_accuracy=points / len(given) if given else None,
    )


def task_average(scores: Scores) -> float | None:
    """Return the unweighted mean over the categories that count; ``None`` where one of them has no score."""
    shares = [category.tally.accuracy for category in scores.categories if category.weight]
    known = [share for share in shares if share is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(shares) else None


def matching(scores: Scores, metric: ClaimMetric) -> float | None:
    """Return a run's own value of the metric that a claim names; ``None`` where it has none.

    Categories without weight count in neither metric.
    """
    if metric is ClaimMetric.COMPOSITE:
        return scores.composite.value
    tallies = [category.tally for category in scores.categories if category.weight]
    planned = sum(each.planned for each in tallies)
    points = math.fsum(each.correct if each.points is None else each.points for each in tallies)
    return points / planned if planned else None


def _sorted_out(plan: Sequence[CategoryPlan], grades: Sequence[Grade]) -> dict[str, list[Grade]]:
    """Return the grades by category, by item id, and refuse what the plan does not know."""
    by_category: dict[str, list[Grade]] = {category.name: [] for category in plan}
    seen: set[str] = set()
    for grade in sorted(grades, key=lambda grade: grade.item_id):
        if grade.item_id in seen:
            raise ValueError(f"{grade.item_id} has two grades")
        if grade.category not in by_category:
            raise ValueError(f"{grade.item_id} is in the category {grade.category!r}, which is not planned")
        seen.add(grade.item_id)
        by_category[grade.category].append(grade)
    for category in plan:
        if len(by_category[category.name]) > category.items:
            raise ValueError(
                f"{category.name} has {len(by_category[category.name])} grades for {category.items} planned items"
            )
    return by_category


def _alternate_composite(plan: Sequence[CategoryPlan], by_category: dict[str, list[Grade]], name: str) -> Composite:
    """Return the composite under another rule, which may leave items out of the count."""
    kept = {category: [grade for grade in grades if counts(grade, name)] for category, grades in by_category.items()}
    left = {c.name: c.items - len(by_category[c.name]) + len(kept[c.name]) for c in plan}
    sharing = sum(left[c.name] for c in plan if c.shared)
    smaller = [
        c.model_copy(
            update={"items": left[c.name], "weight": left[c.name] / sharing if c.shared and sharing else c.weight}
        )
        for c in plan
        if left[c.name] or not c.shared
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
    found = composite_interval(layout, [[worth(grade) or 0.0 for grade in by_category[c.name]] for c in plan])
    return Composite(
        value=_clamped(found.value),
        interval=None if found.low is None or found.high is None else _interval(found.low, found.high),
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
        metrics=_means(grades),
    )


def _alternate_tally(category: CategoryPlan, grades: list[Grade], name: str) -> Tally:
    kept = [grade for grade in grades if counts(grade, name)]
    return tally(category.items - len(grades) + len(kept), kept, alternate(name))


def _means(grades: list[Grade]) -> dict[str, float | None]:
    """Return the mean of each metric over the items that have it; ``None`` where it is defined for none."""
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
