"""Trade-offs: the best system of each table, and the cheapest one that is nearly as good."""

from collections.abc import Iterable

from memeval.site.charts.trade_offs import MARGIN, board_trade_off, trade_offs
from memeval.site.model.content import SiteModel
from memeval.site.model.files import GeneratedFile, Page
from memeval.site.pages.product_results import views_from_headlines
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.table.overview import overviews


class TradeOffPages(Publisher):
    name = "trade-offs"
    order = 54

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        every = overviews(site)
        front = {column.table.track.id for each in every for column in each.columns if each.table}
        views = views_from_headlines(site)
        drawn = (board_trade_off(each) for each in views)
        yield from (each.chart.asset() for each in drawn if each and each.chart)
        tables = [(each, found) for each in views if (found := list(trade_offs(each)))]
        yield Page(
            url="trade-offs/",
            title="Trade-offs",
            description="The cheapest and fastest systems within two points of the best, by tokens, dollars and time.",
            body=render(
                "pages/trade_offs.html",
                "trade-offs/",
                overall=[(each, near) for each in every if (near := each.fewest_tokens(MARGIN))],
                tables=[pair for pair in tables if pair[0].id in front] or tables,
                others=[pair for pair in tables if front and pair[0].id not in front],
                margin=MARGIN,
            ),
            wide=True,
        )
