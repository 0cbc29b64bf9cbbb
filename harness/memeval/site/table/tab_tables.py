"""Tables of the tabs that benchmarks declare: systems by trials passed, each count of one run, and by means."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

from memeval.leaderboard.board import BoardRow, RankStatus
from memeval.records.benchmark import FrontTab, MetricInfo, TabColumn, TabMeasures, TierInfo
from memeval.records.scores import Tally
from memeval.site.model.content import BenchmarkView, SiteModel
from memeval.site.table.overview import SystemRow, told_apart_names
from memeval.site.table.write_costs import WriteCost, write_cost
from memeval.statistics.intervals import mean_interval, wilson

_SHOWN = (RankStatus.RANKED, RankStatus.CONTROL, RankStatus.MOCK, RankStatus.UNREVIEWED)


@dataclass(frozen=True)
class Measure:
    """A mean over items, with the ends of its 95 % interval, within the bounds of the metric; ``None`` for one item."""

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class MeasuredRun:
    row: BoardRow
    """The run that is the proof."""
    tally: Tally
    """How many items it passed."""
    measures: tuple[Measure | None, ...]
    """One for each column; ``None`` where nothing was measured."""

    @property
    def tier(self) -> str:
        return self.row.run.track.tier


@dataclass(frozen=True)
class TabCell:
    passed: int
    planned: int
    tier: str
    row: BoardRow
    """The run that is the proof."""
    failure: str
    """How the other items failed; empty if nothing says it."""

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % score interval of the share, as if the items were independent."""
        return wilson(self.passed, self.planned)


@dataclass(frozen=True)
class TabRow(SystemRow):
    cells: tuple[TabCell | None, ...]
    """One for each column; ``None`` where it has no complete run."""
    cost: WriteCost | None
    measured: MeasuredRun | None
    """Its line of the second table."""


@dataclass(frozen=True)
class TabTable:
    benchmark: BenchmarkView
    tab: FrontTab
    """Its columns are those with a run."""
    rows: tuple[TabRow, ...]
    """Products first, controls last."""

    @property
    def id(self) -> str:
        return f"tab-{self.benchmark.id.partition('@')[0]}"

    @cached_property
    def tiers(self) -> tuple[TierInfo, ...]:
        """The tiers of its cells, in the order of the catalogue."""
        used = {cell.tier for row in self.rows for cell in (*row.cells, row.measured) if cell}
        return tuple(tier for tier in (self.benchmark.info.tiers if self.benchmark.info else ()) if tier.name in used)

    def ranks(self, protocol: str) -> str:
        """Return the track of a protocol with the most ranked systems; of equal ones, the largest."""
        tables = [table for table in self.benchmark.tables if table.track.protocol == protocol]
        return max(tables, key=lambda table: (table.ranked, table.track.planned)).track.id

    @property
    def download(self) -> str:
        return f"downloads/{self.id}.csv"

    def data(self) -> list[dict[str, Any]]:
        """Return a line for each count, for downloads."""
        return [
            {
                **row.named,
                "column": column.title,
                "protocol": column.protocol,
                "tier": cell.tier,
                "passed": cell.passed,
                "planned": cell.planned,
                "low": cell.interval[0],
                "high": cell.interval[1],
                "failure": cell.failure,
                "run": cell.row.run.run_id,
            }
            for row in self.rows
            for column, cell in zip(self.tab.columns, row.cells, strict=True)
            if cell
        ]

    @property
    def measures_download(self) -> str:
        return f"downloads/{self.id}-measures.csv"

    def measures_data(self) -> list[dict[str, Any]]:
        """Return a line for each measured mean, for downloads."""
        return [
            {
                **row.named,
                "metric": column.metric,
                "unit": column.unit,
                "tier": row.measured.tier,
                "items": row.measured.tally.planned,
                "mean": measure.mean,
                "low": measure.low,
                "high": measure.high,
                "run": row.measured.row.run.run_id,
            }
            for row in self.rows
            if row.measured and self.tab.measures
            for column, measure in zip(self.tab.measures.columns, row.measured.measures, strict=True)
            if measure
        ]


def tab_tables(site: SiteModel) -> list[TabTable]:
    """Return the table of each benchmark that declares a tab and has a run for it."""
    found = []
    for benchmark in site.benchmarks.values():
        tab = benchmark.info.tab if benchmark.info else None
        if tab is None:
            continue
        ran = {table.track.protocol for table in benchmark.tables if table.rows}
        tab = tab.model_copy(update={"columns": tuple(each for each in tab.columns if each.protocol in ran)})
        if rows := _rows(site, benchmark, tab):
            found.append(TabTable(benchmark, tab, rows))
    return found


def _rows(site: SiteModel, benchmark: BenchmarkView, tab: FrontTab) -> tuple[TabRow, ...]:
    shown = [row for table in benchmark.tables for row in table.rows if row.standing in _SHOWN]
    of_system: dict[str, list[BoardRow]] = {}
    for row in shown:
        of_system.setdefault(row.run.system.slug, []).append(row)
    cells = {slug: tuple(_cell(benchmark, column, rows) for column in tab.columns) for slug, rows in of_system.items()}
    table = tab.measures
    measured = {slug: measured_run(benchmark, table, rows) if table else None for slug, rows in of_system.items()}
    newest = {slug: max(rows, key=lambda row: row.run.timing.started) for slug, rows in of_system.items()}
    names = told_apart_names([row.run.system for row in newest.values()])
    rows = [
        TabRow(
            slug,
            *names[slug],
            site.products.by_slug[slug].kind,
            cells[slug],
            write_cost(site, (newest[slug], *site.board.of_system(slug))),
            measured[slug],
        )
        for slug in of_system
        if any(cells[slug]) or measured[slug]
    ]
    return tuple(sorted(rows, key=attrgetter("order")))


def _cell(benchmark: BenchmarkView, column: TabColumn, rows: Iterable[BoardRow]) -> TabCell | None:
    """Return the count of a column from one run: that with the most items; of equal ones, on the tier named first."""
    asked = [row for row in rows if row.run.track.protocol == column.protocol]
    found = [cell for row in asked if (cell := _counted(benchmark, column, row))]
    tiers = [tier.name for tier in benchmark.info.tiers] if benchmark.info else []

    def order(cell: TabCell) -> tuple[int, int, str]:
        place = tiers.index(cell.tier) if cell.tier in tiers else len(tiers)
        return cell.planned, -place, cell.row.run.timing.started

    return max(found, key=order, default=None)


def _counted(benchmark: BenchmarkView, column: TabColumn, row: BoardRow) -> TabCell | None:
    """Return how many items a run passed; ``None`` if its tier lacks a category of the column."""
    scores = {each.name: each for each in row.run.scores.categories}
    if not scores.keys() >= set(column.categories):
        return None
    counted = [scores[name] for name in column.categories]
    passed, planned = sum(each.tally.correct for each in counted), sum(each.tally.planned for each in counted)
    return TabCell(passed, planned, row.run.track.tier, row, benchmark.failure(counted)) if planned else None


def measured_run(benchmark: BenchmarkView, table: TabMeasures, rows: Iterable[BoardRow]) -> MeasuredRun | None:
    """Return what the run with the most items measured; of equal ones, the newest.

    ``rows``: the runs of a system. ``None`` without one whose rows are on this machine.
    """
    found = [
        (tally.planned, row.run.timing.started, row, tally)
        for row in rows
        if row.run.track.protocol == table.protocol and row.folder.has_rows
        for tally in (each.tally for each in row.run.scores.categories if each.name == table.category)
        if tally.planned
    ]
    if not found:
        return None
    _, _, row, tally = max(found, key=lambda each: each[:2])
    grades = [grade.metrics for grade in row.folder.grades() if grade.category == table.category]
    return MeasuredRun(
        row,
        tally,
        tuple(
            _measure(benchmark.metric(column.metric), [each.get(column.metric) for each in grades])
            for column in table.columns
        ),
    )


def _measure(metric: MetricInfo | None, given: Sequence[float | None]) -> Measure | None:
    values = [each for each in given if each is not None]
    if not values:
        return None
    mean, low, high = mean_interval(values)
    if math.isinf(high):
        return Measure(mean, None, None)
    least, most = (metric.low, metric.high) if metric else (None, None)
    return Measure(mean, low if least is None else max(low, least), high if most is None else min(high, most))
