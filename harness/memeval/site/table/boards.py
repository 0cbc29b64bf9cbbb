"""The tables of a benchmark: one for each track, the headline track first, with their downloads and charts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from memeval.site.model.content import BenchmarkView, SiteModel
from memeval.site.model.files import Asset
from memeval.site.table.columns import Column, ColumnGroup
from memeval.site.table.downloads import as_csv, as_json
from memeval.site.table.tables import TableView, view


def board_views(site: SiteModel, benchmark: BenchmarkView, front: Collection[str]) -> list[TableView]:
    """Return the tables of a benchmark: the headline tracks, then the one with the most ranked systems.

    Args:
        site: all runs.
        front: the tracks that the front page shows. They come after the headline track of the settings.
    """
    views = [view(site, table) for table in benchmark.tables]

    def order(shown: TableView) -> tuple[bool, bool, int, int]:
        return not shown.headline, shown.id not in front, -shown.table.ranked, -len(shown.lines)

    return sorted(views, key=order)


def legend(views: Sequence[TableView]) -> list[Column]:
    """Return the columns of tables, each once, without those of single categories."""
    named = {column.name: column for shown in views for column in shown.columns}
    return [column for column in named.values() if column.group is not ColumnGroup.CATEGORIES]


def download_files(views: Sequence[TableView]) -> Iterator[Asset]:
    """Yield each table as CSV and JSON."""
    for shown in views:
        yield Asset(f"{shown.download}.csv", as_csv(shown.table, shown.columns))
        yield Asset(f"{shown.download}.json", as_json(shown.table, shown.columns))
