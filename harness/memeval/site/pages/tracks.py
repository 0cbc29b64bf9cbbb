"""The tracks: what must be equal before two numbers may be compared."""

from __future__ import annotations

from collections.abc import Iterable

from memeval.site.files import GeneratedFile, Heading, Page
from memeval.site.model import SiteModel
from memeval.site.publisher import Publisher
from memeval.site.rendering import render


class TracksPage(Publisher):
    """The page of tracks."""

    name = "tracks"
    order = 50

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        yield Page(
            url="tracks/",
            title="Tracks",
            description="What must be equal before two numbers may be compared, for every table on the board.",
            body=render("pages/tracks.html", "tracks/", site=site),
            headings=tuple(
                Heading(table.track.id, f"{site.benchmark_of(table.track).title} · {table.track.reader}")
                for table in site.board.tables
            ),
        )
