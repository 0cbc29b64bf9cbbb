"""Line charts as SVG: lines with bands, breaks without a line, version labels. Colours come from ``trends.css``.

They are written here and not by Altair. A new run adds a point to about ten charts. By vl-convert, each takes 37 ms of
processor time if its kind is compiled already, and 70 ms if not: 4 to 6 % of a build with one run more, which takes
11 s for a board of 337 runs. Here a chart takes 0.1 ms.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from markupsafe import Markup, escape

from memeval.leaderboard.trends import Unit
from memeval.site.model.text import percent, visible

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 64.0, 700.0, 40.0, 264.0
COLOURS = 6
"""Number of colours in ``trends.css``."""

_SHAPES = (
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
    "M-4-4h8v8h-8z",
    "M0-5.2l5 8.7h-10z",
    "M0-5.4l5.4 5.4-5.4 5.4-5.4-5.4z",
    "M0 5.2l5-8.7h-10z",
)
_LABEL = 12
"""Longest version label in characters."""
_MANY = 60
"""A part with more points than this has no marks: they would cover the line."""


@dataclass(frozen=True)
class LinePoint:
    x: float
    y: float | None
    """``None`` leaves a gap."""
    low: float | None
    high: float | None
    tip: str
    """Shown by a pointer device that rests on the point."""
    label: str | None = None
    is_hollow: bool = False


@dataclass(frozen=True)
class Line:
    style: int
    """Number of its colour and shape."""
    points: tuple[LinePoint, ...]
    parts: tuple[range, ...]
    """Indexes of the points that lines may join."""


@dataclass(frozen=True)
class BreakMark:
    number: int
    x: float


@dataclass(frozen=True)
class GapMark:
    """A place without a value, and why."""

    x: float
    tip: str


@dataclass(frozen=True)
class StepMark:
    """A place where the values of a line change for good."""

    style: int
    x: float
    label: str


@dataclass(frozen=True)
class LineChart:
    title: str
    description: str
    x: "Axis"
    y: "Axis"
    lines: tuple[Line, ...]
    breaks: tuple[BreakMark, ...] = ()
    gaps: tuple[GapMark, ...] = ()
    steps: tuple[StepMark, ...] = ()


def draw_lines(chart: LineChart) -> Markup:
    """Draw a chart; equal charts give equal bytes."""
    parts = [
        f'<svg class="mv-trend" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(visible(chart.title))}</title><desc>{escape(visible(chart.description))}</desc>",
        *_grid(chart),
        *_breaks(chart),
        *_marks(chart),
        *_lines(chart),
        "</svg>",
    ]
    return Markup("".join(parts))  # noqa: S704 - text escaped, the rest are numbers


def swatch(style: int) -> Markup:
    """Draw a short piece of a line, for a legend."""
    return Markup(  # noqa: S704 - numbers only
        f'<svg class="mv-trend mv-swatch" viewBox="0 0 34 14" aria-hidden="true">{swatch_parts(style)}</svg>'
    )


def swatch_parts(style: int) -> str:
    """Return the parts of a swatch as SVG, 34 wide and 14 high."""
    line = '<path class="mv-trend-line" d="M1 7H33"/>'
    return f'<g class="{_style(style)}">{line}{_mark(style, 17, 7)}</g>'


def _style(style: int) -> str:
    return f"mv-trend-{style % COLOURS + 1}"


def _mark(style: int, x: float, y: float, *, is_hollow: bool = False, tip: str = "") -> str:
    shape = _SHAPES[(style + style // COLOURS) % len(_SHAPES)]
    kind = "mv-trend-mark mv-hollow" if is_hollow else "mv-trend-mark"
    title = f"<title>{escape(visible(tip))}</title>" if tip else ""
    return f'<path class="{kind}" d="{shape}" transform="translate({x:.1f} {y:.1f})">{title}</path>'


def _grid(chart: LineChart) -> Iterator[str]:
    for value, label in chart.y.ticks:
        y = chart.y.place(value, BOTTOM, TOP)
        yield f'<path class="mv-trend-grid" d="M{LEFT} {y:.1f}H{RIGHT}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{escape(label)}</text>'
    for value, label in chart.x.ticks:
        x = chart.x.place(value, LEFT, RIGHT)
        yield f'<path class="mv-trend-grid" d="M{x:.1f} {BOTTOM}v5"/>'
        yield f'<text x="{min(x, RIGHT - 14):.1f}" y="{BOTTOM + 21}" text-anchor="middle">{escape(label)}</text>'


def _breaks(chart: LineChart) -> Iterator[str]:
    taken: list[tuple[float, float]] = []
    for mark in chart.breaks:
        x = chart.x.place(mark.x, LEFT, RIGHT)
        row = 10.0
        while any(abs(x - other) < 20 and abs(row - height) < 15 for other, height in taken) and row < TOP:
            row += 16
        taken.append((x, row))
        yield (
            f'<g class="mv-trend-break"><path d="M{x:.1f} {row + 9:.1f}V{BOTTOM}"/>'
            f'<circle cx="{x:.1f}" cy="{row:.1f}" r="9"/>'
            f'<text x="{x:.1f}" y="{row + 4:.1f}" text-anchor="middle">{mark.number}</text></g>'
        )


def _marks(chart: LineChart) -> Iterator[str]:
    """Yield the steps, their labels one above the other if they are close, and the gaps at the lower edge."""
    for gap in chart.gaps:
        x = chart.x.place(gap.x, LEFT, RIGHT)
        yield (
            f'<path class="mv-trend-gap" d="M{x - 4:.1f} {BOTTOM - 12}l8 8m0-8l-8 8">'
            f"<title>{escape(visible(gap.tip))}</title></path>"
        )
    for number, step in enumerate(sorted(chart.steps, key=lambda each: each.x)):
        x, row = chart.x.place(step.x, LEFT, RIGHT), 12.0 + 14 * (number % 2)
        anchor = "end" if x > RIGHT - 60 else "start"
        shift = -4 if anchor == "end" else 4
        yield (
            f'<g class="{_style(step.style)}"><path class="mv-trend-step" d="M{x:.1f} {row - 8:.1f}V{BOTTOM}"/>'
            f'<text class="mv-trend-label" x="{x + shift:.1f}" y="{row:.1f}" text-anchor="{anchor}">'
            f"{escape(step.label)}</text></g>"
        )


def _lines(chart: LineChart) -> Iterator[str]:
    taken = [
        (*_place(chart, point, point.y), 12.0) for line in chart.lines for point in line.points if point.y is not None
    ]
    for line in chart.lines:
        yield f'<g class="{_style(line.style)}">'
        for part in line.parts:
            for stretch in _stretches([line.points[index] for index in part]):
                yield from _stretch(chart, line, stretch)
        for point in line.points:
            yield from _label(chart, point, taken)
        yield "</g>"


def _stretches(points: Sequence[LinePoint]) -> Iterator[list[LinePoint]]:
    """Yield the runs of neighbouring points that all have a value."""
    found: list[LinePoint] = []
    for point in points:
        if point.y is not None:
            found.append(point)
        elif found:
            yield found
            found = []
    if found:
        yield found


def _stretch(chart: LineChart, line: Line, points: Sequence[LinePoint]) -> Iterator[str]:
    at = [_place(chart, point, point.y) for point in points]
    if len(points) > 1:
        upper = [_place(chart, point, point.high if point.high is not None else point.y) for point in points]
        lower = [_place(chart, point, point.low if point.low is not None else point.y) for point in points]
        yield f'<path class="mv-trend-band" d="{_path([*upper, *reversed(lower)])}z"/>'
        yield f'<path class="mv-trend-line" d="{_path(at)}"/>'
    elif points[0].low is not None and points[0].high is not None:
        (x, high), (_x, low) = _place(chart, points[0], points[0].high), _place(chart, points[0], points[0].low)
        yield f'<path class="mv-trend-range" d="M{x:.1f} {high:.1f}V{low:.1f}"/>'
    if len(points) <= _MANY:
        for (x, y), point in zip(at, points, strict=True):
            yield _mark(line.style, x, y, is_hollow=point.is_hollow, tip=point.tip)


def _place(chart: LineChart, point: LinePoint, y: float | None) -> tuple[float, float]:
    return chart.x.place(point.x, LEFT, RIGHT), chart.y.place(y or 0.0, BOTTOM, TOP)


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)


def _label(chart: LineChart, point: LinePoint, taken: list[tuple[float, float, float]]) -> Iterator[str]:
    """Yield the label of a point above or below it, unless it would cover a mark or another label."""
    if point.label is None or point.y is None:
        return
    words = f"v{visible(point.label)}" if point.label[:1].isdigit() else visible(point.label)
    words = words if len(words) <= _LABEL else f"{words[: _LABEL - 1]}…"
    x, y = _place(chart, point, point.y)
    width = 7.0 * len(words) + 8
    x = min(x, RIGHT - width / 2)
    for baseline in (y - 11, y + 20):
        middle = baseline - 4
        if baseline < BOTTOM and not any(
            abs(x - other) < (width + wide) / 2 and abs(middle - height) < 13 for other, height, wide in taken
        ):
            taken.append((x, middle, width))
            at = f'x="{x:.1f}" y="{baseline:.1f}" text-anchor="middle"'
            yield f'<text class="mv-trend-label" {at}>{escape(words)}</text>'
            return


# -- axes -------------------------------------------------------------------------------------------------------------

HOUR, DAY = 3600.0, 86400.0

LEAST_SHARE_SPAN = 0.1
"""Least span of an axis of shares: a difference of a tenth of a point must not look large."""


@dataclass(frozen=True)
class Axis:
    start: float
    """Value at the left or lower end."""
    end: float
    """Value at the right or upper end."""
    ticks: tuple[tuple[float, str], ...]

    def place(self, value: float, first: float, last: float) -> float:
        """Return where a value stands between the coordinates of the two ends."""
        return first + (value - self.start) / (self.end - self.start) * (last - first)


def value_axis(values: Sequence[float], unit: Unit) -> Axis:
    """Return an axis for at least one value, the ends of intervals included.

    Shares get a part of the scale from 0 to 1, and other values one with 0.
    """
    low, high = min(values), max(values)
    if unit is Unit.SHARE:
        lack = max(0.0, LEAST_SHARE_SPAN - (high - low))
        low = min(max(0.0, low - lack / 2), 1.0 - LEAST_SHARE_SPAN)
        high = max(high, low + LEAST_SHARE_SPAN)
    else:
        low, high = min(0.0, low), max(0.0, high)
        high = high if high > low else 1.0
    step = round_step((high - low) / 4)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [number * step for number in range(first, last + 1)]
    return Axis(ticks[0], ticks[-1], tuple((tick, _tick_label(tick, step, unit)) for tick in ticks))


_EARLIEST, _LATEST = (moment.replace(tzinfo=UTC) for moment in (datetime.min, datetime.max))


def time_axis(times: Sequence[datetime]) -> Axis:
    """Return an axis for at least one time in UTC, in seconds since 1970, with at most six ticks."""
    first, last = min(times), max(times)
    margin = max((last - first) * 0.03, timedelta(minutes=30) if last > first else timedelta(hours=12))
    start, end = first - min(margin, first - _EARLIEST), last + min(margin, _LATEST - last)
    label, ticks = next((label, ticks) for label, ticks in _calendars(start, end) if len(ticks) <= 6)
    return Axis(
        start.timestamp(), end.timestamp(), tuple((tick.timestamp(), f"{tick:{label}}".lstrip("0")) for tick in ticks)
    )


def round_step(raw: float) -> float:
    """Return the smallest round step that is at least ``raw``: 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * (1 - 1e-9))


def _tick_label(tick: float, step: float, unit: Unit) -> str:
    if unit is Unit.SHARE:
        whole = abs(100 * step - round(100 * step)) < 1e-9
        return f"{percent(tick, 0 if whole else 1)} %"
    if unit is Unit.TIMES:
        return f"{_plain(tick)} ×"
    return f"{'−' if tick < 0 else ''}${_plain(abs(tick))}" if unit is Unit.DOLLARS else _plain(tick)


def _plain(value: float) -> str:
    """Return a number with as few digits as it needs."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _calendars(start: datetime, end: datetime) -> Iterator[tuple[str, list[datetime]]]:
    """Yield formats and ticks between two times, the densest first."""
    midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
    span = (end - midnight).total_seconds()
    for seconds, label in (
        *((hours * HOUR, "%d %b %H:%M") for hours in (1, 3, 6, 12)),
        *((days * DAY, "%d %b") for days in (1, 2, 7, 14)),
    ):
        count = int(span / seconds) + 1
        if count <= 200:
            steps = (midnight + timedelta(seconds=seconds * number) for number in range(count))
            yield label, [tick for tick in steps if tick >= start]
    for months in (1, 3, 6, 12, 24, 60, 120, 600, 24000):
        yield "%b %Y", list(_months(start, end, months))


def _months(start: datetime, end: datetime, months: int) -> Iterator[datetime]:
    number = start.year * 12
    while number // 12 < 9999:
        tick = datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)
        if tick > end:
            return
        if tick >= start:
            yield tick
        number += months
