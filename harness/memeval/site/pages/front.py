"""The front page: one table per track."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memeval.records.settings import BoardSettings
from memeval.site import charts
from memeval.site.columns import Column, ColumnGroup
from memeval.site.downloads import as_csv, as_json
from memeval.site.figures import Figure, figure
from memeval.site.files import Asset, GeneratedFile, Heading, Page
from memeval.site.model import SiteModel
from memeval.site.publisher import Publisher
from memeval.site.rendering import render
from memeval.site.tables import TableView, point, view

HEADING = "Leaderboard of memory systems for AI agents"
DEFAULT_TITLE = BoardSettings().title


class FrontPage(Publisher):
    """The leaderboard."""

    name = "front"
    order = 10

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        views = sorted((view(site, table) for table in site.board.tables), key=lambda shown: not shown.headline)
        chosen = {shown.benchmark.id for shown in views if shown.headline}
        folded = [shown for shown in views if shown.benchmark.id in chosen and not shown.headline]
        figures = {shown.id: _against_tokens(shown) for shown in views}
        for shown in views:
            yield Asset(f"{shown.download}.csv", as_csv(shown.table, shown.columns))
            yield Asset(f"{shown.download}.json", as_json(shown.table, shown.columns))
        yield from (chart.asset() for chart in figures.values() if chart)
        items = sum(row.run.coverage.done for row in site.board.runs)
        yield Page(
            url="",
            title="Leaderboard",
            description="Memory systems for AI agents, compared under one fixed protocol: every number can be "
            "recomputed offline from the published files.",
            body=render(
                "pages/front.html",
                "",
                site=site,
                heading=HEADING if site.settings.title == DEFAULT_TITLE else site.settings.title,
                views=[shown for shown in views if shown not in folded],
                folded=folded,
                figures=figures,
                items=items,
                legend=_legend(views),
            ),
            headings=tuple(Heading(f"track-{shown.id}", shown.title) for shown in views),
            wide=True,
        )


def _legend(views: Sequence[TableView]) -> list[Column]:
    """Return the columns of all tables, each once, without those of single categories."""
    named = {column.name: column for shown in views for column in shown.columns}
    return [column for column in named.values() if column.group is not ColumnGroup.CATEGORIES]


def _against_tokens(shown: TableView) -> Figure | None:
    points = [
        point(line.row, line.row.run.system.name, line.row.run.tokens.per_question)
        for line in shown.lines
        if line.row.run.tokens.per_question is not None
    ]
    found = [p for p in points if p is not None]
    if len(found) < 2:
        return None
    title = f"{shown.title}: score against context size"
    return figure(charts.against_tokens(f"tokens-{shown.id}", title, found))
