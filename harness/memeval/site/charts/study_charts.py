"""Charts of other metrics of a benchmark, and of ranks under other weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memeval.records.overall import OverallRow
from memeval.site.charts.charts import (
    ACCENT,
    CONTROL,
    INK,
    SHADES,
    SHARE,
    Chart,
    Spec,
    altair,
    finish,
    kind_colour,
    kind_of,
)
from memeval.site.model.text import visible


def _base() -> Any:
    alt = altair()
    return alt.Chart(alt.Data(values=[]))


def _names(field: str = "label:N", limit: int = 220) -> Any:
    return altair().Y(field, sort=None, title=None).axis(labelLimit=limit)


def _share(channel: Any) -> Any:
    return channel.scale(domain=[0, 1]).axis(**SHARE)


@dataclass(frozen=True)
class CurvePoint:
    line: str
    x: float
    y: float
    control: bool = False
    panel: str = ""


def curves(
    name: str, title: str, description: str, knots: Sequence[CurvePoint], axes: tuple[str, str], shares: bool
) -> Chart:
    """Chart curves over a logarithmic axis, each labelled at its end.

    ``axes``: titles of the two axes. ``shares``: whether the values are shares of 1; otherwise their axis is
    logarithmic.
    """
    alt = altair()
    ends: dict[tuple[str, str], float] = {}
    for knot in knots:
        ends[knot.line, knot.panel] = max(knot.x, ends.get((knot.line, knot.panel), knot.x))
    rows: list[Spec] = [
        {
            "line": visible(knot.line),
            "x": knot.x,
            "y": knot.y,
            "kind": kind_of(knot.control),
            "panel": knot.panel,
            "end": visible(knot.line) if ends[knot.line, knot.panel] == knot.x else "",
        }
        for knot in knots
    ]
    x = alt.X("x:Q", title=axes[0]).scale(type="log").axis(values=sorted({knot.x for knot in knots}), format="~s")
    y = alt.Y("y:Q", title=axes[1])
    powers = [10.0**power for power in range(-3, 7)]
    y = _share(y) if shares else y.scale(type="log").axis(values=powers, format="~g")
    base = alt.Chart().encode(x=x, y=y, color=kind_colour(), detail="line:N")
    line = base.mark_line(strokeWidth=1.5, opacity=0.7)
    tips = [alt.Tooltip("line:N", title="name")]
    tips += [alt.Tooltip(f"{field}:Q", title=axis) for field, axis in zip("xy", axes, strict=True)]
    dot = base.mark_point(filled=True, size=50, opacity=1).encode(tooltip=tips)
    label = base.mark_text(align="left", dx=7, fontSize=11, limit=130).encode(text="end:N")
    panels = sorted({knot.panel for knot in knots}, key=lambda panel: (len(panel), panel))
    drawing = alt.layer(line, dot, label, data=alt.Data(values=[]))
    if len(panels) > 1:
        header = alt.Header(labelColor=INK, labelFontSize=12, labelOrient="top", labelAnchor="start", title=None)
        row = alt.Row("panel:N", title=None, sort=panels, header=header)
        drawing = drawing.properties(width=520, height=150).facet(row=row, spacing=24)
    else:
        drawing = drawing.properties(width=520, height=280)
    return Chart(name, title, description, finish(drawing, rows))


@dataclass(frozen=True)
class ValuePair:
    """Two values of one thing, each a share of 1."""

    label: str
    first: float
    second: float


def two_looks(name: str, title: str, description: str, ends: Sequence[ValuePair], names: tuple[str, str]) -> Chart:
    """Chart pairs of values joined by a line: an open point for the first, a filled one for the second.

    ``names``: names of the first and the second values.
    """
    alt = altair()
    rows: list[Spec] = [{"label": visible(e.label), "first": e.first, "second": e.second} for e in ends]
    tips = [alt.Tooltip("label:N", title="name")]
    for field, what in zip(("first:Q", "second:Q"), names, strict=True):
        tips.append(alt.Tooltip(field, title=what, format=".1%"))
    base = _base().encode(y=_names(), tooltip=tips)
    share = _share(alt.X("first:Q", title=f"○ {names[0]}   ● {names[1]}"))
    line = base.mark_rule(strokeWidth=2, opacity=0.5, color=ACCENT).encode(x=share, x2="second:Q")
    before = base.mark_point(size=70, color=ACCENT, opacity=1).encode(x=share)
    after = base.mark_point(filled=True, size=70, color=ACCENT, opacity=1).encode(x="second:Q")
    drawing = (line + before + after).properties(width=460, height={"step": 28})
    return Chart(name, title, description, finish(drawing, rows))


@dataclass(frozen=True)
class Slice:
    """A part of a whole."""

    bar: str
    part: str
    share: float


def parts(name: str, title: str, description: str, slices: Sequence[Slice]) -> Chart:
    """Chart shares of a whole as stacked bars, from the darkest part to the lightest; the last part is separate.

    ``slices``: the parts, those of each bar in order.
    """
    alt = altair()
    order = list(dict.fromkeys(piece.part for piece in slices))
    rows: list[Spec] = [
        {"bar": visible(piece.bar), "part": piece.part, "share": piece.share, "place": order.index(piece.part)}
        for piece in slices
    ]
    colours = [SHADES[min(place, len(SHADES) - 1)] for place in range(len(order) - 1)] + [CONTROL]
    bars = (
        _base()
        .mark_bar(height=18)
        .encode(
            x=_share(alt.X("share:Q", title=None)),
            y=_names("bar:N"),
            color=alt.Color("part:N", sort=order, title=None).scale(domain=order, range=colours),
            order="place:Q",
            tooltip=[alt.Tooltip("bar:N", title="name"), "part:N", alt.Tooltip("share:Q", format=".1%")],
        )
    )
    spec = finish(bars.properties(width=460, height={"step": 30}), rows)
    spec["config"]["legend"] = {"labelColor": INK, "orient": "bottom", "columns": 3, "symbolType": "square"}
    return Chart(name, title, description, spec)


_NEAR = 0.05
"""Distance of two ends of lines, as a share of the largest value, below which they share a label."""


@dataclass(frozen=True)
class DeclaredMark:
    """A value of a chart that a catalogue declares."""

    label: str
    at: str
    """Its place on the axis of a line; blank for a bar."""
    value: float
    kind: str
    """``system``, ``control`` or ``published``."""


def declared(
    name: str, title: str, description: str, marks: Sequence[DeclaredMark], axis: tuple[str, Sequence[str]], share: bool
) -> Chart:
    """Chart the values of a catalogue's chart: bars, or lines if the axis has values.

    ``axis``: title of the horizontal axis, and its values in order; none for bars. ``share``: whether the values are
    shares of 1.
    """
    alt = altair()
    heading, values = axis
    rows: list[Spec] = [
        {"label": visible(m.label), "at": m.at, "value": m.value, "kind": m.kind, "end": ""} for m in marks
    ]
    # Lines that end side by side share one label, because two would cover each other.
    reach = max((abs(m.value) for m in marks), default=0.0) * _NEAR or 1.0
    shared: dict[int, Spec] = {}
    for row in rows:
        if values and row["at"] == values[-1]:
            first = shared.setdefault(round(row["value"] / reach), row)
            first["end"] += f", {row['label']}" if first["end"] else row["label"]
    tips = [alt.Tooltip("label:N", title="name"), alt.Tooltip("value:Q", format=".1%" if share else "~g")]
    number = alt.Y("value:Q", title=None) if values else alt.X("value:Q", title=heading)
    if share:
        number = _share(number)
    if not values:
        bars = _base().mark_bar(height=14).encode(x=number, y=_names(limit=260), color=kind_colour(), tooltip=tips)
        return Chart(name, title, description, finish(bars.properties(width=460, height={"step": 24}), rows))
    place = alt.X("at:O", sort=list(values), title=heading).axis(labelAngle=0).scale(padding=0.2)
    base = _base().encode(x=place, y=number, color=kind_colour(), detail="label:N")
    line = base.mark_line(strokeWidth=1.5, opacity=0.7)
    dot = base.mark_point(filled=True, size=50, opacity=1).encode(tooltip=[*tips, alt.Tooltip("at:O", title=heading)])
    end = base.mark_text(align="left", dx=7, fontSize=11, limit=300).encode(text="end:N")
    return Chart(name, title, description, finish((line + dot + end).properties(width=460, height=260), rows))


RANKS_SHOWN = 40
"""Systems in the chart of ranks; the table has all."""


def rank_ranges(name: str, title: str, found: Sequence[OverallRow]) -> Chart:
    """Chart the rank of each system, with its range over drawn weightings and its ranks without each benchmark.

    ``found``: systems with a rank, in order. The first ``RANKS_SHOWN`` are drawn.
    """
    alt = altair()
    rows: list[Spec] = []
    for row in found[:RANKS_SHOWN]:
        if (stable := row.stability) is not None:
            label, (low, high) = {"label": visible(row.name)}, stable.middle
            ends = {"best": stable.best, "worst": stable.worst, "low": low, "high": high}
            rows += [label | ends | {"rank": row.rank}, *(label | {"without": each} for each in {*stable.without})]
    last = max((row["worst"] for row in rows if "worst" in row), default=2)
    tips = [alt.Tooltip("label:N", title="name"), *(f"{field}:Q" for field in ("rank", "best", "worst"))]
    ranks = alt.X("best:Q", title=None).scale(domain=[1, max(last, 2)]).axis(format="d", tickMinStep=1)
    base = _base().encode(y=_names())
    one, without = (base.transform_filter(f"isValid(datum.{field})") for field in ("rank", "without"))
    drawing = (
        one.mark_rule(color=INK, opacity=0.6).encode(x=ranks, x2="worst:Q")
        + one.mark_rule(color=ACCENT, strokeWidth=4, opacity=0.4, strokeCap="round").encode(x="low:Q", x2="high:Q")
        + without.mark_tick(color=INK, size=16).encode(x="without:Q")
        + one.mark_point(filled=True, color=ACCENT, size=80, opacity=1).encode(x="rank:Q", tooltip=tips)
    )
    description = "Rank of each system, with its range over other weights. The table on this page has the same numbers."
    return Chart(name, title, description, finish(drawing.properties(width=380, height={"step": 30}), rows))
