"""The overall index of systems over a suite of benchmarks, from the board."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from memeval.grading.scoring import counting
from memeval.leaderboard.board import Board
from memeval.leaderboard.index_tests import IndexPart, baseline_word, index_tests
from memeval.leaderboard.marks import is_general_control
from memeval.leaderboard.samples import TrackSamples, read_samples
from memeval.leaderboard.scales import NO_MEMORY_SYSTEM, ORACLE_SYSTEM, IndexScale, System, scale_of, table_scale
from memeval.records.errors import BadInput
from memeval.records.overall import (
    BenchmarkSuite,
    JudgeRank,
    Overall,
    OverallRow,
    Stability,
)
from memeval.records.run import ContextSource
from memeval.records.track import differing_parts
from memeval.statistics.flips import Array
from memeval.statistics.overall import (
    DRAWS,
    SEED,
    WEIGHTINGS,
    ClusterScores,
    Lead,
    drawn_weightings,
    gap_share,
    lead_of,
    leave_one_out,
    percentile_interval,
    ranks_by,
    resampled_composites,
    weighted_mean,
)
from memeval.statistics.ranks import ALPHA

JUDGE_PARTS = frozenset({"judge", "judge_endpoint", "judge_label", "prompts"})
"""Parts of a track in which it may differ if only the judge is another one."""


def overall(board: Board, suite: BenchmarkSuite) -> Overall:
    """Return the overall index of every system on a suite.

    Only systems with a ranked run on every benchmark of the suite have an index; a missing run never counts as 0. If
    several stored tracks fit a benchmark of the suite, the one with a scale, then with the most ranked runs, then with
    the latest run counts.

    Raises BadInput: a run has grades of other items than its track.
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
    clusters = [len(each.clusters) for each in samples] or [0] * len(scales)
    spans, reason = _intervals(scales, samples, complete, weights)
    complete = [
        row.model_copy(update={"low": low, "high": high}) for row, (low, high) in zip(complete, spans, strict=True)
    ]
    baseline = _baseline(scales, complete)
    complete = _tested(scales, samples, complete, weights, baseline)
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
        interval_reason=reason,
        draws=DRAWS,
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
    scores = [row.run.scores.composite.value if row else None for row in runs]
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


Spans = list[tuple[float | None, float | None]]


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


def _intervals(
    scales: Sequence[IndexScale], samples: Sequence[TrackSamples], rows: Sequence[OverallRow], weights: Array
) -> tuple[Spans, str | None]:
    none: Spans = [(None, None)] * len(rows)
    if not rows:
        return none, None
    drawn, reason = [], None
    for scale, each in zip(scales, samples, strict=True):
        composites = resampled_composites(cluster_scores(each), scale.shown.chosen.benchmark)
        if composites is None:
            reason = f"{scale.shown.chosen.benchmark} has too few independent groups of items."
            continue
        ceiling = composites[:, [-1]] if scale.oracle is not None else 1.0
        drawn.append(gap_share(composites[:, : len(rows)], composites[:, [len(rows)]], ceiling))
    if reason is not None:
        return none, reason
    found = percentile_interval(weighted_mean(np.stack(drawn, axis=-1), weights))
    if found is None:
        return none, "In some resamples, the oracle baseline is not above the no-memory baseline."
    return [(float(low), float(high)) for low, high in zip(*found, strict=True)], None


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
) -> list[OverallRow]:
    """Return the rows with their rank ranges and their comparison with the baseline."""
    ranked = sum(not row.is_control for row in rows)
    if not ranked:
        return list(rows)
    parts = []
    for scale, each, weight in zip(scales, samples, weights / weights.sum(), strict=True):
        floor, ceiling = scale.shown.floor, scale.shown.ceiling
        if floor is None or ceiling is None:
            return list(rows)
        parts.append(IndexPart(scale.shown.chosen.benchmark, each, float(weight) / (ceiling - floor)))
    tests = index_tests(parts, ranked, len(rows), baseline)
    base = rows[baseline].index if baseline is not None else None
    found = []
    for row, ranks, p in zip(rows, tests.ranks, tests.against, strict=False):
        word = None if p is None or base is None or row.index is None else baseline_word(row.index - base, p < ALPHA)
        found.append(row.model_copy(update={"ranks": (ranks.best, ranks.worst), "against_baseline": word}))
    return [*found, *rows[ranked:]]


def cluster_scores(samples: TrackSamples) -> ClusterScores:
    places = [samples.plan.index(category) for category in counting(samples.plan)]
    size = len(samples.clusters)
    cells = samples.category * size + samples.cluster
    shape = (len(samples.plan), size)
    points = np.array([np.bincount(cells, row, shape[0] * size).reshape(shape)[places] for row in samples.scores])
    items = np.bincount(cells, minlength=shape[0] * size).reshape(shape)[places]
    return ClusterScores(np.array(samples.layout.weights), items.astype(np.float64), points)


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

    Args:
        shares: shape (systems, benchmarks).
        weights: shape (benchmarks,).
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
