"""Trade-offs: the best system of each table, and the cheapest one that is nearly as good."""

from collections.abc import Iterable

from memeval.site.charts.trade_offs import MARGIN, board_trade_off, trade_offs
from memeval.site.model.content import SiteModel
from memeval.site.model.files import GeneratedFile, Page
from memeval.site.pages.product_results import headline_tables
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.table.overview import overviews
from memeval.site.table.tables import view


class TradeOffPages(Publisher):
    name = "trade-offs"
    order = 54

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        first = [table.track.id for table in headline_tables(overviews(site))]
        views = [view(site, table) for table in site.board.tables]
        views.sort(key=lambda each: first.index(each.id) if each.id in first else len(first))
        drawn = (board_trade_off(each) for each in views)
        yield from (each.chart.asset() for each in drawn if each and each.chart)
        yield Page(
            url="trade-offs/",
            title="Trade-offs",
            description="The cheapest system within two points of the best, by dollars, tokens, latency and ingestion.",
            body=render(
                "pages/trade_offs.html",
                "trade-offs/",
                tables=[(each, found) for each in views if (found := list(trade_offs(each)))],
                margin=MARGIN,
            ),
            wide=True,
        )
