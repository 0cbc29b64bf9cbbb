"""The trend of one measure over the versions of a system: its points and breaks, and the changes that are no chance."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from memeval.analysis.comparing import MeasuredDifference, as_family, composite_difference
from memeval.archive.runs import RunFolder
from memeval.leaderboard.samples import GRADES, read_samples
from memeval.leaderboard.series import VersionPoint, VersionSeries
from memeval.leaderboard.trend_measures import MeasuredValue, TrendMeasure
from memeval.records.comparison import Difference
from memeval.records.errors import BadInput, MemevalError
from memeval.records.run import Run
from memeval.statistics.version_steps import VersionStep, find_steps


@dataclass(frozen=True)
class TrendPoint:
    at: VersionPoint
    reading: MeasuredValue
    """Without a value where the version did not run."""

    @property
    def value(self) -> float | None:
        return self.reading.value


@dataclass(frozen=True)
class TrendBreak:
    index: int
    changes: tuple[str, ...]


@dataclass(frozen=True)
class Trend:
    measure: TrendMeasure
    series: VersionSeries
    points: tuple[TrendPoint, ...]
    """One a version, gaps included."""
    breaks: tuple[TrendBreak, ...]

    @property
    def parts(self) -> tuple[range, ...]:
        """Indexes of the points between two breaks."""
        ends = [0, *(each.index for each in self.breaks), len(self.points)]
        return tuple(range(a, b) for a, b in pairwise(ends))


def trend_of(series: VersionSeries, measure: TrendMeasure) -> Trend:
    points = tuple(
        TrendPoint(point, MeasuredValue(None, note=point.gap) if point.run is None else measure.read(point.run))
        for point in series.points
    )
    ran = [(index, point.run) for index, point in enumerate(series.points) if point.run is not None]
    breaks = tuple(
        TrendBreak(index, changes)
        for (_before, one), (index, two) in pairwise(ran)
        if (changes := measure.changes(one, two))
    )
    return Trend(measure, series, points, breaks)


@dataclass(frozen=True)
class StepFound:
    """A version whose score differs from the versions before, with its run and the run of the version before."""

    step: VersionStep
    before: Run
    after: Run


@dataclass(frozen=True)
class NeighbourTest:
    before: Run
    after: Run
    difference: Difference | None
    """Later minus earlier; ``None`` without a test."""
    reason: str | None = None


@dataclass(frozen=True)
class ScoreChanges:
    """What changed in the composite over the versions of a series. The rows of its runs are read when first needed.

    ``folder_of``: returns the folder of a run; ``None`` if its rows are not here.
    """

    series: VersionSeries
    folder_of: Callable[[str], RunFolder | None] = field(repr=False)

    @cached_property
    def folders(self) -> tuple[RunFolder, ...]:
        """The folders of the runs that count, oldest version first; empty if the rows of one are not here."""
        found = [self.folder_of(run.run_id) for run in self.series.runs]
        here = [folder for folder in found if folder is not None and folder.file(GRADES).exists()]
        return tuple(here) if len(here) == len(found) else ()

    @cached_property
    def steps(self) -> tuple[StepFound, ...]:
        """The steps of the composite, oldest first; none if the rows of a run are not here."""
        runs = self.series.runs
        if len(self.folders) < 2 or self.are_equal:
            return ()
        try:
            samples = read_samples(self.folders)
        except BadInput:  # an imported run need not have every item
            return ()
        found = find_steps(samples.parts()[:, 0], samples.clusters)
        return tuple(StepFound(step, runs[step.index - 1], runs[step.index]) for step in found)

    @property
    def largest_step(self) -> StepFound | None:
        return max(self.steps, key=lambda each: abs(each.step.after - each.step.before), default=None)

    @cached_property
    def whole(self) -> Difference | None:
        """The last version minus the first, with its interval; ``None`` if it cannot be computed."""
        if len(self.folders) < 2:
            return None
        measured = _difference(self.folders[0], self.folders[-1])
        return None if measured is None else as_family([measured])[0]

    @cached_property
    def tests(self) -> tuple[NeighbourTest, ...]:
        """The paired test of each version against the one before, corrected for the number of tests."""
        runs = self.series.runs
        folders = self.folders or (None,) * len(runs)
        tests, family = [], []
        for (before, one), (after, two) in pairwise(zip(runs, folders, strict=True)):
            reason = measured = None
            if _same_grades(before, after):
                reason = "Both versions have the same grades."
            elif one is None or two is None:
                reason = "The rows of a run are not here."
            elif (measured := _difference(one, two)) is None:
                reason = "The runs share no item of some category."
            tests.append((before, after, measured is not None, reason))
            family += [] if measured is None else [measured]
        done = iter(as_family(family))
        return tuple(
            NeighbourTest(before, after, next(done) if is_tested else None, reason)
            for before, after, is_tested, reason in tests
        )

    @cached_property
    def are_equal(self) -> bool:
        """Whether all versions have the same grades."""
        return all(_same_grades(one, two) for one, two in pairwise(self.series.runs))


def _same_grades(one: Run, two: Run) -> bool:
    digests = [run.files[GRADES].digest if GRADES in run.files else None for run in (one, two)]
    return digests[0] is not None and digests[0] == digests[1]


def _difference(one: RunFolder, two: RunFolder) -> MeasuredDifference | None:
    try:
        return composite_difference(two.run.track, one, two)
    except MemevalError:
        return None
