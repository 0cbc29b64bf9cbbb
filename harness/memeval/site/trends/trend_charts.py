"""Charts of trends: several systems in one chart, with numbered breaks."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from markupsafe import Markup

from memeval.leaderboard.releases import by_number
from memeval.leaderboard.trend_measures import RANK, MeasuredValue, Unit
from memeval.leaderboard.trends import NeighbourTest, SeriesTrend, Trend, TrendPoint, TrendStep
from memeval.site.charts.line_charts import (
    Axis,
    BreakMark,
    Level,
    Line,
    LineChart,
    LinePoint,
    draw_lines,
    time_axis,
    value_axis,
)
from memeval.site.model.text import minute
from memeval.site.trends.trend_files import write_range, write_value

Place = Callable[[TrendPoint], float]
"""Returns where a point stands on the axis of times."""

MOST_RELEASES = 8


@dataclass(frozen=True)
class NumberedBreak:
    """A break of one or several lines, for the same reason at the same time."""

    number: int
    at: str
    """Time of the first run after the break, ISO 8601."""
    x: float
    """Its place between the runs, on the axis of times."""
    reasons: tuple[str, ...]
    """One sentence a changed setting."""
    lines: tuple[int, ...]
    """Indexes of the trends that break here."""


@dataclass(frozen=True)
class TrendView:
    title: str
    trends: tuple[SeriesTrend, ...]
    names: tuple[str, ...]
    """Names of the systems, in the order of the trends."""
    breaks: tuple[NumberedBreak, ...]
    chart: LineChart

    @property
    def drawing(self) -> Markup:
        return draw_lines(self.chart)

    @property
    def starts_above_zero(self) -> bool:
        """Whether the axis of the values does not start at 0."""
        return self.trends[0].trend.measure.unit is not Unit.PLACE and self.chart.y.start > 0

    @property
    def tests(self) -> list[tuple[str, NeighbourTest]]:
        """The paired tests between runs, with the name of the system."""
        return [(name, test) for name, each in zip(self.names, self.trends, strict=True) for test in each.tests]

    @property
    def steps(self) -> list[tuple[str, TrendPoint, TrendStep]]:
        """The steps, with the name of the system and the first run after the step."""
        return [
            (name, each.trend.points[step.index], step)
            for name, each in zip(self.names, self.trends, strict=True)
            for step in each.trend.steps
        ]

    def write(self, value: float | None) -> str:
        """Return a value as people read it, with the sign of per cent."""
        unit = self.trends[0].trend.measure.unit
        return write_value(value, unit) + (" %" if unit is Unit.SHARE else "")

    def write_range(self, reading: MeasuredValue) -> str:
        """Return an interval or a range of ranks; empty without one."""
        return write_range(reading.low, reading.high, self.trends[0].trend.measure.unit)

    @property
    def longest(self) -> int:
        """Number of points in the longest part without a break."""
        return max(len(part) for each in self.trends for part in each.trend.parts)


def trend_view(title: str, trends: Sequence[SeriesTrend], names: Sequence[str]) -> TrendView | None:
    """Return the chart of some trends of one measure, with a name for each; ``None`` if no value is known."""
    values = [end for each in trends for point in each.trend.points for end in _ends(point.reading)]
    if not values:
        return None
    x, place = _time_scale(trends)
    breaks = numbered_breaks([each.trend for each in trends], place)
    chart = LineChart(
        title=title,
        description=_description(trends[0].trend, names),
        x=x,
        y=value_axis(values, trends[0].trend.measure.unit),
        lines=tuple(_line(number, each.trend, place) for number, each in enumerate(trends)),
        breaks=tuple(BreakMark(each.number, each.x) for each in breaks),
    )
    return TrendView(title, tuple(trends), tuple(names), breaks, chart)


def numbered_breaks(trends: Sequence[Trend], place: Place) -> tuple[NumberedBreak, ...]:
    """Return the breaks of some trends, in order of time; those of several lines at one time for one reason are one."""
    found: dict[tuple[float, str, tuple[str, ...]], list[int]] = defaultdict(list)
    for line, trend in enumerate(trends):
        for each in trend.breaks:
            before, after = trend.points[each.index - 1], trend.points[each.index]
            found[(place(before) + place(after)) / 2, after.at, each.changes].append(line)
    return tuple(
        NumberedBreak(number, at, x, reasons, tuple(lines))
        for number, ((x, at, reasons), lines) in enumerate(sorted(found.items()), start=1)
    )


def _ends(reading: MeasuredValue) -> list[float]:
    return [value for value in (reading.value, reading.low, reading.high) if value is not None]


def _time_scale(trends: Sequence[SeriesTrend]) -> tuple[Axis, Place]:
    """Return the axis of the points, and where on it a point stands: at its time, or in the order of releases."""
    points = [point for each in trends for point in each.trend.points]
    if trends[0].trend.measure.name != RANK:
        return time_axis([_time(point) for point in points]), lambda point: _time(point).timestamp()
    order = sorted({(point.at, point.label) for point in points}, key=lambda each: (each[0], by_number(each[1])))
    every = -(-len(order) // MOST_RELEASES)
    ticks = tuple((float(number), label) for number, (_at, label) in enumerate(order) if number % every == 0)
    return Axis(-0.5, len(order) - 0.5, ticks), lambda point: float(order.index((point.at, point.label)))


def _time(point: TrendPoint) -> datetime:
    return datetime.fromisoformat(point.at)


def _line(number: int, trend: Trend, place: Place) -> Line:
    unit = trend.measure.unit
    points = []
    for index, point in enumerate(trend.points):
        is_release = trend.measure.name == RANK  # its label stands on the axis
        is_new = not is_release and (index == 0 or trend.points[index - 1].label != point.label)
        when = point.at if is_release else minute(point.at)
        value = f"{write_value(point.value, unit)}{' %' if unit is Unit.SHARE else ''}"
        ends = write_range(point.reading.low, point.reading.high, unit)
        points.append(
            LinePoint(
                x=place(point),
                y=point.value,
                low=point.reading.low,
                high=point.reading.high,
                tip=f"{trend.system} {point.label}, {when}: {value}" + (f" ({ends})" if ends else ""),
                label=point.label if is_new else None,
                is_hollow=point.is_superseded,
            )
        )
    return Line(number, tuple(points), trend.parts, tuple(_levels(trend, place)))


def _levels(trend: Trend, place: Place) -> Iterable[Level]:
    """Yield the means between the steps of each part that has any."""
    if not trend.steps:
        return
    for part in trend.parts:
        steps = [step for step in trend.steps if step.index in part]
        ends = [part.start, *(step.index for step in steps), part.stop]
        means = [*(step.before for step in steps), *(step.after for step in steps[-1:])]
        for (start, stop), mean in zip(pairwise(ends), means, strict=False):
            yield Level(place(trend.points[start]), place(trend.points[stop - 1]), mean)


def _description(trend: Trend, names: Sequence[str]) -> str:
    systems = f"{len(names)} systems" if len(names) > 1 else names[0]
    return f"{trend.measure.title} over time, {systems}. The table on this page has the same values."
