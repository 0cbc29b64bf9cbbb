"""The compare page: two to four runs of a table, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Page, encode
from memeval.site.model.urls import segment
from memeval.site.pages.comparisons import FOLDER, comparison_files
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.table.tables import view


@dataclass(frozen=True)
class ComparedTable:
    """A table whose runs can be compared."""

    track: str
    """The track's name in addresses."""
    title: str
    runs: int
    """Number of runs that can be compared."""


class ComparePage(Publisher):
    """The page that compares runs, and its data."""

    name = "compare"
    order = 53

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        tables = []
        for table in site.board.tables:
            shown = view(site, table)
            files = list(comparison_files(shown))
            yield from files
            if files:
                tables.append(ComparedTable(segment(shown.id), shown.title, len(files) - 1))
        boards = [{"track": each.track, "title": each.title, "runs": each.runs} for each in tables]
        yield Asset(f"{FOLDER}/boards.json", encode(boards))
        yield Page(
            url="compare/",
            title="Compare",
            description="The difference between two systems, with its interval and p-value, by category and question.",
            body=render("pages/compare.html", "compare/", tables=tables),
            wide=True,
        )
