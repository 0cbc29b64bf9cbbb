"""Charts of versions: a line for each track, with gaps, steps, breaks and the labels of versions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from markupsafe import Markup

from memeval.leaderboard.trends import ScoreChanges, Trend, TrendPoint, Unit
from memeval.site.charts.line_charts import (
    Axis,
    BreakMark,
    GapMark,
    Line,
    LineChart,
    LinePoint,
    StepMark,
    draw_lines,
    time_axis,
    value_axis,
)
from memeval.site.model import text

Place = Callable[[TrendPoint], float]
"""Returns where a version stands on the horizontal axis."""

MOST_TICKS = 8


@dataclass(frozen=True)
class ChartLine:
    name: str
    """The track, in words."""
    trend: Trend
    changes: ScoreChanges | None = None
    """Its steps are marked; ``None`` for a measure without."""


@dataclass(frozen=True)
class NumberedBreak:
    number: int
    version: str
    """The first version after the break."""
    name: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class VersionChart:
    title: str
    names: tuple[str, ...]
    breaks: tuple[NumberedBreak, ...]
    chart: LineChart
    is_dated: bool
    """Whether the horizontal axis has dates; else it has the order of the versions."""

    @property
    def drawing(self) -> Markup:
        return draw_lines(self.chart)


def version_chart(title: str, lines: Sequence[ChartLine]) -> VersionChart | None:
    """Return the chart of some lines of one measure; ``None`` if no value is known."""
    readings = [point.reading for line in lines for point in line.trend.points]
    values = [end for each in readings for end in (each.value, each.low, each.high) if end is not None]
    if not values:
        return None
    is_dated = all(line.trend.series.is_dated for line in lines)
    x, place = _dates(lines) if is_dated else _order(lines)
    unit = lines[0].trend.measure.unit
    versions = {point.at.version for line in lines for point in line.trend.points}
    is_named = not is_dated and len(x.ticks) == len(versions)
    broken = [(line, each) for line in lines for each in line.trend.breaks]
    chart = LineChart(
        title=title,
        description=f"{lines[0].trend.measure.title} of each version. The table on this page has the same values.",
        x=x,
        y=value_axis(values, unit),
        lines=tuple(
            _line(number, line, place, is_labelled=not number and not is_named) for number, line in enumerate(lines)
        ),
        breaks=tuple(
            BreakMark(number, _between(line.trend.points, each.index, place))
            for number, (line, each) in enumerate(broken, start=1)
        ),
        gaps=tuple(_gaps(lines, place)),
        steps=tuple(step for number, line in enumerate(lines) for step in _steps(number, line, place)),
    )
    breaks = tuple(
        NumberedBreak(number, line.trend.points[each.index].at.version, line.name, each.changes)
        for number, (line, each) in enumerate(broken, start=1)
    )
    return VersionChart(title, tuple(line.name for line in lines), breaks, chart, is_dated)


def _dates(lines: Sequence[ChartLine]) -> tuple[Axis, Place]:
    days = [_day(point) for line in lines for point in line.trend.points]
    return time_axis(days), lambda point: _day(point).timestamp()


def _day(point: TrendPoint) -> datetime:
    return datetime.fromisoformat(point.at.released or "").replace(tzinfo=UTC)


def _order(lines: Sequence[ChartLine]) -> tuple[Axis, Place]:
    longest = sorted(lines, key=lambda line: -len(line.trend.points))
    order = list(dict.fromkeys(point.at.version for line in longest for point in line.trend.points))
    every = -(-len(order) // MOST_TICKS)
    ticks = tuple((float(place), name) for place, name in enumerate(order) if place % every == 0)
    return Axis(-0.5, len(order) - 0.5, ticks), lambda point: float(order.index(point.at.version))


def _line(number: int, line: ChartLine, place: Place, *, is_labelled: bool) -> Line:
    trend = line.trend
    points = [
        LinePoint(
            x=place(point),
            y=point.value,
            low=point.reading.low,
            high=point.reading.high,
            tip=f"{point.at.version}, {line.name}: {written(point.value, trend.measure.unit)}",
            label=point.at.version if is_labelled else None,
        )
        for point in trend.points
    ]
    repeats = []
    for point in trend.points:
        for run in point.at.runs[1:]:  # the same version on another day
            value = trend.measure.read(run).value
            repeats.append(range(len(points), len(points) + 1))
            tip = f"{point.at.version}, run of {run.timing.started[:10]}: {written(value, trend.measure.unit)}"
            points.append(LinePoint(place(point), value, None, None, tip, is_hollow=True))
    return Line(number, tuple(points), (*repeats, *trend.parts))


def _gaps(lines: Iterable[ChartLine], place: Place) -> Iterator[GapMark]:
    found = {point.at.version: (point, point.at.gap) for line in lines for point in line.trend.points if point.at.gap}
    for version, (point, reason) in found.items():
        yield GapMark(place(point), f"{version}: {reason}")


def _steps(number: int, line: ChartLine, place: Place) -> Iterator[StepMark]:
    places = {point.at.run.run_id: index for index, point in enumerate(line.trend.points) if point.at.run}
    for each in line.changes.steps if line.changes else ():
        x = _between(line.trend.points, places[each.after.run_id], place)
        yield StepMark(number, x, text.signed_percent(each.step.after - each.step.before))


def _between(points: Sequence[TrendPoint], index: int, place: Place) -> float:
    """Return the middle between a version and the one before it that ran."""
    before = next(point for point in reversed(points[:index]) if point.at.run)
    return (place(before) + place(points[index])) / 2


def written(value: float | None, unit: Unit) -> str:
    match unit:
        case Unit.SHARE:
            return f"{text.percent(value)} %" if value is not None else text.ABSENT
        case Unit.DOLLARS:
            return text.dollars(value)
        case Unit.SECONDS:
            return text.seconds(value)
        case Unit.TIMES:
            return text.ABSENT if value is None else f"{text.significant(value, 3)} ×"
        case Unit.TOKENS:
            return text.count(value)


SPARK_WIDTH, SPARK_HEIGHT = 150, 34
_LEAST_SPAN = 0.05


def spark(trend: Trend, changes: ScoreChanges) -> Markup:
    """Draw a line as a small picture for a table, which has its values: a point a version, gaps without a point."""
    values = [point.value for point in trend.points]
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return Markup("")
    middle, span = (min(known) + max(known)) / 2, max(_LEAST_SPAN, max(known) - min(known))
    wide = (SPARK_WIDTH - 8) / (len(values) - 1)
    at = [
        None if value is None else (4 + wide * index, SPARK_HEIGHT / 2 - (value - middle) / span * (SPARK_HEIGHT - 10))
        for index, value in enumerate(values)
    ]
    path, is_joined = "", False
    for place in at:
        path += "" if place is None else f"{'L' if is_joined else 'M'}{place[0]:.1f} {place[1]:.1f}"
        is_joined = place is not None
    dots = "".join(f'<circle cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="2.2"/>' for place in at if place)
    after = {each.after.run_id for each in changes.steps}
    marks = "".join(
        f'<path class="mv-trend-step" d="M{4 + wide * (index - 0.5):.1f} 1V{SPARK_HEIGHT - 1}"/>'
        for index, point in enumerate(trend.points)
        if point.at.run and point.at.run.run_id in after
    )
    return Markup(  # noqa: S704 - numbers only
        f'<svg class="mv-trend mv-spark mv-trend-1" viewBox="0 0 {SPARK_WIDTH} {SPARK_HEIGHT}" width="{SPARK_WIDTH}" '
        f'height="{SPARK_HEIGHT}" aria-hidden="true">{marks}<path class="mv-trend-line" d="{path}"/>{dots}</svg>'
    )
