"""Charts of other metrics of a benchmark: curves, pairs of values, and shares of a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memeval.site.charts.charts import ACCENT, CONTROL, INK, SHADES, Chart, Spec, altair, finish
from memeval.site.model.text import visible


@dataclass(frozen=True)
class CurvePoint:
    """A point of a curve."""

    line: str
    """Name of its curve."""
    x: float
    y: float
    control: bool = False
    panel: str = ""
    """Name of its panel."""


@dataclass(frozen=True)
class Slice:
    """A part of a whole."""

    bar: str
    """The whole that it is a part of."""
    part: str
    """Its name."""
    share: float


def curves(
    name: str, title: str, description: str, knots: Sequence[CurvePoint], axes: tuple[str, str], shares: bool
) -> Chart:
    """Chart curves over a logarithmic axis, each labelled at its end.

    Args:
        name: name of the chart in addresses.
        description: text for screen readers.
        axes: titles of the two axes.
        shares: whether the values are shares of 1; otherwise their axis is logarithmic.
    """
    alt = altair()
    ends = {
        (knot.line, knot.panel): max(k.x for k in knots if (k.line, k.panel) == (knot.line, knot.panel))
        for knot in knots
    }
    rows: list[Spec] = [
        {
            "line": visible(knot.line),
            "x": knot.x,
            "y": knot.y,
            "kind": "control" if knot.control else "system",
            "panel": knot.panel,
            "end": visible(knot.line) if ends[knot.line, knot.panel] == knot.x else "",
        }
        for knot in knots
    ]
    across = sorted({knot.x for knot in knots})
    kind = alt.Color("kind:N", legend=None).scale(domain=["system", "control"], range=[ACCENT, CONTROL])
    x = alt.X("x:Q", title=axes[0]).scale(type="log").axis(values=across, format="~s")
    y = alt.Y("y:Q", title=axes[1])
    if shares:
        y = y.scale(domain=[0, 1]).axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    else:
        y = y.scale(type="log").axis(values=[10.0**power for power in range(-3, 7)], format="~g")
    base = alt.Chart().encode(x=x, y=y, color=kind, detail="line:N")
    line = base.mark_line(strokeWidth=1.5, opacity=0.7)
    dot = base.mark_point(filled=True, size=50, opacity=1).encode(
        tooltip=[
            alt.Tooltip("line:N", title="name"),
            alt.Tooltip("x:Q", title=axes[0]),
            alt.Tooltip("y:Q", title=axes[1]),
        ]
    )
    label = base.mark_text(align="left", dx=7, fontSize=11, limit=130).encode(text="end:N")
    panels = sorted({knot.panel for knot in knots}, key=lambda panel: (len(panel), panel))
    drawing = alt.layer(line, dot, label, data=alt.Data(values=rows))
    if len(panels) > 1:
        header = alt.Header(labelColor=INK, labelFontSize=12, labelOrient="top", labelAnchor="start", title=None)
        drawing = drawing.properties(width=520, height=150).facet(
            row=alt.Row("panel:N", title=None, sort=panels, header=header), spacing=24
        )
    else:
        drawing = drawing.properties(width=520, height=280)
    return Chart(name, title, description, finish(drawing))


@dataclass(frozen=True)
class ValuePair:
    """Two values of one thing."""

    label: str
    first: float
    second: float


def two_looks(name: str, title: str, description: str, ends: Sequence[ValuePair], names: tuple[str, str]) -> Chart:
    """Chart pairs of values joined by a line: an open point for the first, a filled one for the second.

    Args:
        name: name of the chart in addresses.
        description: text for screen readers.
        ends: the pairs of values, each a share of 1.
        names: names of the first and the second values.
    """
    alt = altair()
    rows: list[Spec] = [{"label": visible(e.label), "first": e.first, "second": e.second} for e in ends]
    tooltip = [
        alt.Tooltip("label:N", title="name"),
        alt.Tooltip("first:Q", title=names[0], format=".1%"),
        alt.Tooltip("second:Q", title=names[1], format=".1%"),
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("label:N", sort=None, title=None).axis(labelLimit=220), tooltip=tooltip
    )
    share = alt.X("first:Q", title=f"○ {names[0]}   ● {names[1]}")
    share = share.scale(domain=[0, 1]).axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    line = base.mark_rule(strokeWidth=2, opacity=0.5, color=ACCENT).encode(x=share, x2="second:Q")
    before = base.mark_point(size=70, color=ACCENT, opacity=1).encode(x=share)
    after = base.mark_point(filled=True, size=70, color=ACCENT, opacity=1).encode(x="second:Q")
    return Chart(name, title, description, finish((line + before + after).properties(width=460, height={"step": 28})))


def parts(name: str, title: str, description: str, slices: Sequence[Slice]) -> Chart:
    """Chart shares of a whole as stacked bars, from the darkest part to the lightest; the last part is separate.

    Args:
        name: name of the chart in addresses.
        description: text for screen readers.
        slices: the parts, those of each bar in order.
    """
    alt = altair()
    order = list(dict.fromkeys(piece.part for piece in slices))
    rows: list[Spec] = [
        {"bar": visible(piece.bar), "part": piece.part, "share": piece.share, "place": order.index(piece.part)}
        for piece in slices
    ]
    colours = [SHADES[min(place, len(SHADES) - 1)] for place in range(len(order) - 1)] + [CONTROL]
    colour = alt.Color("part:N", sort=order, title=None).scale(domain=order, range=colours)
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(height=18)
        .encode(
            x=alt.X("share:Q", title=None).scale(domain=[0, 1]).axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1]),
            y=alt.Y("bar:N", sort=None, title=None).axis(labelLimit=220),
            color=colour,
            order="place:Q",
            tooltip=[alt.Tooltip("bar:N", title="name"), "part:N", alt.Tooltip("share:Q", format=".1%")],
        )
        .properties(width=460, height={"step": 30})
    )
    spec = finish(bars)
    spec["config"]["legend"] = {"labelColor": INK, "orient": "bottom", "columns": 3, "symbolType": "square"}
    return Chart(name, title, description, spec)


_NEAR = 0.05
"""Distance of two ends of lines, as a share of the largest value, below which they share a label."""


@dataclass(frozen=True)
class DeclaredMark:
    """A value of a chart that a catalogue declares."""

    label: str
    """Whose value it is."""
    at: str
    """Its place on the axis of a line; blank for a bar."""
    value: float
    kind: str
    """``system``, ``control`` or ``published``."""


def declared(
    name: str, title: str, description: str, marks: Sequence[DeclaredMark], axis: tuple[str, Sequence[str]], share: bool
) -> Chart:
    """Chart the values of a catalogue's chart: bars, or lines if the axis has values.

    Args:
        name: name of the chart in addresses.
        description: text for screen readers.
        marks: the values.
        axis: title of the horizontal axis, and its values in order; none for bars.
        share: whether the values are shares of 1.
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
    colour = alt.Color("kind:N", legend=None).scale(
        domain=["system", "control", "published"], range=[ACCENT, CONTROL, SHADES[-1]]
    )
    form = ".1%" if share else "~g"
    tooltip = [alt.Tooltip("label:N", title="name"), alt.Tooltip("value:Q", format=form)]
    number = alt.Y("value:Q", title=None) if values else alt.X("value:Q", title=heading)
    if share:
        number = number.scale(domain=[0, 1]).axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    data = alt.Data(values=rows)
    if not values:
        bars = (
            alt.Chart(data)
            .mark_bar(height=14)
            .encode(
                x=number, y=alt.Y("label:N", sort=None, title=None).axis(labelLimit=260), color=colour, tooltip=tooltip
            )
        )
        return Chart(name, title, description, finish(bars.properties(width=460, height={"step": 24})))
    place = alt.X("at:O", sort=list(values), title=heading).axis(labelAngle=0).scale(padding=0.2)
    base = alt.Chart().encode(x=place, y=number, color=colour, detail="label:N")
    line = base.mark_line(strokeWidth=1.5, opacity=0.7)
    dot = base.mark_point(filled=True, size=50, opacity=1).encode(
        tooltip=[*tooltip, alt.Tooltip("at:O", title=heading)]
    )
    end = base.mark_text(align="left", dx=7, fontSize=11, limit=300).encode(text="end:N")
    drawing = alt.layer(line, dot, end, data=data).properties(width=460, height=260)
    return Chart(name, title, description, finish(drawing))
