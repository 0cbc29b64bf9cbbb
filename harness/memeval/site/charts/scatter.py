"""Charts of scores against costs."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from memeval.records.scores import Interval
from memeval.site.charts.charts import ACCENT, CONTROL, INK, PAPER, Chart, Spec, altair, finish
from memeval.site.charts.line_charts import round_step
from memeval.site.model.text import visible

LOG_SPREAD = 20
"""From this ratio of the largest to the smallest positive value on, the axis is logarithmic."""

LEAST_SPAN = 0.04
"""Least span of the score axis: a difference of a tenth of a point must not look large."""

LEAST_COST_SPAN = 0.2
"""Least span of the cost axis, as a share of the highest cost: 3 % more tokens must not look like much."""

_CHARACTER, _LINE = 6.8, 14
"""Width of a character and height of a line, in pixels."""

_STEPS = (-14, 18, -28, 32, 0, -42, 46)
"""How far below its point a name may stand, in pixels."""


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
        if not self.is_log:
            return (value - self.start) / (self.end - self.start)
        if value <= 0:
            return 0.02
        room = 0.08 if self.has_zero else 0.0
        where = math.log(value / self.start) / math.log(self.end / self.start)
        return room + (1 - room) * where

    def holds(self, value: float) -> bool:
        return value == 0 if self.has_zero and value <= 0 else self.start <= value <= self.end


def cost_axis(values: Sequence[float], spread: float = LOG_SPREAD) -> PlotAxis:
    """Return the axis of at least one cost that is at least 0; logarithmic where they spread widely."""
    positive = [value for value in values if value > 0]
    if positive and max(positive) > spread * min(positive):
        start, end = min(positive) / 1.3, max(positive) * 1.3
        has_zero = len(positive) < len(values)
        return PlotAxis(start, end, _log_ticks(start, end), is_log=True, has_zero=has_zero)
    high = max(values) or 1.0
    low = min(*values, (1 - LEAST_COST_SPAN) * high)
    margin = (high - low) * 0.08
    return _linear(max(0.0, low - margin), high + margin)


def score_axis(values: Sequence[float]) -> PlotAxis:
    """Return the axis of at least one score, fitted to those from 0 to 1."""
    low, high = (min(max(end, 0.0), 1.0) for end in (min(values), max(values)))
    lack = max(0.0, LEAST_SPAN - (high - low)) / 2
    margin = (high - low + 2 * lack) * 0.08
    return _linear(max(0.0, low - lack - margin), min(1.0, high + lack + margin))


def _linear(start: float, end: float) -> PlotAxis:
    step = round_step((end - start) / 5)
    first, last = math.ceil(start / step - 1e-9), math.floor(end / step + 1e-9)
    return PlotAxis(start, end, tuple(number * step for number in range(first, last + 1)))


def _log_ticks(start: float, end: float) -> tuple[float, ...]:
    factors = (1, 2, 5) if end / start < 1000 else (1,)
    powers = range(math.floor(math.log10(start)), math.ceil(math.log10(end)) + 1)
    ticks = [factor * 10.0**power for power in powers for factor in factors]
    return tuple(tick for tick in ticks if start <= tick <= end)


@dataclass(frozen=True)
class PlotSpot:
    name: str
    cost: float
    score: float
    interval: Interval | None
    is_ranked: bool
    """Whether it counts for the front and for the range of the scores."""
    number: int | None
    """Its number on the front, the cheapest first; ``None`` for others."""
    is_product: bool = field(default=False, kw_only=True)
    """Whether a plot without numbers fills its point, and names it before others."""


@dataclass(frozen=True)
class Level:
    name: str
    score: float


@dataclass(frozen=True)
class Plot:
    name: str
    """Its name in addresses."""
    title: str
    description: str
    cost: str
    spots: tuple[PlotSpot, ...]
    """At least two points, one of them ranked."""
    write: Callable[[float], str]
    levels: tuple[Level, ...] = ()
    """Drawn as lines if they are in the range of the scores."""
    width: int = 500
    height: int = 320
    """Size of the plot in pixels."""
    spread: float = LOG_SPREAD
    """From this ratio of the highest to the lowest cost on, the axis is logarithmic."""
    numbered: bool = True
    """Whether points of the front have their numbers and names; else, all have their names."""


def score_range(spots: Sequence[PlotSpot]) -> PlotAxis:
    """Return the axis of scores: fitted to the ranked points, with the intervals of the front."""
    return score_axis([end for spot in spots if spot.is_ranked for end in _ends(spot)])


def _ends(spot: PlotSpot) -> tuple[float, ...]:
    """Return a score, with its interval if it is on the front."""
    drawn = spot.interval if spot.number is not None else None
    return (spot.score,) if drawn is None else (drawn.low, spot.score, drawn.high)


def scatter(plot: Plot) -> Chart:
    """Chart points and their front. The page lists the same numbers beside it; points out of range are left out."""
    across = cost_axis([spot.cost for spot in plot.spots], plot.spread)
    drawing = _Drawing(plot, across, score_range(plot.spots))
    spec = _fitted(plot, across, drawing.up) | {"data": {"values": list(drawing.rows())}}
    if plot.width < 400:
        spec["padding"] = {"left": 4, "right": 14, "top": 6, "bottom": 6}
    return Chart(plot.name, plot.title, plot.description, spec)


@dataclass(frozen=True)
class _Box:
    """A place that is taken, in pixels, by its middle."""

    x: float
    y: float
    width: float
    height: float

    def meets(self, other: "_Box") -> bool:
        return (
            2 * abs(self.x - other.x) < self.width + other.width
            and 2 * abs(self.y - other.y) < self.height + other.height
        )


class _Drawing:
    """The points, lines and names of a plot. Names stand only where they have room."""

    def __init__(self, plot: Plot, across: PlotAxis, up: PlotAxis) -> None:
        self.plot, self.across, self.up = plot, across, up
        self.inside = [spot for spot in plot.spots if up.holds(spot.score)]
        self.boxes = [self._point(spot) for spot in self.inside]

    def rows(self) -> Iterator[Spec]:
        for level in self.plot.levels:
            if self.up.holds(level.score):
                yield {"kind": "level", "y": level.score} | self._level(level)
        named = [spot for spot in self.inside if spot.number is not None or not self.plot.numbered]
        yield from (self._row(spot) for spot in reversed(self.inside) if spot not in named)
        named.sort(key=lambda spot: (not spot.is_product, spot.number or len(named)))
        groups: list[list[PlotSpot]] = []
        for spot in named:
            near = (group for group in groups if self._point(spot).meets(self._point(group[0])))
            group = None if self.plot.numbered else next(near, None)
            if group is None:
                groups.append([spot])
            else:
                group.append(spot)
        yield from reversed([row for group in groups for row in self._rows_of(group)])

    def _rows_of(self, group: Sequence[PlotSpot]) -> Iterator[Spec]:
        """Yield the rows of spots on one place: the first has the names of all."""
        yield self._row(group[0]) | self._name(group)
        yield from (self._row(spot) for spot in group[1:])

    def _point(self, spot: PlotSpot) -> _Box:
        return _Box(self.plot.width * self.across.share(spot.cost), self._below(spot.score), 10, 10)

    def _below(self, score: float) -> float:
        """Return how far below the upper end of the axis a score stands, in pixels."""
        return self.plot.height * (1 - self.up.share(score))

    def _row(self, spot: PlotSpot) -> Spec:
        kind = "front" if spot.number is not None else "ranked" if spot.is_ranked else "unranked"
        if not self.plot.numbered:
            kind = "front" if spot.is_product else "unranked"
        row: Spec = {
            "kind": kind,
            "system": visible(spot.name),
            "cost": visible(self.plot.write(spot.cost)),
            "x": self.across.share(spot.cost),
            "y": spot.score,
        }
        if spot.number is None:
            return row
        low, high = (spot.interval.low, spot.interval.high) if spot.interval else (spot.score, spot.score)
        row |= {"low": max(low, self.up.start), "high": min(high, self.up.end)}
        return row | ({"number": str(spot.number)} if self.plot.numbered else {})

    def _name(self, group: Sequence[PlotSpot]) -> Spec:
        """Return the names of spots on one place, after a number, and keep the room; nothing without room."""
        first_spot = group[0]
        names = [f"{first_spot.number} {first_spot.name}"] if self.plot.numbered else [spot.name for spot in group]
        longest = round(0.6 * self.plot.width / _CHARACTER)
        name = visible(", ".join(names))
        if len(name) > longest and len(names) > 1:
            name = visible(f"{names[0]} and {len(names) - 1} more")
        name = name if len(name) <= longest else f"{name[: longest - 1]}…"
        own, width = self._point(first_spot), _CHARACTER * len(name)
        first = 1 if own.x < self.plot.width / 2 else -1
        for side, down in [(side, down) for side in (first, -first) for down in self._steps()]:
            box = _Box(own.x + side * (12 + width / 2), own.y + down, width, _LINE)
            inside = width / 2 <= box.x <= self.plot.width - width / 2 and 0 < box.y < self.plot.height - 4
            if inside and not any(box.meets(other) for other in self.boxes if other != own):
                self.boxes.append(box)
                return self._label(name, box.x - side * width / 2, box.y, "left" if side > 0 else "right")
        return {}

    def _steps(self) -> Sequence[int]:
        return _STEPS if self.plot.numbered else sorted(_STEPS, key=abs)

    def _label(self, name: str, x: float, y: float, align: str) -> Spec:
        score = self.up.start + (1 - y / self.plot.height) * (self.up.end - self.up.start)
        return {"label": name, "label_x": x / self.plot.width, "label_y": score, "align": align}

    def _level(self, level: Level) -> Spec:
        y, name, end = self._below(level.score), visible(level.name), self.plot.width
        width = _CHARACTER * len(name)
        for x, edge, align in ((end - width / 2, end, "right"), (width / 2, 0, "left")):
            box = _Box(x, y - 8, width, _LINE)
            if not any(box.meets(other) for other in self.boxes):
                self.boxes.append(box)
                return self._label(name, edge, box.y, align)
        return {}


def _fitted(plot: Plot, across: PlotAxis, up: PlotAxis) -> Spec:
    """Return the specification with the axes of a plot: only the rest is the same for all."""
    costs = [*((0.0,) if across.has_zero else ()), *across.ticks]
    places, labels = [across.share(cost) for cost in costs], [visible(plot.write(cost)) for cost in costs]
    shown = f"{json.dumps(labels)}[indexof({json.dumps(places)}, datum.value)]"
    step = up.ticks[1] - up.ticks[0] if len(up.ticks) > 1 else 0.01
    form = ".0%" if abs(100 * step - round(100 * step)) < 1e-9 else ".1%"
    axes: dict[str, Spec] = {
        "x": {"title": f"{plot.cost} →", "axis": {"values": places, "labelExpr": shown}},
        "y": {
            "scale": {"domain": [up.start, up.end], "nice": False},
            "axis": {"values": list(up.ticks), "format": form},
        },
    }
    spec = _shape(plot.width, plot.height)
    layers = []
    for layer in spec["layer"]:
        encoding = layer["encoding"]
        fitted = {
            name: encoding[name] | axis for name, axis in axes.items() if encoding.get(name, {}).get("field") == name
        }
        layers.append(layer | {"encoding": encoding | fitted})
    return spec | {"layer": layers}


@cache
def _shape(width: int, height: int) -> Spec:
    """Return the specification of every plot of a size, without data and axes: making it takes longer than drawing."""
    alt = altair()
    x, y = alt.X("x:Q").scale(domain=[0, 1]), alt.Y("y:Q", title=None)
    kinds = ["front", "ranked", "unranked"]

    def of(*kinds: str, having: str = "kind") -> Any:
        chosen = alt.FieldOneOfPredicate(field="kind", oneOf=list(kinds))
        return alt.Chart().transform_filter(chosen).transform_filter(f"isValid(datum.{having})")

    def by_kind(channel: Any, *values: object) -> Any:
        return channel("kind:N", legend=None).scale(domain=kinds, range=list(values))

    sizes = {
        "size": {"expr": "datum.number ? 200 : datum.kind == 'front' ? 110 : 64"},
        "fillOpacity": {"expr": "datum.kind == 'ranked' ? 0.5 : 1"},
    }
    spots = of(*kinds).mark_circle(strokeWidth=1, opacity=1, **sizes)
    names = {"x": alt.X("label_x:Q"), "y": alt.Y("label_y:Q"), "text": "label:N"}
    named, best = of(*kinds, having="label"), of(*kinds, having="low")
    align, stairs = {"expr": "datum.align"}, {"interpolate": "step-after", "strokeDash": [2, 3]}
    drawing = alt.layer(
        of("level").mark_rule(color=CONTROL, strokeDash=[5, 4]).encode(y=y),
        of("level", having="label").mark_text(align=align, fontSize=11, fill=CONTROL).encode(**names),
        best.mark_line(color=ACCENT, strokeWidth=1.5, **stairs).encode(x=x, y=y),
        best.mark_rule(color=ACCENT, strokeWidth=2, opacity=0.35).encode(x=x, y=alt.Y("low:Q"), y2="high:Q"),
        spots.encode(
            x=x,
            y=y,
            fill=by_kind(alt.Fill, ACCENT, ACCENT, PAPER),
            stroke=by_kind(alt.Stroke, PAPER, PAPER, ACCENT),
            tooltip=[alt.Tooltip("system:N"), alt.Tooltip("y:Q", title="score", format=".1%"), alt.Tooltip("cost:N")],
        ),
        of("front", having="number")
        .mark_text(fontSize=10, fontWeight="bold", fill=PAPER)
        .encode(x=x, y=y, text="number:N"),
        named.mark_text(align=align, fontWeight="bold", stroke=PAPER, strokeWidth=4).encode(**names),
        named.mark_text(align=align, fontWeight="bold", fill=INK).encode(**names),
        data=alt.Data(values=[]),
    )
    return finish(drawing.properties(width=width, height=height), [])
