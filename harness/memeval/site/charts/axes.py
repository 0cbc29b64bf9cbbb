"""Axes of line charts: scales with round ticks for values and for times."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memeval.leaderboard.trend_measures import Unit
from memeval.site.model import text

HOUR, DAY = 3600.0, 86400.0

LEAST_SHARE_SPAN = 0.1
"""Least span of an axis of shares: a difference of a tenth of a point must not look large."""


@dataclass(frozen=True)
class Axis:
    """A scale with its ticks."""

    start: float
    """Value at the left or lower end."""
    end: float
    """Value at the right or upper end; smaller than ``start`` for ranks."""
    ticks: tuple[tuple[float, str], ...]
    """Values with their labels."""

    def place(self, value: float, first: float, last: float) -> float:
        """Return where a value stands between the coordinates of the two ends."""
        return first + (value - self.start) / (self.end - self.start) * (last - first)


def value_axis(values: Sequence[float], unit: Unit) -> Axis:
    """Return an axis for at least one value, the ends of intervals included.

    Shares get a part of the scale from 0 to 1, ranks a scale with 1 at the top, and other values one with 0.
    """
    low, high = min(values), max(values)
    if unit is Unit.PLACE:
        every = max(1, math.ceil(high / 6))
        places = sorted({1, *range(every, math.ceil(high) + 1, every)})
        return Axis(max(high, 2.0) + 0.5, 0.5, tuple((float(place), str(place)) for place in places))
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


def time_axis(times: Sequence[datetime], most: int = 6) -> Axis:
    """Return an axis for at least one time in UTC, in seconds since 1970.

    Args:
        most: maximum number of ticks.
    """
    first, last = min(times), max(times)
    margin = max((last - first) * 0.03, timedelta(minutes=30) if last > first else timedelta(hours=12))
    start, end = first - margin, last + margin
    label, ticks = next((label, ticks) for label, ticks in _calendars(start, end) if len(ticks) <= most)
    return Axis(
        start.timestamp(),
        end.timestamp(),
        tuple((tick.timestamp(), f"{tick:{label}}".lstrip("0")) for tick in ticks),
    )


def round_step(raw: float) -> float:
    """Return the smallest round step that is at least ``raw``: 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * (1 - 1e-9))


def _tick_label(tick: float, step: float, unit: Unit) -> str:
    if unit is Unit.SHARE:
        whole = abs(100 * step - round(100 * step)) < 1e-9
        return f"{text.percent(tick, 0 if whole else 1)} %"
    if unit is Unit.SECONDS:
        size, name = next(each for each in _SECONDS if step >= each[0] or each[0] == _SECONDS[-1][0])
        return f"{_plain(tick / size)} {name}"
    return f"{'−' if tick < 0 else ''}${_plain(abs(tick))}" if unit is Unit.DOLLARS else _plain(tick)


_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def _plain(value: float) -> str:
    """Return a number with as few digits as it needs, and thin separators."""
    return f"{value:,.0f}".replace(",", " ") if value >= 1000 else f"{value:.4g}"


def _calendars(start: datetime, end: datetime) -> Iterator[tuple[str, list[datetime]]]:
    """Yield formats and ticks between two times, the densest first."""
    midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
    span = (end - start).total_seconds()
    for seconds, label in (
        *((hours * HOUR, "%d %b %H:%M") for hours in (1, 3, 6, 12)),
        *((days * DAY, "%d %b") for days in (1, 2, 7, 14)),
    ):
        count = int(span / seconds) + 25
        if count <= 200:
            steps = (midnight + timedelta(seconds=seconds * number) for number in range(count))
            yield label, [tick for tick in steps if start <= tick <= end]
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
