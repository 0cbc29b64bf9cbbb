"""Releases: frozen leaderboards."""

from __future__ import annotations

from collections.abc import Iterable

from memeval.site.files import GeneratedFile, Heading, Page
from memeval.site.model import SiteModel
from memeval.site.publisher import Publisher
from memeval.site.rendering import render
from memeval.site.urls import segment


class ReleasesPage(Publisher):
    """The page of releases."""

    name = "releases"
    order = 70

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        known = {row.run.run_id for row in site.board.runs}
        yield Page(
            url="releases/",
            title="Releases",
            description="Frozen versions of the leaderboard, with runs, ranks and digests.",
            body=render("pages/releases.html", "releases/", releases=site.releases, known=known, own=site.version),
            headings=tuple(Heading(f"v-{segment(r.version)}", r.version) for r in site.releases),
        )
