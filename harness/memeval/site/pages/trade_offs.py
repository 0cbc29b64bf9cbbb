"""Trade-offs: score against dollars, tokens, latency and ingestion time, a page for each table."""

from collections.abc import Iterable

from memeval.site.charts.trade_offs import COSTS, MARGIN, DrawnTradeOff, TradeOff, draw_trade_off, trade_offs
from memeval.site.model.content import SiteModel
from memeval.site.model.files import GeneratedFile, Heading, Page
from memeval.site.model.urls import trade_offs_url
from memeval.site.pages.product_results import headline_tables
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.table.overview import overviews
from memeval.site.table.tables import TableView, view


class TradeOffPages(Publisher):
    name = "trade-offs"
    order = 54

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        first = [table.track.id for table in headline_tables(overviews(site))]
        views = [view(site, table) for table in site.board.tables]
        views.sort(key=lambda each: first.index(each.id) if each.id in first else len(first))
        tables = [(each, found) for each in views if (found := list(trade_offs(each)))]
        for each, found in tables:
            drawn = [draw_trade_off(each, one) for one in found]
            yield from (one.chart.asset() for one in drawn if one.chart)
            yield _page(each, found, drawn)
        yield Page(
            url="trade-offs/",
            title="Trade-offs",
            description="The cheapest system within two points of the best, by dollars, tokens, latency and ingestion.",
            body=render("pages/trade_offs.html", "trade-offs/", tables=tables, margin=MARGIN),
            wide=True,
        )


def _page(shown: TableView, found: list[TradeOff], drawn: list[DrawnTradeOff]) -> Page:
    url = trade_offs_url(shown.id)
    names = {each.name for each in found}
    missing = [column for column in shown.columns if column.name in COSTS and column.name not in names]
    return Page(
        url=url,
        title=f"Trade-offs, {shown.title}",
        description=f"{shown.title}: score against dollars, tokens, latency and ingestion time.",
        body=render("pages/trade_off.html", url, view=shown, drawn=drawn, missing=missing, margin=MARGIN),
        headings=tuple(Heading(each.name, each.column.title) for each in found),
        searchable=False,
        wide=True,
    )
