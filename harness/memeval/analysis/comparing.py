"""Compares runs item by item: runs of one track, or runs with the same answers and different judges."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.grading.scoring import counting, headline, layout_of
from memeval.records.benchmark import Direction, MetricInfo
from memeval.records.comparison import ComparedRun, Comparison, Difference, Flip, PairedRuns, Sign
from memeval.records.errors import BadInput
from memeval.records.grade import Grade
from memeval.records.track import CategoryPlan, Track, differing_parts
from memeval.statistics.composite import Layout, composite
from memeval.statistics.flips import family_tests
from memeval.statistics.paired import PairedDifference, mcnemar, paired_difference, paired_means

ALPHA = 0.05
"""Significance level: a run is better or worse if the corrected p-value is below this."""

COMPOSITE = "composite"
"""Name of the headline difference."""

GRADES, RESPONSES = "grades.jsonl", "responses.jsonl"

_DEPTH = re.compile(r"@\d+$")

Matched = Sequence[tuple[Grade, Grade]]
"""Pairs of grades: the same item in two runs."""


@dataclass(frozen=True)
class MeasuredDifference:
    """A difference that is not tested yet: corrected p-values depend on the whole family."""

    difference: Difference
    """With a p-value of 1."""
    parts: Mapping[str, float]
    """The part of each cluster; their sum is the difference."""


@dataclass(frozen=True)
class _MeasuredPair:
    """The differences of a run from the first one, not tested yet."""

    pair: PairedRuns
    """Without differences."""
    overall: tuple[MeasuredDifference, ...]
    """That of the composites; empty if the runs share no item of some category."""
    categories: tuple[MeasuredDifference, ...]
    metrics: tuple[MeasuredDifference, ...]


def compare_runs(folders: Sequence[RunFolder]) -> Comparison:
    """Compare runs with the first of them, over the items that both have.

    Errors count as 0, as in the scores. Items of one cluster count as one unit (see
    :func:`memeval.statistics.flips.family_tests`). P-values are corrected in two families: the composites and
    categories of all runs, and the metrics of all runs. ``folders``: at least two runs, of one track or with the same
    responses. Raises ``BadInput`` if fewer than two runs, a run appears twice, the runs are not comparable, or the rows
    of a run are missing.
    """
    if len(folders) < 2:
        raise BadInput("comparing needs at least two runs.", remedy="Name two or more runs.")
    names = [folder.run.run_id for folder in folders]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadInput(f"run {twice} appears twice.", remedy="Name each run once.")
    first = folders[0]
    parts = {part for other in folders[1:] for part in _differing(first, other)}
    grades = [_grades(folder) for folder in folders]
    metrics = metrics_of(first.run.track.benchmark)
    pairs = [
        _pair(first.run.track, folder.run.run_id, grades[0], theirs, metrics)
        for folder, theirs in zip(folders[1:], grades[1:], strict=True)
    ]
    scores = iter(as_family([each for pair in pairs for each in (*pair.overall, *pair.categories)]))
    other = iter(as_family([each for pair in pairs for each in pair.metrics]))
    return Comparison(
        benchmark=first.run.track.benchmark,
        protocol=first.run.track.protocol,
        same_answers=bool(parts),
        differing=tuple(sorted(parts)),
        runs=tuple(_compared(folder) for folder in folders),
        pairs=tuple(
            pair.pair.model_copy(
                update={
                    "overall": next(scores) if pair.overall else None,
                    "categories": tuple(next(scores) for _each in pair.categories),
                    "metrics": tuple(next(other) for _each in pair.metrics),
                }
            )
            for pair in pairs
        ),
    )


def as_family(family: Sequence[MeasuredDifference]) -> tuple[Difference, ...]:
    """Return a family of differences with their p-values, corrected together, and the signs that follow."""
    p_values = family_tests([each.parts for each in family], [each.difference.name for each in family], main=COMPOSITE)
    return tuple(
        each.difference.model_copy(
            update={
                "p": float(p),
                "corrected": float(corrected),
                "sign": _sign(each.difference.difference, float(corrected), each.difference.direction),
            }
        )
        for each, p, corrected in zip(family, p_values.p, p_values.corrected, strict=True)
    )


def composite_difference(track: Track, first: RunFolder, second: RunFolder) -> MeasuredDifference | None:
    """Return the difference of two composites; ``None`` if the runs share no item of some category.

    Raises ``BadInput`` if the rows of a run are missing, or do not match the track.
    """
    return _composite_difference(track.categories, _by_category(track, _matched(_grades(first), _grades(second))))


def metrics_of(benchmark: str) -> Mapping[str, MetricInfo]:
    """Return the metrics of a benchmark by name; empty if this memeval does not have the benchmark."""
    try:
        return {metric.name: metric for metric in find(benchmark).info.metrics}
    except BadInput:
        return {}


def _differing(first: RunFolder, other: RunFolder) -> list[str]:
    """Return the names of the parts in which the tracks of two runs differ.

    Raises ``BadInput`` if the tracks differ, and the responses differ too.
    """
    one, two = first.run.track, other.run.track
    if first.run.track_id == other.run.track_id:
        return []
    parts = differing_parts(one, two)
    answers = [folder.run.files[RESPONSES].digest for folder in (first, other) if RESPONSES in folder.run.files]
    data = [(track.benchmark, track.data_digest) for track in (one, two)]
    if len(answers) < 2 or answers[0] != answers[1] or data[0] != data[1]:
        raise BadInput(
            f"{first.run.run_id} and {other.run.run_id} are on different tracks. Different: {', '.join(parts)}.",
            remedy="Compare runs of one track, or a run and its copy from memeval regrade.",
        )
    return parts


def _grades(folder: RunFolder) -> dict[str, Grade]:
    path = folder.file(GRADES)
    if not path.exists():
        raise BadInput(
            "the rows of this run are missing, so it cannot be compared item by item.",
            where=folder.path,
            remedy="Fetch them from the archive.",
        )
    return {grade.item_id: grade for grade in folder.grades()}


def _matched(first: Mapping[str, Grade], second: Mapping[str, Grade]) -> list[tuple[Grade, Grade]]:
    both = [(first[name], second[name]) for name in sorted(first.keys() & second.keys())]
    for one, two in both:
        if (one.category, one.cluster) != (two.category, two.cluster):
            raise BadInput(
                f"the runs have {one.item_id} in different categories or clusters.",
                remedy="Run memeval verify on both runs, and restore the files.",
            )
    return both


def _pair(
    track: Track,
    run_id: str,
    first: Mapping[str, Grade],
    second: Mapping[str, Grade],
    metrics: Mapping[str, MetricInfo],
) -> _MeasuredPair:
    matched = _matched(first, second)
    by_category = _by_category(track, matched)
    overall = _composite_difference(track.categories, by_category)
    flips = [
        Flip(item_id=one.item_id, category=one.category, first=headline(one), second=headline(two))
        for one, two in matched
        if _item_score(one) != _item_score(two)
    ]
    flips.sort(key=lambda flip: (-abs(_improvement(flip)), flip.item_id))
    empty = next((category.name for category in counting(track.categories) if not by_category[category.name]), None)
    pair = PairedRuns(
        run_id=run_id,
        items=len(matched),
        alone=len(first.keys() ^ second.keys()),
        overall=None,
        reason=None if overall else f"The runs have no item of {empty} in common.",
        categories=(),
        metrics=(),
        better=tuple(flip for flip in flips if _improvement(flip) > 0),
        worse=tuple(flip for flip in flips if _improvement(flip) < 0),
    )
    return _MeasuredPair(
        pair,
        () if overall is None else (overall,),
        tuple(_category_difference(name, pairs) for name, pairs in by_category.items() if pairs),
        tuple(_metric_differences(matched, metrics)),
    )


def _by_category(track: Track, matched: Matched) -> dict[str, Matched]:
    by_category: dict[str, list[tuple[Grade, Grade]]] = {category.name: [] for category in track.categories}
    for pair in matched:
        if pair[0].category not in by_category:
            raise BadInput(
                f"{pair[0].item_id} has a category that is not in its track.", remedy="Run memeval verify on the run."
            )
        by_category[pair[0].category].append(pair)
    return {**by_category}


def _composite_difference(
    plan: Sequence[CategoryPlan], by_category: Mapping[str, Matched]
) -> MeasuredDifference | None:
    """Return the difference of the composites with the track's weights, over the items that both runs have."""
    weighted = counting(plan)
    if not weighted or not all(by_category[category.name] for category in weighted):
        return None
    layout = layout_of(plan, {name: [one.cluster for one, _two in pairs] for name, pairs in by_category.items()})
    samples = [
        [[_item_score(pair[position]) for pair in by_category[each.name]] for each in weighted] for position in (0, 1)
    ]
    values = [composite(layout, sample) for sample in samples]
    paired = paired_difference(layout, samples[1], samples[0])
    return _difference(COMPOSITE, paired, values, [pair for each in weighted for pair in by_category[each.name]])


def _category_difference(name: str, pairs: Matched) -> MeasuredDifference:
    layout = Layout((1.0,), (tuple(one.cluster for one, _two in pairs),))
    first, second = ([_item_score(pair[position]) for pair in pairs] for position in (0, 1))
    paired = paired_difference(layout, [second], [first])
    return _difference(name, paired, [math.fsum(row) / len(row) for row in (first, second)], pairs)


def _metric_differences(matched: Matched, metrics: Mapping[str, MetricInfo]) -> list[MeasuredDifference]:
    """Return the difference of each declared metric, over the items for which both runs have it."""
    differences = []
    for name in sorted({name for pair in matched for grade in pair for name in grade.metrics}):
        metric = metrics.get(name) or metrics.get(_DEPTH.sub("@k", name))
        pairs = [
            (pair, (one, two))
            for pair in matched
            if (one := pair[0].metrics.get(name)) is not None and (two := pair[1].metrics.get(name)) is not None
        ]
        if metric is None or not pairs:
            continue
        clusters = [one.cluster for (one, _two), _scores in pairs]
        first, second = ([scores[position] for _pair, scores in pairs] for position in (0, 1))
        paired = paired_means(clusters, second, first, root=metric.root)
        means = [math.fsum(row) / len(row) for row in (first, second)]
        values = [math.sqrt(max(0.0, mean)) if metric.root else mean for mean in means]
        differences.append(_difference(name, paired, values, [pair for pair, _scores in pairs], metric.direction))
    return differences


def _difference(
    name: str, paired: PairedDifference, values: Sequence[float], pairs: Matched, direction: Direction | None = None
) -> MeasuredDifference:
    """Return a difference that is not tested yet.

    ``paired``: second minus first. ``values``: the values of the first run and of the second. ``direction``: which
    direction of a metric is better; ``None`` for item scores, which may come from verdicts.
    """
    clusters = len({one.cluster for one, _two in pairs})
    has_verdicts_only = direction is None and all(grade.credit is None for pair in pairs for grade in pair)
    record = Difference(
        name=name,
        direction=direction or Direction.HIGHER,
        items=len(pairs),
        clusters=clusters,
        first=values[0],
        second=values[1],
        difference=paired.difference,
        low=paired.low if clusters > 1 else None,
        high=paired.high if clusters > 1 else None,
        p=1.0,
        corrected=1.0,
        mcnemar=mcnemar([_item_score(one) == 1 for one, _ in pairs], [_item_score(two) == 1 for _, two in pairs])
        if has_verdicts_only
        else None,
        sign=Sign.EVEN,
    )
    return MeasuredDifference(record, paired.parts)


def _sign(difference: float, p: float, direction: Direction) -> Sign:
    if p >= ALPHA or difference == 0:
        return Sign.EVEN
    return Sign.BETTER if (difference > 0) is (direction is Direction.HIGHER) else Sign.WORSE


def _item_score(grade: Grade) -> float:
    return headline(grade) or 0.0


def _improvement(flip: Flip) -> float:
    return (flip.second or 0.0) - (flip.first or 0.0)


def _compared(folder: RunFolder) -> ComparedRun:
    run = folder.run
    return ComparedRun(
        run_id=run.run_id,
        system=run.system.slug,
        track_id=run.track_id,
        judge=run.track.judge,
        composite=run.scores.composite,
    )
