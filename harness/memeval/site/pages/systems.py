"""A page for each product, with all its configurations, and a list of all products."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memeval.conformance import CHECKS, SUITE
from memeval.leaderboard.board import BoardRow, BoardTable, RankStatus
from memeval.records.conformance import CheckOutcome, Conformance
from memeval.records.finding import RecountedClaim
from memeval.records.run import SystemIdentity
from memeval.records.submission import Configuration, Submission, configuration_text
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Page
from memeval.site.model.labels import INTERFACES
from memeval.site.model.products import ProductGroup, ProductKind
from memeval.site.pages.citing import row_bibtex
from memeval.site.pages.kept_files import kept_files, row_inputs
from memeval.site.pages.pictures import badge_of, product_picture
from memeval.site.pages.product_results import (
    SPENT,
    Probe,
    SystemResult,
    claims_about,
    headline_tables,
    probes_of,
    system_results,
    verdict_of,
)
from memeval.site.pages.published import BADGES, claimed_text, counted_text
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.table.flags import observer
from memeval.site.table.judges import JudgeNote, judge_note
from memeval.site.table.tables import needs
from memeval.site.table.write_costs import WriteCost, write_cost
from memeval.site.trends.product_trends import ProductTrend, trends_of
from memeval.site.trends.version_charts import written
from memeval.systems.controls import all_controls

CLAIMS_SHOWN = 4
"""Published scores that are shown at once; more are folded."""


class SystemPages(Publisher):
    name = "systems"
    order = 20

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        tables = headline_tables(site)
        trends = trends_of(site)
        pages = [ProductPage.of(site, group, tables, trends.of(group)) for group in site.products.groups]
        yield Page(
            url="systems/",
            title="Products",
            description="All products, libraries, reference systems and controls on the leaderboard.",
            body=render("pages/systems.html", "systems/", site=site, kinds=tuple(ProductKind), pages=pages),
        )
        for page in pages:
            yield from kept_files(page.group.url, page.inputs(), page.made)


@dataclass(frozen=True)
class ConfigurationView:
    said: SystemIdentity | Submission
    """The system of the latest run, or the submission if it did not run."""
    rows: tuple[BoardRow, ...]
    """Newest first."""
    standings: tuple[tuple[BoardTable, BoardRow], ...]
    results: tuple[SystemResult, ...]
    probes: tuple[Probe, ...]
    submission: Submission | None
    conformance: Conformance | None
    write_cost: WriteCost | None
    """What writing 1,000 messages costs; ``None`` without a complete run."""

    @property
    def version(self) -> str:
        return (self.said.product.version if self.said.product else None) or self.said.version

    @property
    def stated(self) -> Configuration:
        return self.said.configuration or Configuration()

    @property
    def settings(self) -> str:
        """What ran, without product and version; empty if not stated."""
        return (configuration_text("", "", None, self.stated) or "").partition(" · ")[2]

    @property
    def checks(self) -> dict[CheckOutcome, int]:
        """How many conformance checks had each outcome."""
        found = [check.outcome for check in self.conformance.checks] if self.conformance else []
        return {outcome: found.count(outcome) for outcome in CheckOutcome if outcome in found}

    @property
    def check_titles(self) -> dict[str, str]:
        """What each check of its report tests; in today's words if its suite is today's."""
        report = self.conformance
        if report is None:
            return {}
        today = {check.name: check.title for check in CHECKS if report.suite == SUITE}
        return {check.name: today.get(check.name, check.title) for check in report.checks}


def _configuration(site: SiteModel, tables: Sequence[BoardTable], slug: str) -> ConfigurationView:
    rows = site.board.of_system(slug)
    standings = [(table, row) for table in site.board.tables for row in table.rows if row.run.system.slug == slug]
    return ConfigurationView(
        said=rows[0].run.system if rows else site.submissions[slug],
        rows=rows,
        standings=tuple(standings),
        results=tuple(system_results(site, tables, slug, rows[0].run.system.kind)) if rows else (),
        probes=tuple(probes_of(site, standings)),
        submission=site.submissions.get(slug),
        conformance=site.conformance.get(slug),
        write_cost=write_cost(site, rows),
    )


def _weight(view: ConfigurationView) -> tuple[bool, bool, int]:
    return any(row.standing is RankStatus.RANKED for row in view.rows), not view.said.mock, len(view.rows)


@dataclass(frozen=True)
class ProductPage:
    site: SiteModel
    """Of the site itself, only what :meth:`inputs` names."""
    group: ProductGroup
    views: tuple[ConfigurationView, ...]
    """Its configurations: first the one that the page is about, with a rank and the most runs."""
    claims: tuple[RecountedClaim, ...]
    trend: ProductTrend | None = None
    """Its versions; ``None`` if only one was measured."""

    @classmethod
    def of(
        cls, site: SiteModel, group: ProductGroup, tables: Sequence[BoardTable], trend: ProductTrend | None = None
    ) -> "ProductPage":
        views = sorted((_configuration(site, tables, slug) for slug in group.systems), key=_weight, reverse=True)
        claims = () if group.kind is ProductKind.CONTROL else claims_about(site, group.name)
        return cls(site, group, tuple(views), tuple(claims), trend)

    @property
    def main(self) -> ConfigurationView:
        return self.views[0]

    @property
    def verdict(self) -> str:
        control = all_controls().get(self.group.slug)
        if self.group.kind is ProductKind.CONTROL:
            return control.calibrates if control else "A baseline that memeval ships."
        if self.main.rows:
            return verdict_of(self.main.results, self.main.probes, self.main.stated.caveats)
        hosts = self.main.submission.hosts if self.main.submission else ()
        if not hosts:
            return "Not measured here yet. Its adapter is ready, and anybody can run it."
        keys = " and ".join(host.key or host.host for host in hosts)
        return f"Not measured here yet: it runs at its vendor's service, which needs a key ({keys})."

    @property
    def judges(self) -> dict[str, JudgeNote]:
        """Who grades each track on the board, and what its audit says, by track."""
        tracks = [table.track for view in self.views for table, _row in view.standings]
        return {track.id: judge_note(self.site, track) for track in tracks}

    def _waits(self) -> dict[str, str]:
        """Return why claims are not published yet, by id."""
        found = self.site.waits.claims
        return {one.claim.id: found[one.claim.id] for one in self.claims if one.claim.id in found}

    @property
    def rows(self) -> list[BoardRow]:
        return [row for view in self.views for row in view.rows]

    def inputs(self) -> dict[str, object]:
        site, rows = self.site, self.rows
        return {
            "group": repr(self.group),
            "rows": [[*row_inputs(row), row.folder.has_rows] for row in rows],
            "results": [
                [each.table.track.id, each.table.baseline and each.table.baseline.run_id]
                + [each.table.baseline and each.table.baseline.system.name]
                + [repr(part) for part in (each.better, each.worse, each.untested, each.evidence)]
                for view in self.views
                for each in view.results
            ],
            "judges": repr(self.judges),
            "writing": [(cost.said, cost.row.run.run_id) for view in self.views if (cost := view.write_cost)],
            "claims": repr([self.claims, self._waits()]),
            "submissions": repr([[view.submission, view.conformance] for view in self.views]),
            "benchmarks": sorted({site.benchmark_of(row.run.track).described for row in rows}),
            "versions": self.trend.inputs if self.trend else [],
            "release": site.release and site.release.date,
            "site": [site.version, site.address, site.settings.data()],
        }

    def made(self) -> Iterator[Page | Asset]:
        site, main, url = self.site, self.main, self.group.url
        badges = [(table, badge) for table, row in main.standings if (badge := badge_of(site, table, row)) is not None]
        yield from (badge.asset() for _table, badge in badges)
        picture = product_picture(site, self.group, main.results, self.verdict)
        yield from [picture] if picture else []
        rows = self.rows
        seen = [row.run.timing.started for row in rows]
        body = render(
            "pages/system.html",
            url,
            site=site,
            page=self,
            main=main,
            observed=observer(main.rows[0]) if main.rows else None,
            needs=needs(main.rows[0].run) if main.rows else None,
            measured=(min(seen)[:10], max(seen)[:10]) if seen else None,
            judges=self.judges,
            benchmarks=len({row.run.track.benchmark for row in rows}),
            cites=[(each, row_bibtex(site, each.benchmark.title, each.row)) for each in main.results],
            written=written,
            badges=badges,
            interfaces=INTERFACES,
            spent=SPENT,
            timed=[each for each in main.results if each.is_timed],
            waits=self._waits(),
            claimed=claimed_text,
            counted_value=counted_text,
            verdict_badges=BADGES,
            claims_shown=CLAIMS_SHOWN,
        )
        yield Page(
            url=url,
            title=self.group.name,
            description=self.verdict,
            body=body,
            wide=True,
            picture=picture.path if picture else None,
        )
