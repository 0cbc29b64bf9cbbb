"""Trends over the versions of a system: what they show, read from the heads of runs, their breaks, and their steps.

An absolute time is no measure of a trend: it says more about the machine than about the version. Times are ratios to a
control.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from memeval.analysis.comparing import MeasuredDifference, as_family, composite_difference
from memeval.archive.runs import RunFolder
from memeval.leaderboard.samples import GRADES, read_samples
from memeval.leaderboard.series import VersionPoint, VersionSeries
from memeval.records.benchmark import Direction
from memeval.records.beside import PairedSeconds
from memeval.records.comparison import Difference
from memeval.records.errors import BadInput, MemevalError
from memeval.records.run import Run
from memeval.records.scores import Interval
from memeval.statistics.time_ratios import time_ratio
from memeval.statistics.version_steps import VersionStep, find_steps

COMPOSITE = "composite"
CATEGORY = "category_"
SEARCH_RATIO, INGEST_RATIO = "search_ratio", "ingest_ratio"

FORMER_SEARCH_ITEMS = 10
"""Texts that a search beside a control asked for before runs stated it."""


class Unit(StrEnum):
    SHARE = "share"
    """In [0, 1]."""
    TOKENS = "tokens"
    DOLLARS = "dollars"
    SECONDS = "seconds"
    TIMES = "times"
    """A ratio: how many times as much as the control took."""


@dataclass(frozen=True)
class MeasuredValue:
    value: float | None
    low: float | None = None
    """Lower end of its 95 % interval; ``None`` without one."""
    high: float | None = None
    note: str | None = None


@dataclass(frozen=True)
class TrendMeasure:
    name: str
    """Its name in files and on the command line; the name of the column in the downloads of a table."""
    title: str
    unit: Unit
    better: Direction
    read: Callable[[Run], MeasuredValue]
    changes: Callable[[Run, Run], tuple[str, ...]] = lambda _before, _after: ()
    """Returns what keeps the values of two runs of one track from being compared, as sentences."""


def run_measures(runs: Iterable[Run]) -> tuple[TrendMeasure, ...]:
    """Return the measures of some runs; the categories in the order of the latest run."""
    names = dict.fromkeys(score.name for run in reversed(list(runs)) for score in run.scores.categories)
    return (_COMPOSITE, *(_category(name) for name in names), *_COSTS)


def named_measure(name: str, measures: Sequence[TrendMeasure]) -> TrendMeasure:
    """Return a measure by its name. A category may stand without its prefix.

    Raises BadInput: there is no such measure.
    """
    for measure in measures:
        if name in (measure.name, measure.name.removeprefix(CATEGORY)):
            return measure
    raise BadInput(
        f"there is no measure {name!r}.", remedy=f"Use one of: {', '.join(measure.name for measure in measures)}."
    )


def finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _with_interval(value: float | None, interval: Interval | None, note: str | None) -> MeasuredValue:
    found = finite(value)
    if found is None:
        return MeasuredValue(None, note=note or "no score")
    return (
        MeasuredValue(found) if interval is None else MeasuredValue(found, finite(interval.low), finite(interval.high))
    )


def _composite(run: Run) -> MeasuredValue:
    composite = run.scores.composite
    return _with_interval(composite.value, composite.interval, composite.reason)


def _category(name: str) -> TrendMeasure:
    def read(run: Run) -> MeasuredValue:
        tally = next((score.tally for score in run.scores.categories if score.name == name), None)
        if tally is None:
            return MeasuredValue(None, note="The run has no such category.")
        return _with_interval(tally.accuracy, tally.interval, None)

    title = name.replace("-", " ").replace("_", " ").capitalize()
    return TrendMeasure(f"{CATEGORY}{name}", title, Unit.SHARE, Direction.HIGHER, read)


def _tokens(run: Run) -> MeasuredValue:
    found = finite(run.tokens.per_question)
    return MeasuredValue(found, note="not counted" if found is None else None)


def _dollars(run: Run) -> MeasuredValue:
    found = finite(run.cost.usd)
    return MeasuredValue(found, note=(run.cost.reason or "unknown") if found is None else None)


def _times_beside(part: str) -> Callable[[Run], MeasuredValue]:
    def read(run: Run) -> MeasuredValue:
        if run.beside is None:
            return MeasuredValue(None, note="no times beside a control")
        pairs: Sequence[PairedSeconds] = getattr(run.beside, part) or run.beside.search
        found = time_ratio([(pair.system, pair.control) for pair in pairs])
        return MeasuredValue(found.value, finite(found.low), finite(found.high))

    return read


def search_changes(before: Run, after: Run) -> tuple[str, ...]:
    if before.beside is None or after.beside is None:
        return ()
    beside = before.beside, after.beside
    counted = (f"that of {'each question, the shortest' if each.fastest else 'all questions'}" for each in beside)
    asked = (each.search_items or FORMER_SEARCH_ITEMS for each in beside)
    return _changed("The time that counts", *counted) + _changed("The number of texts that a search returns", *asked)


def price_changes(before: Run, after: Run) -> tuple[str, ...]:
    if before.prices is None or after.prices is None:
        return ()
    return _changed("Price list", before.prices, after.prices)


def token_changes(before: Run, after: Run) -> tuple[str, ...]:
    return _changed("Token counts", before.tokens.source.value, after.tokens.source.value)


def _changed(name: str, old: object, new: object) -> tuple[str, ...]:
    return () if old == new else (f"{name} changed from {old} to {new}.",)


_COMPOSITE = TrendMeasure(COMPOSITE, "Composite score", Unit.SHARE, Direction.HIGHER, _composite)
_COSTS = (
    TrendMeasure(
        "tokens_per_question", "Tokens per question", Unit.TOKENS, Direction.LOWER, _tokens, changes=token_changes
    ),
    TrendMeasure("cost_usd", "Total cost", Unit.DOLLARS, Direction.LOWER, _dollars, changes=price_changes),
    TrendMeasure(
        SEARCH_RATIO,
        "Search time against BM25",
        Unit.TIMES,
        Direction.LOWER,
        _times_beside("fastest"),
        changes=search_changes,
    ),
    TrendMeasure(INGEST_RATIO, "Ingest time against BM25", Unit.TIMES, Direction.LOWER, _times_beside("ingest")),
)


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
