"""A page for each system, and a list of all systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memeval.conformance import CHECKS, SUITE
from memeval.leaderboard.board import BoardRow, BoardTable
from memeval.records.conformance import Conformance
from memeval.records.finding import RecountedClaim
from memeval.records.run import SystemKind
from memeval.site.charts import charts
from memeval.site.charts.charts import Point
from memeval.site.charts.figures import Figure, figure
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Heading, Page
from memeval.site.model.labels import INTERFACES
from memeval.site.model.urls import segment, system_url
from memeval.site.pages.badges import badge_of
from memeval.site.pages.claims import BADGES, claimed_text, counted_text
from memeval.site.pages.kept_files import kept_files, row_inputs
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.pages.system_results import SPENT, SystemResult, claims_about, headline_tables, system_results
from memeval.site.table.flags import observer
from memeval.site.table.judges import judge_note
from memeval.site.table.overview import overviews
from memeval.site.trends.trend_groups import trends_of
from memeval.statistics.steps import LEAST_POINTS
from memeval.systems.controls import all_controls


class SystemPages(Publisher):
    """Pages of systems."""

    name = "systems"
    order = 20

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        systems = [(slug, site.board.of_system(slug)) for slug in site.board.systems()]
        tables = headline_tables(overviews(site))
        listed = [(rows[0].run.system, rows, _standings(site, slug)) for slug, rows in systems]
        listed.sort(key=lambda entry: (entry[0].kind.value == "control", entry[0].name.lower()))
        yield Page(
            url="systems/",
            title="Systems",
            description="All systems on the leaderboard.",
            body=render("pages/systems.html", "systems/", site=site, listed=listed),
        )
        for slug, rows in systems:
            yield from self._system(site, slug, rows, tables)

    def _system(
        self, site: SiteModel, slug: str, rows: tuple[BoardRow, ...], tables: Sequence[BoardTable]
    ) -> Iterator[GeneratedFile]:
        system = rows[0].run.system
        page = SystemPage(
            site=site,
            slug=slug,
            rows=rows,
            standings=_standings(site, slug),
            results=system_results(site, tables, slug, system.kind),
            claims=[] if system.kind is SystemKind.CONTROL else claims_about(site, system.name),
        )
        yield from kept_files(system_url(slug), page.inputs(), page.made)


@dataclass(frozen=True)
class SystemPage:
    """All that the page of a system shows."""

    site: SiteModel
    """Of the site itself, only what :meth:`inputs` names."""
    slug: str
    rows: tuple[BoardRow, ...]
    """Its runs, newest first."""
    standings: list[tuple[BoardTable, BoardRow]]
    results: list[SystemResult]
    claims: list[RecountedClaim]

    def inputs(self) -> dict[str, object]:
        """Return all that the page depends on, as plain data: runs by their digests."""
        site, runs = self.site, {row.run.run_id for row in self.rows}
        return {
            "rows": [[*row_inputs(row), row.folder.has_rows] for row in self.rows],
            "judges": [repr(judge_note(site, table.track)) for table, _row in self.standings],
            "results": [
                [each.table.track.id, each.table.baseline and each.table.baseline.system.name]
                + [repr(part) for part in (each.better, each.worse, each.untested, each.evidence)]
                for each in self.results
            ],
            "claims": repr(self.claims),
            "submission": repr(site.submissions.get(self.slug)),
            "conformance": repr(site.conformance.get(self.slug)),
            "benchmarks": sorted({site.benchmark_of(row.run.track).described for row in self.rows}),
            "releases": [
                [release.version, release.date]
                + [[row.run_id, row.best_rank, row.worst_rank] for row in release.rows if row.run_id in runs]
                for release in site.releases
            ],
            "site": [site.version, site.settings.colours.data()],
        }

    def made(self) -> Iterator[Page | Asset]:
        """Yield the page, its charts and its badges."""
        site, rows, standings, results = self.site, self.rows, self.standings, self.results
        url, system, submission = system_url(self.slug), rows[0].run.system, site.submissions.get(self.slug)
        control = all_controls().get(self.slug) if system.kind is SystemKind.CONTROL else None
        summary = (submission.summary if submission else None) or (control.calibrates if control else None)
        categories = [(table, row, _categories(site, row)) for table, row in standings]
        for _table, _row, chart in categories:
            yield chart.asset()
        badges = [(table, badge) for table, row in standings if (badge := badge_of(site, table, row)) is not None]
        for _table, badge in badges:
            yield badge.asset()
        conformance = site.conformance.get(self.slug)
        tested = [] if control else results
        headings = [Heading("strengths", "Strengths and weaknesses")] if tested else []
        headings += [Heading("evidence", "Evidence")] if any(each.evidence for each in results) else []
        headings += [Heading("cost", "Cost and speed")] if results else []
        headings += [Heading("claims", "Published scores")] if self.claims else []
        headings += [Heading("matrix", "Results by benchmark"), Heading("categories", "Score by category")]
        if conformance:
            headings.append(Heading("conformance", "Conformance checks"))
        headings.append(Heading("trend", "Trends"))
        if badges:
            headings.append(Heading("badges", "Badges"))
        yield Page(
            url=url,
            title=system.name,
            description=summary or f"Results of {system.name}: all runs, by benchmark and category.",
            body=render(
                "pages/system.html",
                url,
                site=site,
                rows=rows,
                latest=rows[0].run,
                observed=observer(rows[0]),
                standings=[(table, row, judge_note(site, table.track)) for table, row in standings],
                categories=categories,
                trends=trends_of(site, self.slug),
                least=LEAST_POINTS,
                badges=badges,
                conformance=conformance,
                check_titles=_check_titles(conformance),
                interfaces=INTERFACES,
                submission=submission,
                summary=summary,
                tested=tested,
                results=results,
                spent=SPENT,
                claims=self.claims,
                claimed=claimed_text,
                counted_value=counted_text,
                verdict_badges=BADGES,
            ),
            headings=(*headings, Heading("runs", "All runs")),
        )


def _standings(site: SiteModel, slug: str) -> list[tuple[BoardTable, BoardRow]]:
    return [(table, row) for table in site.board.tables for row in table.rows if row.run.system.slug == slug]


def _categories(site: SiteModel, row: BoardRow) -> Figure:
    benchmark = site.benchmark_of(row.run.track)
    points = []
    for category in row.run.scores.categories:
        tally = category.tally
        if tally.accuracy is not None:
            low, high = (
                (tally.interval.low, tally.interval.high) if tally.interval else (tally.accuracy, tally.accuracy)
            )
            points.append(Point(benchmark.category_title(category.name), tally.accuracy, low, high, False))
    name = f"system-{segment(row.run.system.slug)}-{row.run.track_id}"
    return figure(charts.intervals(name, f"{row.run.system.name} on {benchmark.title}: score by category", points))


def _check_titles(report: Conformance | None) -> dict[str, str]:
    """Return what each check of a report tests; in today's words if its suite is today's."""
    if report is None:
        return {}
    today = {check.name: check.title for check in CHECKS if report.suite == SUITE}
    return {check.name: today.get(check.name, check.title) for check in report.checks}
