"""Charts of trends: several systems in one chart, with numbered breaks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from markupsafe import Markup

from memeval.leaderboard.trend_measures import RANK, Reading, Unit
from memeval.leaderboard.trends import NeighbourTest, Trend, TrendPoint, TrendStep
from memeval.site.axes import time_axis, value_axis
from memeval.site.line_charts import BreakMark, Level, Line, LineChart, LinePoint, draw_lines
from memeval.site.text import minute
from memeval.site.trend_files import SeriesTrend, write_range, write_value


@dataclass(frozen=True)
class NumberedBreak:
    """A break of one or several lines, for the same reason at the same time."""

    number: int
    at: str
    """Time of the first run after the break, ISO 8601."""
    x: float
    """Its place between the runs, in seconds since 1970."""
    reasons: tuple[str, ...]
    """One sentence a changed setting."""
    lines: tuple[int, ...]
    """Indexes of the trends that break here."""


@dataclass(frozen=True)
class TrendView:
    """One chart with its text."""

    title: str
    trends: tuple[SeriesTrend, ...]
    names: tuple[str, ...]
    """Names of the systems, in the order of the trends."""
    breaks: tuple[NumberedBreak, ...]
    chart: LineChart

    @property
    def drawing(self) -> Markup:
        """The chart as SVG."""
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

    def write_range(self, reading: Reading) -> str:
        """Return an interval or a range of ranks; empty without one."""
        return write_range(reading.low, reading.high, self.trends[0].trend.measure.unit)

    @property
    def longest(self) -> int:
        """Number of points in the longest part without a break."""
        return max(len(part) for each in self.trends for part in each.trend.parts)


def trend_view(title: str, trends: Sequence[SeriesTrend], names: Sequence[str], shown: int) -> TrendView | None:
    """Return the chart of some trends of one measure; ``None`` if no value is known.

    Args:
        title: the title of the chart.
        trends: the trends.
        names: a name for each trend.
        shown: number of lines that the chart shows first; the others start hidden.
    """
    values = [end for each in trends for point in each.trend.points for end in _ends(point.reading)]
    if not values:
        return None
    breaks = numbered_breaks([each.trend for each in trends])
    times = [_time(point.at) for each in trends for point in each.trend.points]
    chart = LineChart(
        title=title,
        description=_description(trends[0].trend, names),
        x=time_axis(times),
        y=value_axis(values, trends[0].trend.measure.unit),
        lines=tuple(_line(number, each.trend, number >= shown) for number, each in enumerate(trends)),
        breaks=tuple(
            BreakMark(
                each.number,
                each.x,
                tuple(key(line) for line in each.lines),
                is_hidden=all(line >= shown for line in each.lines),
            )
            for each in breaks
        ),
    )
    return TrendView(title, tuple(trends), tuple(names), breaks, chart)


def key(line: int) -> str:
    """Return the name of a line in the page."""
    return f"s{line + 1}"


def numbered_breaks(trends: Sequence[Trend]) -> tuple[NumberedBreak, ...]:
    """Return the breaks of some trends, in order of time. Lines that can break at one time for one reason share one."""
    by_reason: dict[tuple[str, ...], list[tuple[float, float, str, int]]] = defaultdict(list)
    for line, trend in enumerate(trends):
        for each in trend.breaks:
            before, after = trend.points[each.index - 1], trend.points[each.index]
            reasons = tuple(change.sentence for change in each.changes)
            by_reason[reasons].append((_seconds(before.at), _seconds(after.at), after.at, line))
    found: list[tuple[float, str, tuple[str, ...], tuple[int, ...]]] = []
    for reasons, places in by_reason.items():
        for group in _overlapping(sorted(places, key=lambda place: (place[1], place[3]))):
            x = (max(place[0] for place in group) + min(place[1] for place in group)) / 2
            lines = tuple(sorted({place[3] for place in group}))
            found.append((x, min(place[2] for place in group), reasons, lines))
    found.sort(key=lambda each: (each[0], each[2]))
    return tuple(NumberedBreak(number, at, x, why, on) for number, (x, at, why, on) in enumerate(found, start=1))


def _overlapping(
    places: Sequence[tuple[float, float, str, int]],
) -> Iterable[list[tuple[float, float, str, int]]]:
    """Yield groups of gaps that have a time in common, given the gaps in order of their ends."""
    group: list[tuple[float, float, str, int]] = []
    for place in places:
        if group and place[0] >= min(other[1] for other in group):
            yield group
            group = []
        group.append(place)
    if group:
        yield group


def _ends(reading: Reading) -> list[float]:
    return [value for value in (reading.value, reading.low, reading.high) if value is not None]


def _time(at: str) -> datetime:
    found = datetime.fromisoformat(at)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def _seconds(at: str) -> float:
    return _time(at).timestamp()


def _line(number: int, trend: Trend, is_hidden: bool) -> Line:
    unit = trend.measure.unit
    points = []
    for index, point in enumerate(trend.points):
        is_new = index == 0 or trend.points[index - 1].label != point.label
        when = point.at if trend.measure.name == RANK else minute(point.at)
        value = f"{write_value(point.value, unit)}{' %' if unit is Unit.SHARE else ''}"
        ends = write_range(point.reading.low, point.reading.high, unit)
        points.append(
            LinePoint(
                x=_seconds(point.at),
                y=point.value,
                low=point.reading.low,
                high=point.reading.high,
                tip=f"{trend.system} {point.label}, {when}: {value}" + (f" ({ends})" if ends else ""),
                label=point.label if is_new else None,
                is_hollow=point.is_superseded,
            )
        )
    return Line(key(number), number, tuple(points), trend.parts, tuple(_levels(trend)), is_hidden)


def _levels(trend: Trend) -> Iterable[Level]:
    """Yield the means between the steps of each part that has any."""
    for part in trend.parts:
        steps = [step for step in trend.steps if step.index in part]
        ends = [part.start, *(step.index for step in steps), part.stop]
        means = [*(step.before for step in steps), *(step.after for step in steps[-1:])]
        for (start, stop), mean in zip(pairwise(ends), means, strict=False):
            yield Level(_seconds(trend.points[start].at), _seconds(trend.points[stop - 1].at), mean)


def _description(trend: Trend, names: Sequence[str]) -> str:
    systems = f"{len(names)} systems" if len(names) > 1 else names[0]
    return f"{trend.measure.title} over time, {systems}. The table on this page has the same values."
