"""The overall index: one number for each system over a suite of benchmarks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from memeval.leaderboard.overall import overall
from memeval.leaderboard.suites import read_suites
from memeval.records.base import canonical_json
from memeval.records.overall import Overall, OverallRow
from memeval.site.charts.rank_strip import SHOWN, rank_strip
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Heading, Page
from memeval.site.pages.overall_files import as_csv
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.pages.weighing import suite_weights

DOWNLOAD = "downloads/overall"


@dataclass(frozen=True)
class SuiteView:
    """A suite as the page shows it."""

    table: Overall
    anchor: str
    titles: tuple[str, ...]
    """Titles of the benchmarks, in the order of the suite."""
    protocols: tuple[str, ...]
    """Titles of their protocols."""
    strip: Markup | None
    """The chart of ranks; ``None`` with fewer than two ranked systems."""
    weights: Asset | None
    """The data for a reader's own weights; ``None`` if there is nothing to weigh."""

    @property
    def placed(self) -> list[OverallRow]:
        """The rows with an index."""
        return [row for row in self.table.rows if row.index is not None]

    @property
    def ranked(self) -> list[OverallRow]:
        """The rows with a rank."""
        return [row for row in self.table.rows if row.rank is not None]

    @property
    def rest(self) -> list[OverallRow]:
        """The rows without an index."""
        return [row for row in self.table.rows if row.index is None]

    @property
    def share_of_weights(self) -> list[float]:
        """The share of each benchmark in the index."""
        weights = [each.weight for each in self.table.suite.benchmarks]
        return [weight / sum(weights) for weight in weights]


class OverallPage(Publisher):
    """The page of the overall index."""

    name = "overall"
    order = 52

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        tables = [overall(site.board, suite) for suite in read_suites()]
        tables = [table for table in tables if table.rows]
        views = [_view(site, table) for table in tables]
        yield from (shown.weights for shown in views if shown.weights)
        data = {"schema_version": 1, "suites": [table.data() for table in tables]}
        yield Asset(f"{DOWNLOAD}.json", f"{canonical_json(data)}\n".encode("utf-8", "replace"))
        yield Asset(f"{DOWNLOAD}.csv", as_csv(tables).encode("utf-8", "replace"))
        yield Page(
            url="overall/",
            title="Overall",
            description="One index for each system over several benchmarks, and how stable its rank is.",
            body=render("pages/overall.html", "overall/", views=views, download=DOWNLOAD, charted=SHOWN),
            headings=tuple(Heading(view.anchor, view.table.suite.title) for view in views),
            wide=True,
        )


def _view(site: SiteModel, table: Overall) -> SuiteView:
    titles, protocols = [], []
    for each in table.suite.benchmarks:
        benchmark = site.benchmarks.get(each.benchmark)
        info = benchmark.info if benchmark else None
        titles.append(info.title if info else each.benchmark)
        known = {one.name: one.title for one in info.protocols} if info else {}
        protocols.append(known.get(each.protocol, each.protocol))
    ranked = [row for row in table.rows if row.rank is not None]
    anchor = table.suite.id.replace("@", "-")
    title = f"{table.suite.title}: ranks under {table.weightings:,} weightings of the benchmarks"
    return SuiteView(
        table=table,
        anchor=anchor,
        titles=tuple(titles),
        protocols=tuple(protocols),
        strip=rank_strip(ranked, title) if len(ranked) > 1 else None,
        weights=suite_weights(anchor, table, titles),
    )
