"""The charts that a catalogue declares: bars of a score beside published values, and lines over a slice."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memeval.leaderboard.board import BoardRow
from memeval.records.benchmark import ChartInfo, ChartKind, MetricInfo
from memeval.records.run import SystemKind
from memeval.site.charts.study_charts import DeclaredMark
from memeval.site.model import text
from memeval.site.model.content import BenchmarkView
from memeval.site.table.columns import overall

PUBLISHED = "published"
"""Addition to the names of published values, so that nobody takes them for runs."""


@dataclass(frozen=True)
class DrawnChart:
    info: ChartInfo
    name: str
    """Its name in addresses."""
    title: str
    marks: tuple[DeclaredMark, ...]
    is_share: bool
    """Whether its values are between 0 and 1."""

    @property
    def axis(self) -> tuple[str, ...]:
        """The values of the horizontal axis; empty for bars."""
        return self.info.values

    def write(self, value: float | None) -> str:
        if value is None:
            return text.ABSENT
        return f"{text.percent(value)} %" if self.is_share else f"{value:g}"

    def table(self) -> tuple[tuple[str, ...], ...]:
        names = dict.fromkeys(mark.label for mark in self.marks)
        found = {(mark.label, mark.at): mark.value for mark in self.marks}
        return tuple((name, *(self.write(found.get((name, at))) for at in self.axis or ("",))) for name in names)


def declared_charts(benchmark: BenchmarkView) -> Iterator[DrawnChart]:
    """Yield the charts of a catalogue: one for each track with runs, or one of published values alone."""
    info = benchmark.info
    for chart in info.charts if info is not None else ():
        metric = benchmark.metric(chart.metric) if chart.metric else None
        tables = [table for table in benchmark.tables if chart.protocol in (None, table.track.protocol)]
        drawn = 0
        for table in tables:
            marks = [mark for row in table.rows for mark in _marks(row, chart, metric)]
            if not marks:
                continue
            drawn += 1
            if table.track.tier == "full":
                marks += _published(chart)
            name, title = f"{chart.name}-{table.track.id}", f"{chart.title}: {benchmark.track_title(table.track)}"
            yield DrawnChart(chart, name, title, tuple(_sorted(marks, chart, metric)), _is_share(metric))
        if not drawn and chart.published:
            name, marks = f"{chart.name}-published", _published(chart)
            yield DrawnChart(chart, name, chart.title, tuple(_sorted(marks, chart, metric)), _is_share(metric))


def _is_share(metric: MetricInfo | None) -> bool:
    return metric is None or (metric.low, metric.high) == (0, 1)


def _sorted(marks: Sequence[DeclaredMark], chart: ChartInfo, metric: MetricInfo | None) -> list[DeclaredMark]:
    """Return the marks, the best bar first; lines in the order of the board."""
    if chart.kind is ChartKind.LINE:
        return list(marks)
    up = metric is not None and metric.direction == "lower"
    return sorted(marks, key=lambda mark: mark.value if up else -mark.value)


def _published(chart: ChartInfo) -> list[DeclaredMark]:
    return [
        DeclaredMark(f"{each.name} ({PUBLISHED})", each.at or "", each.value, PUBLISHED) for each in chart.published
    ]


def _marks(row: BoardRow, chart: ChartInfo, metric: MetricInfo | None) -> Iterator[DeclaredMark]:
    """Yield the values of a run; none that the run lacks."""
    kind = "control" if row.run.system.kind is SystemKind.CONTROL else "system"
    if chart.kind is ChartKind.BARS:
        value = row.run.scores.composite.value if metric is None else overall(row, metric)
        if value is not None:
            yield DeclaredMark(row.run.system.name, "", value, kind)
        return
    for at in chart.values:
        tallies = [
            found.tally
            for found in row.run.scores.slices
            if found.slice == chart.slice and found.value == at and chart.category in (None, found.category)
        ]
        planned = sum(tally.planned for tally in tallies)
        if planned:
            right = sum(tally.correct if tally.points is None else tally.points for tally in tallies)
            yield DeclaredMark(row.run.system.name, at, right / planned, kind)
