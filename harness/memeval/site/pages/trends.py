"""Trends: how scores, tokens, dollars and latencies change from run to run."""

from __future__ import annotations

from collections.abc import Iterable

from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Heading, Page
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.trends.trend_files import as_csv
from memeval.site.trends.trend_groups import trends_of
from memeval.statistics.steps import LEAST_POINTS

DOWNLOAD = "downloads/trends.csv"


class TrendsPage(Publisher):
    """The page of trends."""

    name = "trends"
    order = 55

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        trends = trends_of(site)
        every = [each for group in trends.groups for view in group.views for each in view.trends]
        yield Asset(DOWNLOAD, as_csv(every).encode("utf-8", "replace"))
        yield Page(
            url="trends/",
            title="Trends",
            description="How scores, tokens, cost and latency of each system change from run to run.",
            body=render("pages/trends.html", "trends/", trends=trends, least=LEAST_POINTS, download=DOWNLOAD),
            headings=(
                *(Heading(group.anchor, group.title) for group in trends.groups),
                *((Heading("single", "One run so far"),) if trends.single else ()),
            ),
        )
