"""The overall index of systems over a suite of benchmarks, from the board."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from memeval.grading.scoring import counting
from memeval.leaderboard.board import Board
from memeval.leaderboard.marks import is_general_control
from memeval.leaderboard.ranking import baseline_word, tied_apart
from memeval.leaderboard.samples import TrackSamples, read_samples
from memeval.leaderboard.scales import NO_MEMORY_SYSTEM, ORACLE_SYSTEM, IndexScale, System, scale_of, table_scale
from memeval.records.errors import BadInput
from memeval.records.overall import BenchmarkSuite, JudgeRank, Overall, OverallRow, Stability, TiedPair
from memeval.records.run import ContextSource
from memeval.records.track import differing_parts
from memeval.statistics.flips import Array
from memeval.statistics.overall import (
    SEED,
    WEIGHTINGS,
    ClusterScores,
    Lead,
    drawn_weightings,
    half_widths,
    index_tests,
    lead_of,
    leave_one_out,
    ranks_by,
    weighted_mean,
)
from memeval.statistics.ranks import ALPHA, rank_ranges

JUDGE_PARTS = frozenset({"judge", "judge_endpoint", "judge_label", "prompts"})


def overall(board: Board, suite: BenchmarkSuite) -> Overall:
    """Return the overall index of every system on a suite.

    Only systems with a ranked run on every benchmark of the suite have an index; a missing run never counts as 0. If
    several stored tracks fit a benchmark of the suite, the one with a scale, then with the most ranked runs, then with
    the latest run counts. Raises BadInput: a run has grades of other items than its track.
    """
    scales = [scale_of(board, each) for each in suite.benchmarks]
    weights = np.array([each.weight for each in suite.benchmarks])
    rows = [_row(scales, system) for system in _systems(scales)]
    able = all(scale.shown.reason is None for scale in scales)
    complete = [row for row in rows if able and row.complete == len(scales)]
    shares = np.array([row.shares for row in complete], dtype=np.float64).reshape(len(complete), len(scales))
    complete = [
        row.model_copy(update={"index": float(index)})
        for row, index in zip(complete, weighted_mean(shares, weights), strict=True)
    ]
    complete.sort(key=lambda row: (row.is_control, -(row.index or 0.0), row.system))
    samples = _samples(scales, complete)
    scores = [cluster_scores(each) for each in samples]
    clusters = [len(each.clusters) for each in samples] or [0] * len(scales)
    reason = _no_intervals(scales, scores)
    if complete and reason is None:
        halves = half_widths(_deviations(scales, scores, complete, weights / weights.sum())).tolist()
        complete = [
            row.model_copy(update={"low": (row.index or 0.0) - half, "high": (row.index or 0.0) + half})
            for row, half in zip(complete, halves, strict=True)
        ]
    baseline = _baseline(scales, complete)
    complete, tied = _tested(scales, samples, complete, weights, baseline)
    placed = _placed(complete, weights, _other_judges(board, scales))
    done = {(row.system, row.is_control) for row in placed}
    rest = [row for row in rows if (row.system, row.is_control) not in done and not row.is_control]
    return Overall(
        suite=suite,
        tracks=tuple(
            scale.shown.model_copy(update={"clusters": number}) for scale, number in zip(scales, clusters, strict=True)
        ),
        rows=(
            *sorted(placed, key=lambda row: (-(row.index or 0.0), row.system)),
            *(_unplaced(row, scales) for row in rest),
        ),
        baseline=complete[baseline].system if baseline is not None else None,
        floors=tuple(scale.floor.run.run_id if scale.floor else None for scale in scales),
        ceilings=tuple(scale.oracle.run.run_id if scale.oracle else None for scale in scales),
        tied_apart=tied,
        interval_reason=reason,
        weightings=WEIGHTINGS,
        seed=SEED,
    )


def lead(table: Overall, first: str, second: str) -> Lead:
    """Return the share of all weightings of the benchmarks under which one system has a higher index than another.

    Raises BadInput: a system has no index, or both are the same.
    """
    if first == second:
        raise BadInput(f"{first} is named twice.", remedy="Name two systems.")
    found = {row.system: row for row in reversed(table.rows) if row.index is not None}
    shares = []
    for slug in (first, second):
        if slug not in found:
            row = next((row for row in table.rows if row.system == slug), None)
            problem = f"{slug} has no index on {table.suite.id}" if row else f"{table.suite.id} has no system '{slug}'"
            why = f": {row.reason}" if row and row.reason else "."
            known = ", ".join(sorted(found)) or "none yet"
            raise BadInput(f"{problem}{why}", remedy=f"Systems with an index: {known}.")
        shares.append(np.array(found[slug].shares, dtype=np.float64))
    return lead_of(shares[0], shares[1], drawn_weightings(len(table.suite.benchmarks)))


def _systems(scales: Iterable[IndexScale]) -> list[System]:
    found = {system for scale in scales for system in (*scale.rows, *scale.others)}
    return sorted(found - {NO_MEMORY_SYSTEM, ORACLE_SYSTEM})


def _row(scales: Sequence[IndexScale], system: System) -> OverallRow:
    runs = [scale.rows.get(system) for scale in scales]
    scores = [row.score if row else None for row in runs]
    any_run = next(row for scale in scales for row in (scale.rows.get(system), scale.others.get(system)) if row)
    return OverallRow(
        system=system[0],
        name=any_run.run.system.name,
        is_control=system[1],
        versions=tuple(sorted({row.run.system.version for row in runs if row})),
        runs=tuple(row.run.run_id if row else None for row in runs),
        scores=tuple(scores),
        shares=tuple(scale.share(score) for scale, score in zip(scales, scores, strict=True)),
        complete=sum(row is not None for row in runs),
    )


def _unplaced(row: OverallRow, scales: Sequence[IndexScale]) -> OverallRow:
    missing = []
    for scale, run in zip(scales, row.runs, strict=True):
        other = scale.others.get((row.system, row.is_control))
        if run is None:
            why = f" ({other.standing.value})" if other else ""
            missing.append(f"{scale.shown.chosen.benchmark}{why}")
    if missing:
        return row.model_copy(update={"reason": f"No ranked run on {', '.join(missing)}."})
    bare = [scale.shown for scale in scales if scale.shown.reason is not None]
    return row.model_copy(update={"reason": f"{bare[0].chosen.benchmark} has no scale. {bare[0].reason}"})


def _samples(scales: Sequence[IndexScale], rows: Sequence[OverallRow]) -> list[TrackSamples]:
    if not rows:
        return []
    return [
        read_samples(
            [scale.rows[row.system, row.is_control].folder for row in rows]
            + [end.folder for end in (scale.floor, scale.oracle) if end is not None]
        )
        for scale in scales
    ]


def _no_intervals(scales: Sequence[IndexScale], scores: Sequence[ClusterScores]) -> str | None:
    """Return why there are no intervals, as a sentence; ``None`` if there are, or if no system has an index."""
    names = (scale.shown.chosen.benchmark for scale, each in zip(scales, scores, strict=False) if not each.can_vary)
    return next((f"{name} has too few independent groups of items." for name in names), None)


def _deviations(
    scales: Sequence[IndexScale], scores: Sequence[ClusterScores], rows: Sequence[OverallRow], weights: Array
) -> list[Array]:
    """Return the deviations of the rows' shares of the gap on each benchmark, times its weight.

    The share is ``s = (θ - f) / (c - f)``, so its deviation is ``(z_θ - s z_c - (1 - s) z_f) / (c - f)``.
    """
    found = []
    for place, (scale, each, weight) in enumerate(zip(scales, scores, weights.tolist(), strict=True)):
        shares = np.array([row.shares[place] for row in rows], dtype=np.float64)[:, None]
        deviations = each.deviations()
        ceiling = deviations[-1] if scale.oracle is not None else 0.0
        gap = (scale.shown.ceiling or 0.0) - (scale.shown.floor or 0.0)
        ours = deviations[: len(rows)] - shares * ceiling - (1 - shares) * deviations[len(rows)]
        found.append(weight / gap * ours)
    return found


def _baseline(scales: Sequence[IndexScale], rows: Sequence[OverallRow]) -> int | None:
    for place, row in enumerate(rows):
        runs = [scale.rows[row.system, True].run for scale in scales] if row.is_control else []
        if runs and all(
            is_general_control(run) and run.context_source not in (ContextSource.FULL_CONTEXT, ContextSource.ORACLE)
            for run in runs
        ):
            return place
    return None


def _tested(
    scales: Sequence[IndexScale],
    samples: Sequence[TrackSamples],
    rows: Sequence[OverallRow],
    weights: Array,
    baseline: int | None,
) -> tuple[list[OverallRow], tuple[TiedPair, ...]]:
    """Return the rows with their rank ranges and comparison with the baseline, and ties whose intervals are apart.

    Floors and ceilings count as fixed.

    Args:
        samples: the scores of the rows on each benchmark.
        rows: the systems, the highest index first, then the controls.
        weights: shape (benchmarks,).
        baseline: place of the baseline among the rows.
    """
    ranked = sum(not row.is_control for row in rows)
    if not ranked or any(scale.shown.reason for scale in scales):
        return list(rows), ()
    members = [*range(ranked), *([baseline] if baseline is not None else [])]
    parts, names = [], []
    for scale, each, weight in zip(scales, samples, (weights / weights.sum()).tolist(), strict=True):
        factor = weight / ((scale.shown.ceiling or 0.0) - (scale.shown.floor or 0.0))
        parts.append(cluster_scores(each, members, factor))
        names += [f"{scale.shown.chosen.benchmark}/{name}" for name in each.clusters]
    first, second = np.triu_indices(len(members), 1)
    tested = index_tests(parts, tuple(names), first, second)
    index = np.array([row.index for row in rows], dtype=np.float64)
    among = second < ranked
    ranges = rank_ranges(index[:ranked], first[among], second[among], tested.corrected[among])
    ahead: list[list[str]] = [[] for _row in range(ranked)]
    for one, two, p in zip(first[among], second[among], tested.corrected[among], strict=True):
        if p < ALPHA and index[one] != index[two]:
            better, worse = (one, two) if index[one] > index[two] else (two, one)
            ahead[worse].append(rows[better].system)
    found = [
        row.model_copy(update={"ranks": (ranks.best, ranks.worst), "behind": tuple(behind)})
        for row, ranks, behind in zip(rows, ranges, ahead, strict=False)
    ]
    if baseline is not None:
        against = zip(found, index, tested.corrected[~among], strict=False)
        words = [baseline_word(float(value - index[baseline]), bool(p < ALPHA)) for _row, value, p in against]
        found = [row.model_copy(update={"against_baseline": word}) for row, word in zip(found, words, strict=True)]
    ends = [(row.low, row.high) for row in found]
    tied = tied_apart([row.system for row in found], ends, first, second, tested)
    return [*found, *rows[ranked:]], tied


def cluster_scores(
    samples: TrackSamples, runs: Sequence[int] | slice = slice(None), factor: float = 1.0
) -> ClusterScores:
    """Return the scores of some runs in the categories that count, by cluster, times a factor."""
    places = [samples.plan.index(category) for category in counting(samples.plan)]
    size = len(samples.clusters)
    cells = samples.category * size + samples.cluster
    shape = (len(samples.plan), size)
    scores = samples.scores[runs]
    points = np.array([np.bincount(cells, row, shape[0] * size).reshape(shape)[places] for row in scores])
    items = np.bincount(cells, minlength=shape[0] * size).reshape(shape)[places]
    totals = items.sum(axis=1, keepdims=True)
    weights = factor * np.array(samples.layout.weights)[:, None] / totals
    return ClusterScores(items / totals, points * weights)


@dataclass(frozen=True)
class _OtherJudge:
    place: int
    judge: str
    scale: IndexScale


def _other_judges(board: Board, scales: Sequence[IndexScale]) -> list[_OtherJudge]:
    tables = {table.track.id: table for table in board.tables}
    found = []
    for place, scale in enumerate(scales):
        ours = tables.get(scale.shown.track_id or "")
        for table in board.tables:
            if ours is None or table.track.judge == ours.track.judge:
                continue
            if JUDGE_PARTS.issuperset(differing_parts(ours.track, table.track)):
                other = table_scale(table, scale.shown.chosen)
                if other.shown.reason is None:
                    found.append(_OtherJudge(place, table.track.judge, other))
    return found


def _placed(rows: Sequence[OverallRow], weights: Array, judges: Sequence[_OtherJudge]) -> list[OverallRow]:
    systems = [row for row in rows if not row.is_control]
    controls = [row for row in rows if row.is_control]
    if not systems:
        return controls
    shares = np.array([row.shares for row in systems], dtype=np.float64)
    ranks = ranks_by(weighted_mean(shares, weights))
    stable = _stabilities(shares, weights)
    by_judge = _judge_ranks(systems, shares, weights, judges)
    return controls + [
        row.model_copy(update={"rank": int(rank), "stability": each.model_copy(update={"judges": graded})})
        for row, rank, each, graded in zip(systems, ranks, stable, by_judge, strict=True)
    ]


def _stabilities(shares: Array, weights: Array) -> list[Stability]:
    """Return the ranks of systems over drawn weightings, and without each benchmark.

    ``shares``: shape (systems, benchmarks). ``weights``: shape (benchmarks,).
    """
    several = len(weights) > 1
    weightings = drawn_weightings(len(weights))
    over = ranks_by(weighted_mean(shares, weightings).T)
    low, high = np.quantile(over, (0.05, 0.95), axis=0, method="inverted_cdf")
    without = leave_one_out(shares, weights) if several else np.empty((0, len(shares)))
    return [
        Stability(
            best=int(ranks.min()),
            worst=int(ranks.max()),
            middle=(int(low[place]), int(high[place])),
            first=float(np.mean(ranks == 1)),
            without=tuple(int(rank) for rank in without[:, place]),
        )
        for place, ranks in enumerate(over.T)
    ]


def _judge_ranks(
    systems: Sequence[OverallRow], shares: Array, weights: Array, judges: Sequence[_OtherJudge]
) -> list[tuple[JudgeRank, ...]]:
    found: list[tuple[JudgeRank, ...]] = [() for _ in systems]
    for other in judges:
        runs = [other.scale.rows.get((row.system, False)) for row in systems]
        values = [other.scale.share(run.run.scores.composite.value) if run else None for run in runs]
        if None in values:
            continue
        changed = shares.copy()
        changed[:, other.place] = np.array(values, dtype=np.float64)
        benchmark = other.scale.shown.chosen.benchmark
        for place, rank in enumerate(ranks_by(weighted_mean(changed, weights))):
            found[place] += (JudgeRank(benchmark=benchmark, judge=other.judge, rank=int(rank)),)
    return found
