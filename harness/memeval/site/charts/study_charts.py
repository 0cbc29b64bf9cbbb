"""Charts of other metrics of a benchmark, and of ranks under other weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memeval.records.overall import OverallRow
from memeval.site.charts.charts import ACCENT, INK, SHARE, Chart, Spec, altair, finish, kind_colour
from memeval.site.model.text import visible


def _base() -> Any:
    alt = altair()
    return alt.Chart(alt.Data(values=[]))


def _names(limit: int = 220) -> Any:
    return altair().Y("label:N", sort=None, title=None).axis(labelLimit=limit)


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
        number = number.scale(domain=[0, 1]).axis(**SHARE)
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
