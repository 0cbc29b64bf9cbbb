"""A page for each system, and a list of all systems."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memeval.conformance import CHECKS, SUITE
from memeval.leaderboard.board import BoardRow, BoardTable
from memeval.leaderboard.ranking import PairTest
from memeval.records.conformance import Conformance
from memeval.records.failure import EvidenceFound
from memeval.records.finding import RecountedClaim
from memeval.records.run import SystemKind
from memeval.records.scores import Tally
from memeval.site.charts.charts import Chart, Point, intervals
from memeval.site.items.failure_tables import run_failures
from memeval.site.model.content import BenchmarkView, SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Heading, Page
from memeval.site.model.labels import INTERFACES, label
from memeval.site.model.urls import segment, system_url
from memeval.site.pages.kept_files import kept_files, row_inputs
from memeval.site.pages.pictures import badge_of
from memeval.site.pages.published import BADGES, claimed_text, counted_text
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.table.columns import TableCell
from memeval.site.table.flags import observer
from memeval.site.table.judges import judge_note
from memeval.site.table.overview import Overview, overviews
from memeval.site.table.spending import SPENDING
from memeval.site.trends.trend_groups import trends_of
from memeval.statistics.steps import LEAST_POINTS
from memeval.systems.controls import all_controls


@dataclass(frozen=True)
class CategoryDifference:
    """A category in which a system differs significantly from the baseline."""

    title: str
    test: PairTest
    tally: Tally


@dataclass(frozen=True)
class EvidenceCounts:
    """How many items were answered correctly, by whether their evidence was found."""

    right: int
    wrong: int
    some: int
    none: int
    unknown: int
    """Items without known evidence, or of a system that does not say what it retrieved."""


@dataclass(frozen=True)
class SystemResult:
    """A system's run on the headline track of a benchmark."""

    benchmark: BenchmarkView
    table: BoardTable
    row: BoardRow
    better: tuple[CategoryDifference, ...]
    worse: tuple[CategoryDifference, ...]
    untested: str | None
    """Why it was not compared with a baseline; ``None`` if it was."""
    evidence: EvidenceCounts | None
    """``None`` if the rows are not on this machine, or say nothing about evidence."""

    @property
    def spent(self) -> tuple[TableCell, ...]:
        return tuple(column.cell(self.row) for column in SPENT)


_SHOWN = (
    "tokens_per_question",
    "cost_per_question_usd",
    "cost_take_in_usd",
    "ask_p50_seconds",
    "take_in_total_seconds",
)
SPENT = tuple(column for column in SPENDING if column.name in _SHOWN)

METHODS = frozenset({"bm25", "full", "last", "persona", "rag", "reflection", "vector"})
"""First words of names in claims that name a method, not a product."""


def headline_tables(overviews: Iterable[Overview]) -> list[BoardTable]:
    found = {column.table.track.id: column.table for overview in overviews for column in overview.columns}
    return list(found.values())


def system_results(site: SiteModel, tables: Iterable[BoardTable], slug: str, kind: SystemKind) -> list[SystemResult]:
    return [
        _result(site, table, row)
        for table in tables
        for row in table.rows
        if row.run.system.slug == slug and row.run.system.kind is kind
    ]


def _result(site: SiteModel, table: BoardTable, row: BoardRow) -> SystemResult:
    benchmark = site.benchmark_of(table.track)
    untested = _untested(benchmark, table, row)
    apart = [] if untested else _apart(benchmark, table, row)
    return SystemResult(
        benchmark=benchmark,
        table=table,
        row=row,
        better=tuple(each for each in apart if each.test.difference > 0),
        worse=tuple(each for each in apart if each.test.difference < 0),
        untested=untested,
        evidence=_evidence(site, row),
    )


def _untested(benchmark: BenchmarkView, table: BoardTable, row: BoardRow) -> str | None:
    if row.rank is None:
        return f"not compared: the run has no rank ({label(row.standing)})"
    if table.baseline is None:
        protocol = benchmark.protocol(table.track)
        calls = f", and the protocol needs {' and '.join(protocol.needs)}" if protocol and protocol.needs else ""
        return f"not compared: no simple baseline ran here{calls}"
    return "not compared: there are no tests" if row.against_baseline is None else None


def _apart(benchmark: BenchmarkView, table: BoardTable, row: BoardRow) -> list[CategoryDifference]:
    if table.tests is None or table.baseline is None:
        return []
    base = next(each for each in table.rows if each.run is table.baseline)
    own, other = row.folder.path, base.folder.path
    tallies = {each.name: each.tally for each in row.run.scores.categories}
    found = [
        CategoryDifference(benchmark.category_title(name), table.tests.pair(own, other, name), tallies[name])
        for name in table.tests.names[1:]
    ]
    return sorted((each for each in found if each.test.apart), key=lambda each: -abs(each.test.difference))


def _evidence(site: SiteModel, row: BoardRow) -> EvidenceCounts | None:
    failures = run_failures(site, row)
    if failures is None:
        return None
    lines = {line.found: line for line in failures.summary.found}

    def items(found: EvidenceFound) -> int:
        return lines[found].right + lines[found].wrong if found in lines else 0

    counts = EvidenceCounts(
        right=lines[EvidenceFound.ALL].right if EvidenceFound.ALL in lines else 0,
        wrong=lines[EvidenceFound.ALL].wrong if EvidenceFound.ALL in lines else 0,
        some=items(EvidenceFound.SOME),
        none=items(EvidenceFound.NONE),
        unknown=items(EvidenceFound.UNKNOWN),
    )
    return counts if counts.right + counts.wrong + counts.some + counts.none else None


def claims_about(site: SiteModel, name: str) -> list[RecountedClaim]:
    """Return the published scores of a product.

    The first word of both names must be equal: a claim about “Mem0, run by MIRIX” belongs to “mem0 (open source)”.
    """
    product = _first_word(name)
    if not product or product in METHODS or site.findings is None:
        return []
    return [finding for finding in site.findings.findings if _first_word(finding.claim.system) == product]


def _first_word(name: str) -> str:
    found = re.match(r"[^\s,(:]+", name.strip())
    return found[0].casefold() if found else ""


class SystemPages(Publisher):
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
    site: SiteModel
    """Of the site itself, only what :meth:`inputs` names."""
    slug: str
    rows: tuple[BoardRow, ...]
    standings: list[tuple[BoardTable, BoardRow]]
    results: list[SystemResult]
    claims: list[RecountedClaim]

    def _waits(self) -> dict[str, str]:
        """Return why claims are not published yet, by id."""
        found = self.site.waits.claims
        return {one.claim.id: found[one.claim.id] for one in self.claims if one.claim.id in found}

    def inputs(self) -> dict[str, object]:
        site, runs = self.site, {row.run.run_id for row in self.rows}
        return {
            "rows": [[*row_inputs(row), row.folder.has_rows] for row in self.rows],
            "judges": [repr(judge_note(site, table.track)) for table, _row in self.standings],
            "results": [
                [each.table.track.id, each.table.baseline and each.table.baseline.system.name]
                + [repr(part) for part in (each.better, each.worse, each.untested, each.evidence)]
                for each in self.results
            ],
            "claims": repr([self.claims, self._waits()]),
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
                waits=self._waits(),
                claimed=claimed_text,
                counted_value=counted_text,
                verdict_badges=BADGES,
            ),
            headings=(*headings, Heading("runs", "All runs")),
        )


def _standings(site: SiteModel, slug: str) -> list[tuple[BoardTable, BoardRow]]:
    return [(table, row) for table in site.board.tables for row in table.rows if row.run.system.slug == slug]


def _categories(site: SiteModel, row: BoardRow) -> Chart:
    benchmark = site.benchmark_of(row.run.track)
    points = []
    for category in row.run.scores.categories:
        tally = category.tally
        if tally.accuracy is not None:
            low, high = (
                (tally.interval.low, tally.interval.high) if tally.interval else (tally.accuracy, tally.accuracy)
            )
            points.append(Point(benchmark.category_title(category.name), tally.accuracy, low, high))
    name = f"system-{segment(row.run.system.slug)}-{row.run.track_id}"
    return intervals(name, f"{row.run.system.name} on {benchmark.title}: score by category", points)


def _check_titles(report: Conformance | None) -> dict[str, str]:
    """Return what each check of a report tests; in today's words if its suite is today's."""
    if report is None:
        return {}
    today = {check.name: check.title for check in CHECKS if report.suite == SUITE}
    return {check.name: today.get(check.name, check.title) for check in report.checks}
