"""Comparing runs of one track item by item, and runs of several where all that differs is who judged."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.evaluation.run_folders import differing_parts
from memeval.grading.layout import counting, layout_of
from memeval.grading.scoring import headline
from memeval.records.benchmark import Direction, MetricInfo
from memeval.records.comparison import ComparedRun, Comparison, Difference, Flip, PairedRuns, Sign
from memeval.records.errors import BadInput
from memeval.records.grade import Grade
from memeval.records.track import CategoryPlan, Track
from memeval.statistics import Layout, PairedDifference, holm, mcnemar, paired_difference, paired_means

ALPHA = 0.05
"""Below this corrected p-value a run is called better or worse."""

COMPOSITE = "composite"
"""What the headline's difference is called."""

GRADES, RESPONSES = "grades.jsonl", "responses.jsonl"

_DEPTH = re.compile(r"@\d+$")

Matched = Sequence[tuple[Grade, Grade]]
"""Two runs' grades of the same items."""


def compare_runs(folders: Sequence[RunFolder]) -> Comparison:
    """Hold runs against the first of them, over the items that both have.

    Errors count as 0, as in the scores. Items of one cluster are taken together (see
    :func:`memeval.statistics.paired.paired_difference`), and p-values that are told side by side are corrected for
    their number: the composites', a run's categories', a run's metrics'.

    Args:
        folders: at least two runs, of one track or over the very same responses.

    Raises:
        BadInput: there are fewer, one stands there twice, their tracks and their responses differ, or the rows of
            one are not here.
    """
    if len(folders) < 2:
        raise BadInput("one run alone cannot be compared.", remedy="Name two or more.")
    names = [folder.run.run_id for folder in folders]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadInput(f"run {twice} is named twice.", remedy="Name each once.")
    first = folders[0]
    parts = {part for other in folders[1:] for part in _differing(first, other)}
    grades = [_grades(folder) for folder in folders]
    metrics = metrics_of(first.run.track.benchmark)
    pairs = [
        _pair(first.run.track, folder.run.run_id, grades[0], theirs, metrics)
        for folder, theirs in zip(folders[1:], grades[1:], strict=True)
    ]
    overall = corrected([pair.overall for pair in pairs if pair.overall is not None])
    told = iter(overall)
    return Comparison(
        benchmark=first.run.track.benchmark,
        protocol=first.run.track.protocol,
        same_answers=bool(parts),
        differing=tuple(sorted(parts)),
        runs=tuple(_compared(folder) for folder in folders),
        pairs=tuple(
            pair if pair.overall is None else pair.model_copy(update={"overall": next(told)}) for pair in pairs
        ),
    )


def corrected(differences: Iterable[Difference]) -> tuple[Difference, ...]:
    """Return differences that are told side by side, their p-values and signs corrected for their number."""
    listed = list(differences)
    return tuple(
        each.model_copy(update={"corrected": p, "sign": _sign(each.difference, p, each.direction)})
        for each, p in zip(listed, holm([each.p for each in listed]), strict=True)
    )


def composite_difference(track: Track, first: RunFolder, second: RunFolder) -> Difference | None:
    """Return the difference of two runs' composites; ``None`` where a category has no item that both have.

    Args:
        track: the track of both.
        first: the run that the other is held against.
        second: the other.

    Raises:
        BadInput: the rows of one are not here, or not of one track's items.
    """
    return _overall(track.categories, _by_category(track, _matched(_grades(first), _grades(second))))


def metrics_of(benchmark: str) -> Mapping[str, MetricInfo]:
    """Return what a benchmark measures, by name; nothing where this memeval knows no such benchmark."""
    try:
        return {metric.name: metric for metric in find(benchmark).info.metrics}
    except BadInput:
        return {}


def _differing(first: RunFolder, other: RunFolder) -> list[str]:
    """Return in what the tracks of two runs differ.

    Raises:
        BadInput: they differ, and so do the responses.
    """
    one, two = first.run.track, other.run.track
    if first.run.track_id == other.run.track_id:
        return []
    parts = differing_parts(one, two)
    answers = [folder.run.files[RESPONSES].digest for folder in (first, other) if RESPONSES in folder.run.files]
    grounds = [(track.benchmark, track.data_digest) for track in (one, two)]
    if len(answers) < 2 or answers[0] != answers[1] or grounds[0] != grounds[1]:
        raise BadInput(
            f"{first.run.run_id} and {other.run.run_id} are of different tracks; what differs: {', '.join(parts)}.",
            remedy="Compare runs of one track, or the same answers under two judges, as memeval rejudge makes them.",
        )
    return parts


def _grades(folder: RunFolder) -> dict[str, Grade]:
    path = folder.file(GRADES)
    if not path.exists():
        raise BadInput(
            "the rows of this run are not here, and without them it cannot be compared item by item.",
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
                remedy="Run memeval verify on them, and restore the files.",
            )
    return both


def _pair(
    track: Track,
    run_id: str,
    first: Mapping[str, Grade],
    second: Mapping[str, Grade],
    metrics: Mapping[str, MetricInfo],
) -> PairedRuns:
    matched = _matched(first, second)
    found = _by_category(track, matched)
    overall = _overall(track.categories, found)
    flips = [
        Flip(item_id=one.item_id, category=one.category, first=headline(one), second=headline(two))
        for one, two in matched
        if _worth(one) != _worth(two)
    ]
    flips.sort(key=lambda flip: (-abs(_gain(flip)), flip.item_id))
    empty = next((category.name for category in counting(track.categories) if not found[category.name]), None)
    return PairedRuns(
        run_id=run_id,
        items=len(matched),
        alone=len(first.keys() ^ second.keys()),
        overall=overall,
        reason=None if overall else f"The runs have no item of {empty} in common.",
        categories=corrected(_shares(name, pairs) for name, pairs in found.items() if pairs),
        metrics=corrected(_metrics(matched, metrics)),
        better=tuple(flip for flip in flips if _gain(flip) > 0),
        worse=tuple(flip for flip in flips if _gain(flip) < 0),
    )


def _by_category(track: Track, matched: Matched) -> dict[str, Matched]:
    found: dict[str, list[tuple[Grade, Grade]]] = {category.name: [] for category in track.categories}
    for pair in matched:
        if pair[0].category not in found:
            raise BadInput(
                f"{pair[0].item_id} is in no category of its track.", remedy="Run memeval verify on the run."
            )
        found[pair[0].category].append(pair)
    return {**found}


def _overall(plan: Sequence[CategoryPlan], found: Mapping[str, Matched]) -> Difference | None:
    """Return the difference of the composites, weighed as the track weighs them over the items that both have."""
    weighed = counting(plan)
    if not weighed or not all(found[category.name] for category in weighed):
        return None
    layout = layout_of(plan, {name: [one.cluster for one, _two in pairs] for name, pairs in found.items()})
    samples = [[[_worth(pair[place]) for pair in found[each.name]] for each in weighed] for place in (0, 1)]
    values = [
        math.fsum(weight * math.fsum(row) / len(row) for weight, row in zip(layout.weights, sample, strict=True))
        for sample in samples
    ]
    paired = paired_difference(layout, samples[1], samples[0])
    return _difference(COMPOSITE, paired, values, [pair for each in weighed for pair in found[each.name]])


def _shares(name: str, pairs: Matched) -> Difference:
    """Return the difference in one category."""
    layout = Layout((1.0,), (tuple(one.cluster for one, _two in pairs),))
    first, second = ([_worth(pair[place]) for pair in pairs] for place in (0, 1))
    paired = paired_difference(layout, [second], [first])
    return _difference(name, paired, [math.fsum(row) / len(row) for row in (first, second)], pairs)


def _metrics(matched: Matched, metrics: Mapping[str, MetricInfo]) -> list[Difference]:
    """Return the differences in each metric that the benchmark explains, over the items for which both runs have it."""
    found = []
    for name in sorted({name for pair in matched for grade in pair for name in grade.metrics}):
        metric = metrics.get(name) or metrics.get(_DEPTH.sub("@k", name))
        pairs = [
            (pair, (one, two))
            for pair in matched
            if (one := pair[0].metrics.get(name)) is not None and (two := pair[1].metrics.get(name)) is not None
        ]
        if metric is None or not pairs:
            continue
        clusters = [one.cluster for (one, _two), _values in pairs]
        first, second = ([values[place] for _pair, values in pairs] for place in (0, 1))
        paired = paired_means(clusters, second, first, root=metric.root)
        means = [math.fsum(row) / len(row) for row in (first, second)]
        told = [math.sqrt(max(0.0, mean)) if metric.root else mean for mean in means]
        found.append(_difference(name, paired, told, [pair for pair, _values in pairs], metric.direction))
    return found


def _difference(
    name: str,
    paired: PairedDifference,
    values: Sequence[float],
    pairs: Matched,
    direction: Direction | None = None,
) -> Difference:
    """Return a difference as a record; the p-value is not corrected yet.

    Args:
        name: what is compared.
        paired: second minus first.
        values: the values of the first run and of the second.
        pairs: the items.
        direction: which way a metric is better; ``None`` for what items are worth, which verdicts may have decided.
    """
    clusters = len({one.cluster for one, _two in pairs})
    ruled = direction is None and all(grade.credit is None for pair in pairs for grade in pair)
    way = direction or Direction.HIGHER
    return Difference(
        name=name,
        direction=way,
        items=len(pairs),
        clusters=clusters,
        first=values[0],
        second=values[1],
        difference=paired.difference,
        low=paired.low if clusters > 1 else None,
        high=paired.high if clusters > 1 else None,
        p=paired.p,
        corrected=paired.p,
        mcnemar=mcnemar([_worth(one) == 1 for one, _ in pairs], [_worth(two) == 1 for _, two in pairs])
        if ruled
        else None,
        sign=_sign(paired.difference, paired.p, way),
    )


def _sign(difference: float, p: float, direction: Direction) -> Sign:
    if p >= ALPHA or difference == 0:
        return Sign.EVEN
    return Sign.BETTER if (difference > 0) is (direction is Direction.HIGHER) else Sign.WORSE


def _worth(grade: Grade) -> float:
    return headline(grade) or 0.0


def _gain(flip: Flip) -> float:
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
