"""All pairs of a table's runs, compared as ``memeval compare`` compares two of them, for the whole table at once."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memeval.analysis.comparing import ALPHA, COMPOSITE
from memeval.grading.scoring import counting
from memeval.leaderboard.board import BoardRow, BoardTable
from memeval.leaderboard.samples import GRADES, TrackSamples, read_samples
from memeval.records.comparison import Sign
from memeval.statistics.composite import composite
from memeval.statistics.flips import Array, families_of_pairs
from memeval.statistics.intervals import critical


@dataclass(frozen=True)
class ValueDifference:
    difference: float
    low: float | None
    """Lower end of the 95 % interval; ``None`` if there is only one cluster."""
    high: float | None
    corrected: float
    """Two-sided p-value, corrected for the composite and the categories of this pair."""

    @property
    def sign(self) -> Sign:
        if self.corrected >= ALPHA or self.difference == 0:
            return Sign.EVEN
        return Sign.BETTER if self.difference > 0 else Sign.WORSE


@dataclass(frozen=True)
class TablePairs:
    rows: tuple[BoardRow, ...]
    names: tuple[str, ...]
    samples: TrackSamples
    values: Array
    half: Array
    """Half of the width of each interval, shape (values, rows, rows); not a number if there is only one cluster."""
    corrected: Array
    """Corrected p-values, shape (values, rows, rows)."""

    def between(self, first: int, second: int) -> tuple[ValueDifference, ...]:
        found = []
        for place in range(len(self.names)):
            gap = float(self.values[second, place] - self.values[first, place])
            half = float(self.half[place, first, second])
            known = not np.isnan(half)
            found.append(
                ValueDifference(
                    difference=gap,
                    low=max(-1.0, gap - half) if known else None,
                    high=min(1.0, gap + half) if known else None,
                    corrected=float(self.corrected[place, first, second]),
                )
            )
        return tuple(found)


def table_pairs(table: BoardTable) -> TablePairs | None:
    """Compare all pairs of a table's rows; ``None`` if fewer than two rows can be compared.

    A row can be compared if it has a grade for every item of the track. Equal to
    :func:`memeval.analysis.comparing.compare_runs` of the two runs. Raises BadInput: a run has grades of other items
    than the track.
    """
    if not has_pairs(table):
        return None
    rows = tuple(row for row in table.rows if is_comparable(row))
    samples = read_samples([row.folder for row in rows])
    parts = samples.parts()
    first, second = np.triu_indices(len(rows), 1)
    tested = families_of_pairs(parts, samples.clusters, first, second)
    corrected = np.ones((parts.shape[1], len(rows), len(rows)))
    corrected[:, first, second] = corrected[:, second, first] = tested.corrected
    return TablePairs(
        rows=rows,
        names=(COMPOSITE, *samples.names),
        samples=samples,
        values=_values(samples),
        half=_half_widths(samples),
        corrected=corrected,
    )


def has_pairs(table: BoardTable) -> bool:
    return sum(map(is_comparable, table.rows)) > 1 and bool(counting(table.track.categories))


def is_comparable(row: BoardRow) -> bool:
    return row.run.coverage.full and row.folder.file(GRADES).exists()


def _values(samples: TrackSamples) -> Array:
    members = [np.flatnonzero(samples.category == place) for place in np.unique(samples.category)]
    found = []
    for run, scores in enumerate(samples.scores):
        means = [math.fsum(scores[mine].tolist()) / len(mine) for mine in members]
        found.append([composite(samples.layout, samples.sample(run)), *means])
    return np.array(found)


def _half_widths(samples: TrackSamples) -> Array:
    """Return half the width of the interval of each value of each pair, shape (values, rows, rows).

    See :func:`memeval.statistics.paired.paired_difference`. A cluster's contribution to a value is its part of the
    scores minus the means of their categories.
    """
    counted = np.array([each.weight > 0 for each in samples.plan])[samples.category]
    members = [counted, *(samples.category == place for place in np.unique(samples.category))]
    contributions = _centred(samples).parts()
    return np.stack([_of_value(contributions[:, place], samples.cluster[mine]) for place, mine in enumerate(members)])


def _of_value(contributions: Array, clusters: NDArray[np.intp]) -> Array:
    """Return half the width of each pair's interval, shape (rows, rows).

    ``contributions``: of each cluster to the value, shape (rows, clusters). ``clusters``: the cluster of each item that
    counts in the value.
    """
    count, rows = len(np.unique(clusters)), len(contributions)
    if count < 2:
        return np.full((rows, rows), np.nan)
    squares = np.array([_squared_gaps(contributions, one) for one in contributions])
    widths: Array = critical(count - 1) * np.sqrt(count / (count - 1) * squares)
    return widths


def _squared_gaps(rows: Array, one: Array) -> Array:
    gaps = rows - one
    found: Array = np.einsum("rk,rk->r", gaps, gaps)
    return found


def _centred(samples: TrackSamples) -> TrackSamples:
    scores = samples.scores.copy()
    for place in np.unique(samples.category):
        mine = samples.category == place
        scores[:, mine] -= scores[:, mine].mean(axis=1, keepdims=True)
    return TrackSamples(samples.plan, samples.items, samples.category, samples.clusters, samples.cluster, scores)
