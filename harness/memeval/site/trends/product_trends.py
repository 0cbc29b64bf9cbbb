"""The trends of a site: for each product, its versions on each track."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from memeval.archive.runs import RunFolder
from memeval.leaderboard.samples import graded_items
from memeval.leaderboard.series import LeftOut, VersionPoint, VersionSeries
from memeval.leaderboard.trends import (
    COMPOSITE,
    INGEST_RATIO,
    SEARCH_RATIO,
    NeighbourTest,
    ScoreChanges,
    StepFound,
    Trend,
    TrendPoint,
    named_measure,
    run_measures,
    trend_of,
)
from memeval.records.errors import MemevalError
from memeval.records.run import Run
from memeval.site.model.content import SiteModel
from memeval.site.model.products import ProductGroup, ProductKind
from memeval.site.model.urls import segment
from memeval.site.trends.version_charts import ChartLine, VersionChart, version_chart

EMBEDDER = "minilm"
"""The system that ranks by memeval's embedder alone. A product that equals it on every item adds nothing to it."""


@dataclass(frozen=True)
class TrackTrend:
    """The versions of a system on one track."""

    title: str
    """The track, in words."""
    changes: ScoreChanges
    score: Trend
    search: Trend
    ingest: Trend

    @property
    def series(self) -> VersionSeries:
        return self.changes.series

    @property
    def ran(self) -> list[TrendPoint]:
        return [point for point in self.score.points if point.at.run is not None]

    @cached_property
    def versions(self) -> dict[str, str]:
        """The version of each run, by run id."""
        return {run.run_id: point.version for point in self.series.points for run in point.runs}

    def test_of(self, run: Run) -> NeighbourTest | None:
        """Return the test of a version against the one before; ``None`` for the first."""
        return next((test for test in self.changes.tests if test.after is run), None)

    def step_of(self, run: Run) -> StepFound | None:
        return next((step for step in self.changes.steps if step.after is run), None)

    def times(self, trend: Trend) -> list[TrendPoint]:
        """Return the versions with a ratio of times since the last break, oldest first."""
        return [trend.points[index] for index in trend.parts[-1] if trend.points[index].value is not None]

    def url_of(self, run: Run) -> str | None:
        """Return the address of what changed with the version of a run; ``None`` if nothing did."""
        test = self.test_of(run)
        return None if test is None or test.difference is None else changed_url(self.series, self.versions[run.run_id])


def changed_url(series: VersionSeries, version: str) -> str:
    return f"trends/{segment(series.system)}/{segment(version)}/{segment(series.track.id)}/"


@dataclass(frozen=True)
class ProductTrend:
    group: ProductGroup
    lines: tuple[TrackTrend, ...]
    """The longest first."""
    is_embedder: bool
    """Whether no version differs from :data:`EMBEDDER` in an item."""

    @property
    def gaps(self) -> tuple[VersionPoint, ...]:
        """The versions without a run on some track, oldest first."""
        found = {point.version: point for line in self.lines for point in line.series.points if point.gap}
        return tuple(found.values())

    @property
    def ran(self) -> tuple[VersionPoint, ...]:
        """The versions with a run on some track, oldest first."""
        return tuple({point.at.version: point.at for line in self.lines for point in line.ran}.values())

    @property
    def inputs(self) -> list[object]:
        """All that a page shows of them, as plain data."""
        return [
            [line.title, line.series.system, self.is_embedder]
            + [repr(each) for each in (line.changes.steps, line.changes.tests)]
            + [[point.at.version, point.at.gap, repr(point.reading)] for point in line.score.points]
            + [[repr(point.reading), len(point.at.runs)] for point in (*line.search.points, *line.ingest.points)]
            for line in self.lines
        ]

    @cached_property
    def chart(self) -> VersionChart | None:
        lines = [ChartLine(line.title, line.score, line.changes) for line in self.lines]
        return version_chart(f"{self.group.name}: score of each version", lines)


@dataclass(frozen=True)
class Trends:
    products: tuple[ProductTrend, ...]
    """The products with at least two versions on one track, those with the largest step first."""
    single: int
    """Number of other products."""
    left_out: dict[LeftOut, int]

    def of(self, group: ProductGroup) -> ProductTrend | None:
        return next((each for each in self.products if each.group.slug == group.slug), None)


def trends_of(site: SiteModel) -> Trends:
    by_product: dict[str, list[ScoreChanges]] = {}
    groups = site.products.by_slug
    for changes in site.version_changes:
        group = groups.get(changes.series.system)
        if group is not None and group.kind is not ProductKind.CONTROL:
            by_product.setdefault(group.slug, []).append(changes)
    products = [_product(site, groups[slug], found) for slug, found in by_product.items()]
    products.sort(key=lambda each: (each.is_embedder, -_largest(each), each.group.name.casefold()))
    others = [each for each in site.products.groups if each.kind is not ProductKind.CONTROL]
    return Trends(tuple(products), len(others) - len(products), dict(site.left_out))


def _largest(product: ProductTrend) -> float:
    found = [line.changes.largest_step for line in product.lines]
    return max((abs(each.step.after - each.step.before) for each in found if each), default=0.0)


def _product(site: SiteModel, group: ProductGroup, found: Sequence[ScoreChanges]) -> ProductTrend:
    several = len({changes.series.system for changes in found}) > 1
    lines = [_line(site, changes, several) for changes in found]
    lines.sort(key=lambda line: (-len(line.ran), line.title))
    return ProductTrend(group, tuple(lines), all(_is_embedder(site, changes) for changes in found))


def _line(site: SiteModel, changes: ScoreChanges, several: bool) -> TrackTrend:
    series = changes.series
    measures = run_measures(series.runs)
    score, search, ingest = (
        trend_of(series, named_measure(name, measures)) for name in (COMPOSITE, SEARCH_RATIO, INGEST_RATIO)
    )
    view = site.benchmarks.get(series.track.benchmark)
    title = series.track.benchmark if view is None else view.track_title(series.track)
    return TrackTrend(f"{series.system}, {title}" if several else title, changes, score, search, ingest)


def _is_embedder(site: SiteModel, changes: ScoreChanges) -> bool:
    row = next((row for row in site.board.of_system(EMBEDDER) if row.run.track_id == changes.series.track.id), None)
    if row is None or not changes.folders or changes.series.system == EMBEDDER:
        return False
    try:
        wanted = _scores(row.folder)
        return all(_scores(folder) == wanted for folder in changes.folders)
    except MemevalError:
        return False


def _scores(folder: RunFolder) -> dict[str, float | None]:
    return {item: score for _category, item, _cluster, score in graded_items(folder)}


def shown_steps(trends: Trends) -> Iterable[tuple[ProductTrend, TrackTrend, StepFound]]:
    """Yield the steps of all products, the largest of each product first."""
    for product in trends.products:
        found = [(line, step) for line in product.lines for step in line.changes.steps]
        for line, step in sorted(found, key=lambda each: -abs(each[1].step.after - each[1].step.before)):
            yield product, line, step
