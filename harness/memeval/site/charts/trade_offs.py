"""Score against cost: which systems no other system beats in both, in a table and on the front page."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from memeval.analysis.matrix_table import frontier
from memeval.leaderboard.board import BoardRow, RankStatus
from memeval.records.scores import Interval
from memeval.site.charts.charts import Chart
from memeval.site.charts.scatter import Level, Plot, PlotSpot, scatter, score_range
from memeval.site.model import text
from memeval.site.model.products import ProductKind
from memeval.site.table.columns import Column
from memeval.site.table.flags import FULL_CONTEXT
from memeval.site.table.overview import Overview, OverviewRow
from memeval.site.table.spending import TOKENS
from memeval.site.table.tables import TableView

COSTS = {
    "cost_per_question_usd": "",
    "tokens_per_question": " tokens",
    "ask_p50_seconds": "",
    "take_in_total_seconds": "",
}
"""Names of the columns that are drawn against the score, with what follows their numbers outside of a table."""

MARGIN = 0.02
"""A system within this of the best score is nearly as good."""


@dataclass(frozen=True)
class Spot(PlotSpot):
    row: BoardRow
    written: str
    """Its cost as text, with its unit."""


@dataclass(frozen=True)
class TradeOff:
    column: Column
    spots: tuple[Spot, ...]
    """The systems whose cost and score are known: the front, the cheapest first, then the others by score."""
    levels: tuple[Level, ...]
    """The controls, the highest score first."""
    unknown: tuple[str, ...]
    """Names of the systems whose cost is unknown."""

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def front(self) -> tuple[Spot, ...]:
        """The systems that no ranked system beats in score and cost, the cheapest first."""
        return tuple(spot for spot in self.spots if spot.number is not None)

    @property
    def best(self) -> Spot | None:
        """The ranked system with the highest score; the cheapest of several."""
        ranked = [spot for spot in self.spots if spot.is_ranked]
        return min(ranked, key=lambda spot: (-spot.score, spot.cost), default=None)

    @property
    def nearly_best(self) -> Spot | None:
        """The cheapest ranked system within ``MARGIN`` of the best score; the best scored of several."""
        best = self.best
        if best is None:
            return None
        near = [spot for spot in self.spots if spot.is_ranked and spot.score >= best.score - MARGIN - 1e-12]
        return min(near, key=lambda spot: (spot.cost, -spot.score))

    @property
    def same_cost(self) -> str | None:
        """The cost of all systems, if it is the same; there is nothing to draw then."""
        costs = {spot.written for spot in self.spots}
        return costs.pop() if len(costs) == 1 else None

    @property
    def description(self) -> str:
        front = "; ".join(f"{spot.name}, {100 * spot.score:.1f} %, {spot.written}" for spot in self.front)
        levels = "; ".join(f"{level.name} {100 * level.score:.1f} %" for level in self.levels)
        told = f"{len(self.spots)} systems. No ranked system is both cheaper and better than these: {front}."
        return told + (f" Controls, as lines: {levels}." if levels else "")


def trade_offs(view: TableView) -> Iterator[TradeOff]:
    """Yield the trade-offs of a table, for each cost that at least two systems have, one of them ranked."""
    columns = {column.name: column for column in view.columns}
    for name in COSTS:
        found = _trade_off(view, columns[name])
        if len(found.spots) > 1 and found.front:
            yield found


def _trade_off(view: TableView, column: Column) -> TradeOff:
    spots, unknown = [], []
    for row in (line.row for line in view.lines if not line.control):
        cell, score = column.cell(row), row.run.scores.composite
        if score.value is None or not row.run.coverage.full:
            continue
        cost, name = cell.reading.value, row.run.system.name
        if isinstance(cost, int | float):
            ranked, written = row.standing is RankStatus.RANKED, cell.text + COSTS[column.name]
            spots.append(Spot(name, float(cost), score.value, score.interval, ranked, None, row, written))
        else:
            unknown.append(name)
    ranked_spots = [spot for spot in spots if spot.is_ranked]
    front = [ranked_spots[place] for place in frontier([(spot.cost, spot.score) for spot in ranked_spots])]
    numbered = [replace(spot, number=number) for number, spot in enumerate(front, start=1)]
    rest = [spot for spot in spots if spot not in front]
    controls = [line.row for line in view.lines if line.control]
    levels = [Level(row.run.system.name, row.score) for row in controls if row.score is not None]
    return TradeOff(
        column=column,
        spots=(*numbered, *sorted(rest, key=lambda spot: (-spot.score, spot.cost))),
        levels=tuple(sorted(levels, key=lambda level: -level.score)),
        unknown=tuple(unknown),
    )


@dataclass(frozen=True)
class DrawnTradeOff:
    shown: TradeOff
    chart: Chart | None
    """``None`` if all systems cost the same."""
    outside: tuple[Spot, ...] = ()
    """Unranked systems outside of the range of the scores, which is fitted to the ranked ones."""


def draw_trade_off(view: TableView, shown: TradeOff) -> DrawnTradeOff:
    if shown.same_cost is not None:
        return DrawnTradeOff(shown, None)
    column, scores = shown.column, score_range(shown.spots)
    plot = Plot(
        name=f"trade-off-{view.id}-{column.name}",
        title=f"{view.title}: score against {column.title[:1].lower()}{column.title[1:]}",
        description=shown.description,
        cost=column.title,
        spots=shown.spots,
        write=column.write,
        levels=shown.levels,
    )
    return DrawnTradeOff(shown, scatter(plot), tuple(spot for spot in shown.spots if not scores.holds(spot.score)))


def board_trade_off(view: TableView) -> DrawnTradeOff | None:
    """Return the trade-off that stands below a table: tokens, if they differ."""
    found = next((each for each in trade_offs(view) if each.column is TOKENS and each.same_cost is None), None)
    return None if found is None else draw_trade_off(view, found)


SIZES = (("wide", 900, 340), ("phone", 280, 320))
"""The drawings: name, width and height in pixels. A phone shows the second."""


def overall_charts(overview: Overview) -> list[Chart]:
    """Return the same chart in each size; empty if fewer than two systems have an overall score and tokens."""
    spots = [spot for row in overview.indexed if (spot := _overall_spot(row)) is not None]
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


def _overall_spot(row: OverviewRow) -> PlotSpot | None:
    index = row.index
    if index is None or index.index is None or not row.tokens:
        return None
    interval, is_product = None, row.kind is ProductKind.PRODUCT
    if index.low is not None and index.high is not None:
        low, high = (min(max(end, 0.0), 1.0) for end in (index.low, index.high))
        interval = Interval(low=low, high=high)
    return PlotSpot(row.short, row.tokens, index.index, interval, True, None, is_product=is_product)
