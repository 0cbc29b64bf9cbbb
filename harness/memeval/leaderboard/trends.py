"""The trend of one measure of a series of runs: its points, its breaks, and the changes that are not chance."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from memeval.analysis.comparing import MeasuredDifference, as_family, composite_difference
from memeval.archive.runs import RunFolder
from memeval.leaderboard.series import RunSeries, started_at
from memeval.leaderboard.trend_measures import RANK_MEASURE, MeasuredValue, TrendMeasure
from memeval.records.comparison import Difference
from memeval.records.errors import BadInput
from memeval.records.release import Release
from memeval.records.run import Run
from memeval.statistics.steps import LEAST_POINTS, find_steps

GRADES = "grades.jsonl"


@dataclass(frozen=True)
class TrendPoint:
    at: str
    """UTC time of the run, or date of the release, ISO 8601."""
    label: str
    run: Run
    reading: MeasuredValue
    is_superseded: bool = False

    @property
    def value(self) -> float | None:
        return self.reading.value


@dataclass(frozen=True)
class TrendBreak:
    index: int
    changes: tuple[str, ...]


@dataclass(frozen=True)
class TrendStep:
    index: int
    before: float
    after: float
    p: float


@dataclass(frozen=True)
class Trend:
    measure: TrendMeasure
    system: str
    points: tuple[TrendPoint, ...]
    breaks: tuple[TrendBreak, ...]
    steps: tuple[TrendStep, ...]
    """Only in parts without a break and with at least eight values."""

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(point.value for point in self.points if point.value is not None)

    @property
    def parts(self) -> tuple[range, ...]:
        ends = [0, *(each.index for each in self.breaks), len(self.points)]
        return tuple(range(a, b) for a, b in pairwise(ends))


@dataclass(frozen=True)
class NeighbourTest:
    index: int
    before: Run
    after: Run
    difference: Difference | None
    """Later minus earlier, over the items of both; ``None`` without a test."""
    reason: str | None = None


@dataclass(frozen=True)
class SeriesTrend:
    series: RunSeries
    trend: Trend
    tests: tuple[NeighbourTest, ...] = ()


def trend_of(series: RunSeries, measure: TrendMeasure) -> Trend:
    points = tuple(
        TrendPoint(
            at=_at(run),
            label=run.system.version,
            run=run,
            reading=measure.read(run),
            is_superseded=run.run_id in series.superseded,
        )
        for run in series.runs
    )
    return _trend(series, measure, points)


def rank_trend(series: RunSeries, releases: Iterable[Release]) -> Trend:
    """Return the ranks of a series in the releases, the worst possible rank as upper end.

    ``releases``: all releases, oldest first.
    """
    runs = {run.run_id: run for run in series.runs}
    order = list(runs)
    points = []
    for release in releases:
        ranked = [row for row in release.rows if row.run_id in runs and row.best_rank is not None]
        row = max(ranked, key=lambda row: order.index(row.run_id), default=None)
        if row is not None:
            best, worst = (None if rank is None else float(rank) for rank in (row.best_rank, row.worst_rank))
            points.append(TrendPoint(release.date, release.version, runs[row.run_id], MeasuredValue(best, best, worst)))
    return _trend(series, RANK_MEASURE, tuple(points))


def neighbour_tests(trend: Trend, folders: Mapping[str, RunFolder]) -> tuple[NeighbourTest, ...]:
    """Test the composite of each run against the run before, in parts with fewer than eight values.

    The tests are those of ``memeval compare``. Their p-values are corrected for their number. Runs with equal grades
    need no test, and their rows are not read. ``folders``: the folders of the runs, by run id; without a folder there
    is no test.
    """
    tests = [_test(trend, index, folders) for part in trend.parts if len(part) < LEAST_POINTS for index in part[1:]]
    done = iter(as_family([measured for _test, measured in tests if measured is not None]))
    return tuple(test if measured is None else replace(test, difference=next(done)) for test, measured in tests)


def _at(run: Run) -> str:
    started = started_at(run)
    return run.timing.started if started is None else started.isoformat(timespec="seconds")


def _trend(series: RunSeries, measure: TrendMeasure, points: tuple[TrendPoint, ...]) -> Trend:
    breaks = tuple(
        TrendBreak(index, changes)
        for index, (one, two) in enumerate(pairwise(points), start=1)
        if (changes := measure.changes(one.run, two.run))
    )
    whole = Trend(measure, series.system, points, breaks, ())
    return Trend(measure, series.system, points, breaks, tuple(_steps(whole)))


def _steps(trend: Trend) -> list[TrendStep]:
    found = []
    for part in trend.parts:
        known = [(index, value) for index in part if (value := trend.points[index].value) is not None]
        for step in find_steps([value for _index, value in known]):
            found.append(TrendStep(known[step.index][0], step.before, step.after, step.p))
    return found


def _test(
    trend: Trend, index: int, folders: Mapping[str, RunFolder]
) -> tuple[NeighbourTest, MeasuredDifference | None]:
    before, after = trend.points[index - 1].run, trend.points[index].run

    def untested(reason: str) -> tuple[NeighbourTest, None]:
        return NeighbourTest(index, before, after, None, reason), None

    grades = [run.files[GRADES].digest for run in (before, after) if GRADES in run.files]
    if len(grades) == 2 and grades[0] == grades[1]:
        return untested("Both runs have the same grades.")
    one, two = (folders.get(run.run_id) for run in (before, after))
    if one is None or two is None:
        return untested("The rows of a run are in the archive only.")
    try:
        difference = composite_difference(after.track, one, two)
    except BadInput as error:
        return untested(error.problem.capitalize())
    if difference is None:
        return untested("The runs share no item of some category.")
    return NeighbourTest(index, before, after, None), difference
