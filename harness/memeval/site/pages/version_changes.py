"""A page for each version whose answers differ from those of the version before, with the items that flipped."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from memeval.analysis.comparing import compare_runs
from memeval.archive.runs import RunFolder
from memeval.leaderboard.trends import NeighbourTest, StepFound
from memeval.records.comparison import Flip
from memeval.records.errors import MemevalError
from memeval.site.model.content import SiteModel
from memeval.site.model.files import GeneratedFile, Page
from memeval.site.model.urls import items_url
from memeval.site.pages.kept_files import kept_files
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.trends.product_trends import ProductTrend, TrackTrend, changed_url, trends_of

MOST_FLIPS = 100
"""Items of each direction that a page lists. The command that it shows lists all."""


@dataclass(frozen=True)
class VersionChange:
    product: ProductTrend
    line: TrackTrend
    test: NeighbourTest
    before: RunFolder
    after: RunFolder

    @property
    def step(self) -> StepFound | None:
        return self.line.step_of(self.after.run)

    @property
    def version(self) -> str:
        return self.line.versions[self.after.run.run_id]

    @property
    def version_before(self) -> str:
        return self.line.versions[self.before.run.run_id]

    @property
    def url(self) -> str:
        return changed_url(self.line.series, self.version)


class VersionChangePages(Publisher):
    name = "version-changes"
    order = 56

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        for product in trends_of(site).products:
            for line in product.lines:
                by_id = {folder.path.name: folder for folder in line.changes.folders}
                for test in line.changes.tests:
                    if test.difference is not None:
                        one, two = by_id[test.before.run_id], by_id[test.after.run_id]
                        change = VersionChange(product, line, test, one, two)
                        yield from kept_files(change.url, _inputs(site, change), partial(_made, site, change))


def _inputs(site: SiteModel, change: VersionChange) -> list[object]:
    return [
        [folder.digest for folder in (change.before, change.after)],
        [repr(change.product.group), change.line.title, repr(change.step), repr(change.test.difference)],
        [_shown_run(site, change), site.version, site.address, site.settings.data()],
    ]


def _shown_run(site: SiteModel, change: VersionChange) -> str | None:
    """Return the run whose items the board shows, to link them; ``None`` without one."""
    series = change.line.series
    rows = site.board.of_system(series.system)
    return next((row.run.run_id for row in rows if row.run.track_id == series.track.id), None)


def _made(site: SiteModel, change: VersionChange) -> Iterator[Page]:
    try:
        compared = compare_runs([change.before, change.after]).pairs[0]
    except MemevalError:
        return
    shown, view = _shown_run(site, change), site.benchmarks.get(change.after.run.track.benchmark)

    def item_link(flip: Flip) -> str | None:
        return None if shown is None else items_url(shown, flip.item_id)

    name = change.product.group.name
    yield Page(
        url=change.url,
        title=f"{name} {change.version} against {change.version_before}",
        description=f"Which items {name} {change.version} answers in another way than {change.version_before}.",
        body=render(
            "pages/version_change.html",
            change.url,
            site=site,
            change=change,
            compared=compared,
            item_link=item_link,
            category=(lambda name: name) if view is None else view.category_title,
            most=MOST_FLIPS,
        ),
    )
