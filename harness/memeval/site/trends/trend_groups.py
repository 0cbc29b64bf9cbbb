"""The trends of a site: one chart and table for each benchmark and settings."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memeval.archive.runs import RunFolder
from memeval.leaderboard.board import BoardRow, RankStatus
from memeval.leaderboard.series import History, RunSeries, history_of
from memeval.leaderboard.trend_measures import CATEGORY, COMPOSITE, TrendMeasure, run_measures
from memeval.leaderboard.trends import SeriesTrend, Trend, TrendPoint, neighbour_tests, rank_trend, trend_of
from memeval.records.run import Run, View
from memeval.site.model.content import SiteModel
from memeval.site.model.labels import label
from memeval.site.model.urls import segment
from memeval.site.trends.trend_charts import TrendView, trend_view
from memeval.site.trends.trend_files import write_range, write_value


@dataclass(frozen=True)
class TrendCell:
    value: str
    range: str
    note: str | None


@dataclass(frozen=True)
class TrendRow:
    name: str
    point: TrendPoint
    break_before: str
    """What changed since the run before; empty without a break."""
    cells: tuple[TrendCell, ...]
    """One a measure."""


@dataclass(frozen=True)
class TrendGroup:
    anchor: str
    title: str
    measures: tuple[TrendMeasure, ...]
    trends: tuple[SeriesTrend, ...]
    """Those of each measure with a known value and of the ranks, over all systems."""
    view: TrendView | None
    """The chart of the composite scores of the systems with at least two runs; ``None`` without a score."""
    rows: tuple[TrendRow, ...]
    """All runs of these systems, oldest first, system by system."""


@dataclass(frozen=True)
class Trends:
    groups: tuple[TrendGroup, ...]
    """Groups with a system that has at least two runs."""
    single: int
    """Number of other tables of the board; a table has several groups if its controls receive other sessions."""
    history: History

    @property
    def versions(self) -> int:
        """The most versions of a system that ran on one track."""
        runs = [[run.system.version for run in one.runs] for one in self.history.series]
        return max((len(set(versions)) for versions in runs), default=0)


def trends_of(site: SiteModel) -> Trends:
    rows = {row.run.run_id: row for row in site.board.runs}
    history = history_of([row.run for row in rows.values()], site.board.ledger)
    grouped: dict[tuple[str, ...], list[RunSeries]] = defaultdict(list)
    for series in history.series:
        grouped[series.group].append(series)
    several = [found for found in grouped.values() if any(len(one.runs) > 1 for one in found)]
    groups = [_group(site, rows, found, number) for number, found in enumerate(several, start=1)]
    with_line = {one.latest.track_id for found in several for one in found}
    without = {one.latest.track_id for one in history.series} - with_line
    return Trends(tuple(groups), len(without), history)


def _group(site: SiteModel, rows: dict[str, BoardRow], found: Iterable[RunSeries], number: int) -> TrendGroup:
    series = sorted(found, key=_first)
    names = [_name(rows, one) for one in series]
    latest = max((one.latest for one in series), key=lambda run: run.timing.started)
    benchmark = site.benchmark_of(latest.track)
    in_time = sorted((run for one in series for run in one.runs), key=lambda run: run.timing.started)
    measures = tuple(
        replace(measure, title=benchmark.category_title(measure.name.removeprefix(CATEGORY)))
        if measure.name.startswith(CATEGORY)
        else measure
        for measure in run_measures(in_time)
    )
    folders = {run_id: row.folder for run_id, row in rows.items()}
    by_measure = [[_series_trend(one, measure, folders) for one in series] for measure in measures]
    releases = tuple(reversed(site.releases))
    ranks = [SeriesTrend(one, rank_trend(one, releases)) for one in series]
    title = _title(site, latest)
    several = sum(len(one.runs) > 1 for one in series)
    return TrendGroup(
        anchor=f"trend-{number}-{segment(latest.track_id)}",
        title=title,
        measures=measures,
        trends=tuple(
            each for found_trends in (*by_measure, ranks) if _has_value(found_trends) for each in found_trends
        ),
        view=trend_view(f"{measures[0].title}: {title}", by_measure[0][:several], names[:several]),
        rows=tuple(
            row
            for place, name in enumerate(names[:several])
            for row in _rows(name, [trends[place].trend for trends in by_measure])
        ),
    )


def _has_value(trends: Iterable[SeriesTrend]) -> bool:
    return any(point.value is not None for each in trends for point in each.trend.points)


def _series_trend(series: RunSeries, measure: TrendMeasure, folders: Mapping[str, RunFolder]) -> SeriesTrend:
    trend = trend_of(series, measure)
    return SeriesTrend(series, trend, neighbour_tests(trend, folders) if measure.name == COMPOSITE else ())


def _rows(name: str, trends: Sequence[Trend]) -> list[TrendRow]:
    """Return the table's rows of one series, given its trend of each measure; the composite is the first."""
    breaks = {
        each.index: " ".join(dict.fromkeys(change for trend in trends for change in _changes(trend, each.index)))
        for trend in trends
        for each in trend.breaks
    }
    return [
        TrendRow(name, point, breaks.get(index, ""), tuple(_cell(trend, index) for trend in trends))
        for index, point in enumerate(trends[0].points)
    ]


def _changes(trend: Trend, index: int) -> Iterable[str]:
    return (change for each in trend.breaks if each.index == index for change in each.changes)


def _cell(trend: Trend, index: int) -> TrendCell:
    reading, unit = trend.points[index].reading, trend.measure.unit
    return TrendCell(write_value(reading.value, unit), write_range(reading.low, reading.high, unit), reading.note)


def _first(series: RunSeries) -> tuple[int, bool, float, str]:
    """Return a sort key: systems with more runs first, then by score."""
    score = series.latest.scores.composite.value or 0.0
    return -len(series.runs), series.is_control, -score, series.system


def _title(site: SiteModel, latest: Run) -> str:
    """Return the heading of a group; not every control receives the same sessions."""
    title = site.benchmark_of(latest.track).track_title(latest.track)
    return title if latest.system.view is View.ALL else f"{title}, {label(latest.system.view)}"


def _name(rows: dict[str, BoardRow], series: RunSeries) -> str:
    """Return the name of a system, with what a reader must know about its scores."""
    row = rows[series.latest.run_id]
    notes = ["control"] if series.is_control else []
    if row.standing in (RankStatus.MOCK, RankStatus.PLUMBING, RankStatus.IMPORTED):
        notes.append(label(row.standing))
    name = series.latest.system.name
    return f"{name} ({', '.join(notes)})" if notes else name
