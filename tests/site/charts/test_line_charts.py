"""Line charts: axes, lines, bands, breaks and labels."""

from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.leaderboard.trends import Unit
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

START = datetime(2026, 11, 1, 10, tzinfo=UTC)


def point(x: float, y: float | None, **parts: Any) -> LinePoint:
    return LinePoint(x, y, None if y is None else y - 0.1, None if y is None else y + 0.1, "tip", **parts)


def drawn(*lines: Line, **marks: Any) -> ElementTree.Element:
    axis = Axis(0, 10, ((0, "0"), (10, "10")))
    chart = LineChart("Title <b>", "Text & more", axis, Axis(0, 1, ((0, "0 %"),)), lines, **marks)
    return ElementTree.fromstring(str(draw_lines(chart)))


def found(drawing: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in drawing.iter() if name in each.get("class", "").split()]


@given(st.floats(0, 1), st.floats(0, 1))
def test_an_axis_of_shares_holds_all_values_and_stays_in_range(one: float, two: float) -> None:
    axis = value_axis([one, two], Unit.SHARE)
    assert axis.start - 1e-9 <= min(one, two) <= max(one, two) <= axis.end + 1e-9
    assert -1e-9 <= axis.start < axis.end <= 1 + 1e-9
    assert axis.end - axis.start >= 0.1 - 1e-9
    assert 3 <= len(axis.ticks) <= 7


@given(st.floats(1e-5, 1e9), st.sampled_from([Unit.TOKENS, Unit.DOLLARS, Unit.TIMES]))
def test_an_axis_of_amounts_starts_at_zero(value: float, unit: Unit) -> None:
    axis = value_axis([value, value / 2], unit)
    assert axis.start == 0
    assert axis.end >= value * (1 - 1e-9)
    assert len({label for _tick, label in axis.ticks}) == len(axis.ticks)


@pytest.mark.parametrize("days", [(datetime.min,), (datetime.max,), (datetime.min, datetime.max)])
def test_an_axis_of_time_holds_the_first_and_the_last_day_there_is(days: tuple[datetime, ...]) -> None:
    axis = time_axis([day.replace(tzinfo=UTC) for day in days])
    assert axis.ticks and all(axis.start <= tick <= axis.end for tick, _label in axis.ticks)


def test_amounts_of_zero_have_an_axis() -> None:
    assert value_axis([0.0], Unit.DOLLARS).ticks[0] == (0.0, "$0")


def test_a_refund_is_below_zero() -> None:
    axis = value_axis([-2.0, 5.0], Unit.DOLLARS)
    assert axis.start <= -2 and axis.end >= 5
    assert [label for _tick, label in axis.ticks] == ["−$2", "$0", "$2", "$4", "$6"]


def test_a_ratio_says_times() -> None:
    axis = value_axis([1.9, 3.5], Unit.TIMES)
    assert [label for _tick, label in axis.ticks] == ["0 ×", "1 ×", "2 ×", "3 ×", "4 ×"]


@given(st.floats(0, 4e9))
def test_any_span_of_time_has_a_few_ticks_inside_it(seconds: float) -> None:
    axis = time_axis([START, START + timedelta(seconds=seconds)])
    assert 1 <= len(axis.ticks) <= 6 or seconds < 1
    assert all(axis.start <= tick <= axis.end for tick, _label in axis.ticks)


def test_times_read_as_days_or_months() -> None:
    assert [label for _at, label in time_axis([START, START + timedelta(days=4)]).ticks] == [
        *("2 Nov", "3 Nov", "4 Nov", "5 Nov")
    ]
    assert [label for _at, label in time_axis([START, START + timedelta(days=100)]).ticks] == [
        *("Nov 2026", "Dec 2026", "Jan 2027", "Feb 2027")
    ]


def test_no_line_crosses_a_break_or_a_gap() -> None:
    points = (point(1, 0.5), point(2, 0.5), point(3, None), point(4, 0.5), point(5, 0.6), point(6, 0.7))
    drawing = drawn(Line(0, points, (range(0, 5), range(5, 6))), breaks=(BreakMark(1, 5.5),))
    lines = [each.get("d", "") for each in found(drawing, "mv-trend-line")]
    assert [line.count("L") for line in lines] == [1, 1], "points 1 to 2, and 4 to 5"
    assert len(found(drawing, "mv-trend-band")) == 2
    assert len(found(drawing, "mv-trend-range")) == 1, "a single point has its interval as a bar"
    assert len(found(drawing, "mv-trend-mark")) == 5
    [mark] = found(drawing, "mv-trend-break")
    assert "".join(mark.itertext()) == "1"


def test_lines_differ_in_shape_or_colour() -> None:
    drawing = drawn(*(Line(n, (point(n / 4, 0.5),), (range(1),)) for n in range(30)))
    looks = {
        (group.get("class"), mark.get("d"))
        for group in drawing.iter()
        for mark in group
        if mark.get("class") == "mv-trend-mark"
    }
    assert len(looks) == 30


def test_steps_gaps_and_further_runs_are_marked() -> None:
    points = (point(1, 0.5, is_hollow=True), point(2, 0.5))
    steps = (StepMark(0, 1.5, "+4.1"), StepMark(1, 1.6, "−2.0"), StepMark(0, 9.9, "+1.0"))
    drawing = drawn(Line(0, points, (range(2),)), gaps=(GapMark(3, "does not <load>"),), steps=steps)
    assert len(found(drawing, "mv-hollow")) == 1
    [gap] = found(drawing, "mv-trend-gap")
    assert "".join(gap.itertext()) == "does not <load>"
    labels = found(drawing, "mv-trend-label")
    assert [label.text for label in labels] == ["+4.1", "−2.0", "+1.0"]
    assert labels[0].get("y") != labels[1].get("y"), "one above the other"
    assert labels[2].get("text-anchor") == "end", "it stays inside the picture"


def test_labels_do_not_cover_each_other_and_long_ones_are_cut() -> None:
    points = tuple(point(x, 0.5, label=label) for x, label in ((1, "1.0"), (1.1, "1.1"), (1.2, "1.2"), (6, "a" * 40)))
    drawing = drawn(Line(0, points, (range(4),)))
    labels = found(drawing, "mv-trend-label")
    assert [each.text for each in labels] == ["v1.0", "v1.1", "aaaaaaaaaaa…"], "no place is left for 1.2"
    assert float(labels[0].get("y", "")) < float(labels[1].get("y", "")), "one above, one below"


@pytest.mark.parametrize("text", ["<script>", "&", '"', "\x00"])
def test_text_from_outside_is_text(text: str) -> None:
    drawing = drawn(Line(0, (point(1, 0.5, label=text),), (range(1),)))
    assert not [each for each in drawing.iter() if each.tag.endswith("script")]
    assert found(drawing, "mv-trend-label")[0].text in (text, "\u2400")


def test_a_long_line_has_no_marks() -> None:
    points = tuple(point(n / 20, 0.5) for n in range(200))
    drawing = drawn(Line(0, points, (range(200),)))
    assert found(drawing, "mv-trend-mark") == []
    assert found(drawing, "mv-trend-line")[0].get("d", "").count("L") == 199
