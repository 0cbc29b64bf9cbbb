"""The tracks: everything that must be equal before two scores can be compared."""

from __future__ import annotations

from collections.abc import Iterable

from memeval.site.model.content import SiteModel
from memeval.site.model.files import GeneratedFile, Heading, Page
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render


class TracksPage(Publisher):
    """The page of tracks."""

    name = "tracks"
    order = 50

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        yield Page(
            url="tracks/",
            title="Tracks",
            description="The exact settings of every table. Scores of different tracks are not comparable.",
            body=render("pages/tracks.html", "tracks/", site=site),
            headings=tuple(
                Heading(table.track.id, site.benchmark_of(table.track).track_title(table.track))
                for table in site.board.tables
            ),
        )
