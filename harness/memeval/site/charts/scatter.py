"""Charts of scores against costs. Horizontal positions are shares of the width: type keeps its size on every screen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup, escape

from memeval.records.scores import Interval
from memeval.site.charts.axes import round_step
from memeval.site.model.text import percent, visible

HEIGHT = 340
"""Height of the plot in pixels."""

NOMINAL = 680
"""Width in pixels for which names are placed; narrower screens show numbers in their stead."""

LOG_SPREAD = 20
"""From this ratio of the largest to the smallest positive value on, the axis is logarithmic."""

LEAST_SPAN = 0.04
"""Least span of the score axis: a difference of a tenth of a point must not look large."""

LEAST_COST_SPAN = 0.2
"""Least span of the cost axis, as a share of the highest cost: 3 % more tokens must not look like much."""

_CHARACTER, _LINE = 6.6, 14
"""Width of a character and height of a line, in pixels."""


@dataclass(frozen=True)
class PlotAxis:
    """A fitted axis: values become shares from 0 to 1."""

    start: float
    end: float
    ticks: tuple[float, ...]
    is_log: bool = False
    has_zero: bool = False
    """Whether a logarithmic axis has a place for 0, left of all others."""

    def share(self, value: float) -> float:
        """Return where a value stands."""
        if not self.is_log:
            return (value - self.start) / (self.end - self.start)
        if value <= 0:
            return 0.02
        room = 0.08 if self.has_zero else 0.0
        where = math.log(value / self.start) / math.log(self.end / self.start)
        return room + (1 - room) * where

    def holds(self, value: float) -> bool:
        """Return whether a value is on the axis."""
        return value == 0 if self.has_zero and value <= 0 else self.start <= value <= self.end


def cost_axis(values: Sequence[float], *, seconds: bool = False) -> PlotAxis:
    """Return the axis of costs that are at least 0; logarithmic where they spread widely.

    Args:
        values: at least one cost.
        seconds: whether they are times, with ticks at round seconds, minutes and hours.
    """
    positive = [value for value in values if value > 0]
    if positive and max(positive) > LOG_SPREAD * min(positive):
        start, end = min(positive) / 1.3, max(positive) * 1.3
        has_zero = len(positive) < len(values)
        return PlotAxis(start, end, _log_ticks(start, end, seconds), is_log=True, has_zero=has_zero)
    high = max(values) or 1.0
    low = min(*values, (1 - LEAST_COST_SPAN) * high)
    margin = (high - low) * 0.08
    return _linear(max(0.0, low - margin), high + margin)


def score_axis(values: Sequence[float]) -> PlotAxis:
    """Return the axis of at least one score, fitted to them."""
    low, high = min(values), max(values)
    lack = max(0.0, LEAST_SPAN - (high - low)) / 2
    margin = (high - low + 2 * lack) * 0.08
    return _linear(max(0.0, low - lack - margin), min(1.0, high + lack + margin))


def _linear(start: float, end: float) -> PlotAxis:
    step = round_step((end - start) / 5)
    first, last = math.ceil(start / step - 1e-9), math.floor(end / step + 1e-9)
    return PlotAxis(start, end, tuple(number * step for number in range(first, last + 1)))


_LONG_TIMES = (60, 120, 300, 600, 1800, 3600, 7200, 18000, 36000)
"""Round times of a minute and more, in seconds."""


def _log_ticks(start: float, end: float, seconds: bool) -> tuple[float, ...]:
    factors = (1, 2, 5) if end / start < 1000 else (1,)
    powers = range(math.floor(math.log10(start)), math.ceil(math.log10(end)) + 1)
    ticks = [factor * 10.0**power for power in powers for factor in factors]
    if seconds:
        longer = _LONG_TIMES[:: 1 if len(factors) > 1 else 3]
        ticks = [tick for tick in ticks if tick < 60] + list(longer)
    return tuple(tick for tick in ticks if start <= tick <= end)


@dataclass(frozen=True)
class PlotSpot:
    """A point with a cost and a score."""

    name: str
    cost: float
    score: float
    interval: Interval | None
    is_ranked: bool
    """Whether it counts for the front and for the range of the scores."""
    number: int | None
    """Its number on the front, the cheapest first; ``None`` for others."""


@dataclass(frozen=True)
class Level:
    """A score that is drawn as a line."""

    name: str
    score: float


@dataclass(frozen=True)
class Plot:
    """What is drawn."""

    title: str
    description: str
    """What it shows, as text for screen readers."""
    spots: tuple[PlotSpot, ...]
    """At least two points, one of them ranked."""
    write: Callable[[float], str]
    """Formats a cost."""
    levels: tuple[Level, ...] = ()
    """Drawn as lines if they are in the range of the scores."""
    seconds: bool = False
    """Whether the costs are times."""


def score_range(spots: Sequence[PlotSpot]) -> PlotAxis:
    """Return the axis of scores: fitted to the ranked points, with the intervals of the front."""
    return score_axis([end for spot in spots if spot.is_ranked for end in _ends(spot)])


def scatter(plot: Plot) -> Markup:
    """Draw points and their front. The page lists the same numbers beside it; points out of range are left out."""
    across = cost_axis([spot.cost for spot in plot.spots], seconds=plot.seconds)
    up = score_range(plot.spots)
    inside = [spot for spot in plot.spots if up.holds(spot.score)]
    front = sorted((spot for spot in inside if spot.number is not None), key=lambda spot: spot.number or 0)
    parts = [
        f'<svg class="mv-tradeoff" width="100%" height="{HEIGHT}" role="img">'
        f"<title>{escape(visible(plot.title))}</title><desc>{escape(visible(plot.description))}</desc>",
        '<text class="mv-tick" x="-8" y="-10" text-anchor="end">%</text>',
        *_grid(across, up, plot.write),
    ]
    boxes = [_Box(NOMINAL * across.share(spot.cost), _height(up, spot.score), 10, 10) for spot in inside]
    parts += _levels([level for level in plot.levels if up.holds(level.score)], up, boxes)
    parts += _staircase(front, across, up)
    parts += [_spot(spot, across, up, None) for spot in reversed(inside) if spot.number is None]
    parts += [_spot(spot, across, up, _place(spot, across, up, boxes)) for spot in front]
    return Markup("".join([*parts, "</svg>"]))  # noqa: S704 - text escaped above


def _ends(spot: PlotSpot) -> tuple[float, ...]:
    """Return a score, with its interval if it is on the front."""
    drawn = spot.interval if spot.number is not None else None
    return (spot.score,) if drawn is None else (drawn.low, spot.score, drawn.high)


def _height(up: PlotAxis, score: float) -> float:
    return HEIGHT * (1 - up.share(score))


def _x(across: PlotAxis, cost: float) -> str:
    return f"{100 * across.share(cost):.2f}%"


def _grid(across: PlotAxis, up: PlotAxis, write: Callable[[float], str]) -> Iterator[str]:
    step = up.ticks[1] - up.ticks[0] if len(up.ticks) > 1 else 0.01
    digits = 0 if abs(100 * step - round(100 * step)) < 1e-9 else 1
    for tick in up.ticks:
        y = f"{_height(up, tick):.1f}"
        yield f'<line class="mv-grid" x1="0" x2="100%" y1="{y}" y2="{y}"/>'
        yield f'<text class="mv-tick" x="-8" y="{y}" dy="4" text-anchor="end">{percent(tick, digits)}</text>'
    for tick in (*((0.0,) if across.has_zero else ()), *across.ticks):
        x, label = _x(across, tick), escape(visible(write(tick)))
        yield f'<line class="mv-grid" x1="{x}" x2="{x}" y1="0" y2="{HEIGHT}"/>'
        yield f'<text class="mv-tick" x="{x}" y="{HEIGHT + 18}" text-anchor="middle">{label}</text>'


def _levels(levels: Sequence[Level], up: PlotAxis, boxes: list[_Box]) -> Iterator[str]:
    for level in levels:
        y = _height(up, level.score)
        yield f'<line class="mv-level" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'
        width = _CHARACTER * len(level.name)
        for x, anchor in ((NOMINAL - width / 2, "end"), (width / 2, "start")):
            box = _Box(x, y - 8, width, _LINE)
            if not any(box.meets(other) for other in boxes):
                boxes.append(box)
                name = escape(visible(level.name))
                yield f'<text class="mv-level-name" x="{"100%" if anchor == "end" else 0}" y="{y:.1f}" dy="-4" '
                yield f'text-anchor="{anchor}">{name}</text>'
                break


def _staircase(front: Sequence[PlotSpot], across: PlotAxis, up: PlotAxis) -> Iterator[str]:
    for one, two in pairwise(front):
        first, second = _x(across, one.cost), _x(across, two.cost)
        low, high = _height(up, one.score), _height(up, two.score)
        yield f'<line class="mv-front" x1="{first}" x2="{second}" y1="{low:.1f}" y2="{low:.1f}"/>'
        yield f'<line class="mv-front" x1="{second}" x2="{second}" y1="{low:.1f}" y2="{high:.1f}"/>'


@dataclass(frozen=True)
class _Box:
    """A rectangle that is taken: its middle and its size in pixels."""

    x: float
    y: float
    width: float
    height: float

    def meets(self, other: _Box) -> bool:
        return (
            2 * abs(self.x - other.x) < self.width + other.width
            and 2 * abs(self.y - other.y) < self.height + other.height
        )


def _place(spot: PlotSpot, across: PlotAxis, up: PlotAxis, boxes: list[_Box]) -> int | None:
    """Return how far below its spot a name has room, in pixels, and keep the room; ``None`` if it has none."""
    share, y, width = across.share(spot.cost), _height(up, spot.score), _CHARACTER * len(_label(spot))
    side = 1 if share < 0.5 else -1
    own = _Box(NOMINAL * share, y, 10, 10)
    for below in (-14, 18, -28, 32):
        box = _Box(NOMINAL * share + side * (12 + width / 2), y + below, width, _LINE)
        if 0 < box.y < HEIGHT - 4 and not any(box.meets(other) for other in boxes if other != own):
            boxes.append(box)
            return below
    return None


def _label(spot: PlotSpot) -> str:
    """Return the name of a spot, after its number: names may stand nearer to another spot."""
    return spot.name if spot.number is None else f"{spot.number} {spot.name}"


def _spot(spot: PlotSpot, across: PlotAxis, up: PlotAxis, below: int | None) -> str:
    x, y = _x(across, spot.cost), _height(up, spot.score)
    kinds = ["mv-spot"]
    kinds += ["mv-spot-front"] if spot.number is not None else [] if spot.is_ranked else ["mv-spot-unranked"]
    kinds += ["mv-spot-named"] if below is not None else []
    parts = [f'<g class="{" ".join(kinds)}">']
    if spot.interval is not None:
        low, high = (min(max(_height(up, end), 0), HEIGHT) for end in (spot.interval.low, spot.interval.high))
        parts.append(f'<line class="mv-spot-interval" x1="{x}" x2="{x}" y1="{high:.1f}" y2="{low:.1f}"/>')
    parts.append(f'<circle cx="{x}" cy="{y:.1f}" r="{8 if spot.number else 4.5}"/>')
    if spot.number is not None:
        parts.append(
            f'<text class="mv-spot-number" x="{x}" y="{y:.1f}" dy="4" text-anchor="middle">{spot.number}</text>'
        )
    left = across.share(spot.cost) < 0.5
    name = escape(visible(_label(spot)))
    parts.append(
        f'<text class="mv-spot-name" x="{x}" y="{y:.1f}" dx="{12 if left else -12}" dy="{(below or -14) + 4}" '
        f'text-anchor="{"start" if left else "end"}">{name}</text></g>'
    )
    return "".join(parts)
