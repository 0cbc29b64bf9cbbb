"""The chart of the front page: the overall score against the context tokens of a question, wide and for a phone."""

from dataclasses import replace

from memeval.leaderboard.matrices import frontier
from memeval.records.scores import Interval
from memeval.site.charts.charts import Chart
from memeval.site.charts.scatter import Level, Plot, PlotSpot, scatter
from memeval.site.model import text
from memeval.site.model.products import ProductKind
from memeval.site.table.flags import FULL_CONTEXT
from memeval.site.table.overview import Overview, OverviewRow

SIZES = (("wide", 900, 340), ("phone", 280, 320))
"""The drawings: name, width and height in pixels. A phone shows the second."""


def overall_charts(overview: Overview) -> list[Chart]:
    """Return the same chart in each size; empty if fewer than two systems have an overall score and tokens."""
    spots = [spot for row in overview.indexed if (spot := _spot(row)) is not None]
    if len(spots) < 2 or overview.table is None:
        return []
    best = {place: number for number, place in enumerate(frontier([(each.cost, each.score) for each in spots]), 1)}
    levels = tuple(
        Level(f"{row.name} {text.percent(row.index)}", row.index)
        for row in overview.table.rows
        if row.is_control and row.index is not None and row.system in (overview.table.baseline, FULL_CONTEXT)
    )
    named = "; ".join(f"{spots[n].name}, {text.percent(spots[n].score)}, {text.count(spots[n].cost)}" for n in best)
    plots = [
        Plot(
            name=f"overall-{overview.measure.value}-{name}",
            title=f"{overview.measure.heading}: overall score against context tokens of a question",
            description=f"No system scores more with fewer tokens than these: {named}.",
            cost="Context tokens a question",
            spots=tuple(replace(spot, number=best.get(place)) for place, spot in enumerate(spots)),
            write=text.count,
            levels=levels,
            width=width,
            height=height,
            spread=5,
            numbered=False,
        )
        for name, width, height in SIZES
    ]
    return [scatter(plot) for plot in plots]


def _spot(row: OverviewRow) -> PlotSpot | None:
    index = row.index
    if index is None or index.index is None or not row.tokens:
        return None
    interval, is_product = None, row.kind is ProductKind.PRODUCT
    if index.low is not None and index.high is not None:
        interval = Interval(low=max(index.low, 0.0), high=min(index.high, 1.0))
    return PlotSpot(row.short, row.tokens, index.index, interval, True, None, is_product=is_product)
