"""JSON files for programs, under ``api/v1/``: they list the pages and downloads of the site."""

import uuid
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from memeval.exchange.parquet import has_pyarrow
from memeval.leaderboard.board import BoardRow, BoardTable
from memeval.leaderboard.trends import StepFound
from memeval.records.api import (
    ApiBoard,
    ApiBoards,
    ApiFile,
    ApiIndex,
    ApiResult,
    ApiRun,
    ApiRuns,
    ApiStep,
    ApiSystem,
    ApiSystems,
    ApiTrend,
    ApiTrends,
    ApiVersion,
)
from memeval.records.base import Stored, digest_of
from memeval.records.ledger import LedgerEntry
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile
from memeval.site.model.text import percent, probability, signed_percent, visible
from memeval.site.model.urls import benchmark_url, run_url, system_url
from memeval.site.pages.metadata import SCORES, SCORES_PARQUET
from memeval.site.pages.overall import DOWNLOAD as OVERALL
from memeval.site.pages.pictures import score_words
from memeval.site.pages.product_results import headline_tables
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.trends import DOWNLOAD as TRENDS
from memeval.site.table.spending import total_cost
from memeval.site.trends.product_trends import ProductTrend, TrackTrend, shown_steps, trends_of

FOLDER = "api/v1/"


class ApiFiles(Publisher):
    name = "api"
    order = 76

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        headline = {table.track.id for table in headline_tables(site)}
        boards = ApiBoards(boards=tuple(_board(site, table, headline) for table in site.board.tables))
        systems = ApiSystems(systems=tuple(_system(site, slug) for slug in site.board.systems()))
        runs = ApiRuns(runs=tuple(_run(row) for row in site.board.runs))
        trends = ApiTrends(trends=tuple(_trends(site)))
        index = ApiIndex(title=site.settings.title, release=site.version, latest=site.latest, files=tuple(_files(site)))
        files: dict[str, Stored] = {
            "index": index,
            "boards": boards,
            "systems": systems,
            "runs": runs,
            "trends": trends,
        }
        for name, record in files.items():
            yield Asset(f"{FOLDER}{name}.json", f"{record.to_json()}\n".encode("utf-8", "replace"))


def _files(site: SiteModel) -> Iterable[ApiFile]:
    for name, what in (
        ("boards", "All tables, with the paths of their rows as JSON and CSV."),
        ("systems", "All systems, with their rank and score in each table."),
        ("runs", "All runs, with digests and the paths of their files."),
        ("trends", "The versions of each product on each track, with their steps."),
    ):
        yield ApiFile(path=f"{FOLDER}{name}.json", what=what, schema_path=f"schemas/api-{name}.schema.json")
    yield ApiFile(path=f"{OVERALL}.json", what="The overall index of each suite of benchmarks.")
    yield ApiFile(path=TRENDS, what="Every measure of each version of each product, as CSV.")
    if site.latest is not None:
        yield ApiFile(path=SCORES, what="All scores as one CSV table.")
        if has_pyarrow():
            yield ApiFile(path=SCORES_PARQUET, what="The same table as Parquet.")
    if site.findings is not None:
        schema = "schemas/findings.schema.json"
        yield ApiFile(path="findings.json", what="Published scores, counted again.", schema_path=schema)
    yield ApiFile(path="board.json", what="The settings of the board.", schema_path="schemas/settings.schema.json")
    yield ApiFile(path="feed.xml", what="Decisions about runs, and steps of products, as an Atom feed.")


def _board(site: SiteModel, table: BoardTable, headline: set[str]) -> ApiBoard:
    track, benchmark = table.track, site.benchmark_of(table.track)
    return ApiBoard(
        track_id=track.id,
        title=benchmark.track_title(track),
        benchmark=track.benchmark,
        benchmark_title=benchmark.title,
        headline=track.id in headline,
        protocol=track.protocol,
        tier=track.tier,
        reader=track.reader,
        judge=track.judge,
        items=track.planned,
        systems=len(table.rows),
        ranked=table.ranked,
        baseline=table.baseline.system.slug if table.baseline else None,
        page=benchmark_url(track.benchmark),
        json_path=f"downloads/{track.id}.json",
        csv_path=f"downloads/{track.id}.csv",
    )


def _system(site: SiteModel, slug: str) -> ApiSystem:
    latest = site.board.of_system(slug)[0].run.system
    submission = site.submissions.get(slug)
    return ApiSystem(
        slug=slug,
        name=visible(latest.name),
        version=visible(latest.version),
        kind=latest.kind.value,
        summary=visible(submission.summary) if submission else None,
        configured=visible(latest.configured),
        product=latest.product,
        configuration=latest.configuration,
        mock=latest.mock,
        adapter_licence=visible(submission.licence) if submission else None,
        homepage=visible(submission.homepage) if submission else None,
        page=site.products.address(system_url(slug)),
        results=tuple(_result(row) for table in site.board.tables for row in table.rows if row.run.system.slug == slug),
    )


def _result(row: BoardRow) -> ApiResult:
    composite = row.run.scores.composite
    return ApiResult(
        track_id=row.run.track_id,
        run_id=row.run.run_id,
        standing=row.standing.value,
        rank_best=row.rank.best if row.rank else None,
        rank_worst=row.rank.worst if row.rank else None,
        score=composite.value,
        low=composite.ends[0],
        high=composite.ends[1],
    )


def _run(row: BoardRow) -> ApiRun:
    run, cost = row.run, total_cost(row)
    return ApiRun(
        run_id=run.run_id,
        system=run.system.slug,
        benchmark=run.track.benchmark,
        track_id=run.track_id,
        started=run.timing.started,
        standing=row.standing.value,
        score=run.scores.composite.value,
        crashes=run.crashes,
        cost_usd=cost.value if isinstance(cost.value, float) else None,
        cost_note=cost.note,
        grades=row.trust.grades.value,
        answers=row.trust.answers.value,
        accepted=row.accepted,
        page=run_url(run.run_id),
        head=f"{run_url(run.run_id)}files/run.json",
        digest=row.folder.digest,
    )


def _trends(site: SiteModel) -> Iterable[ApiTrend]:
    for product in trends_of(site).products:
        for line in product.lines:
            yield ApiTrend(
                system=line.series.system,
                package=line.series.package,
                track_id=line.series.track.id,
                title=line.title,
                page=f"{product.group.url}#versions",
                versions=tuple(
                    ApiVersion(
                        version=visible(score.at.version),
                        released=score.at.released,
                        run_id=score.at.run.run_id if score.at.run else None,
                        gap=visible(score.at.gap),
                        score=score.value,
                        low=score.reading.low,
                        high=score.reading.high,
                        search_ratio=search.value,
                        ingest_ratio=ingest.value,
                    )
                    for score, search, ingest in zip(
                        line.score.points, line.search.points, line.ingest.points, strict=True
                    )
                ),
                change=line.changes.whole,
                steps=tuple(
                    ApiStep(
                        version=visible(line.versions[each.after.run_id]),
                        version_before=visible(line.versions[each.before.run_id]),
                        before=each.step.before,
                        after=each.step.after,
                        p=each.step.p,
                        page=line.url_of(each.after),
                    )
                    for each in line.changes.steps
                ),
            )


FEED = "feed.xml"

MOST = 100

NO_TIME = "2026-01-01T00:00:00+00:00"
"""Time of a feed without any data, which must have one."""


class FeedFile(Publisher):
    name = "feed"
    order = 61

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        rows = {row.run.run_id: row for row in site.board.runs}
        feed = Element("feed", {"xmlns": "http://www.w3.org/2005/Atom"})
        ledger, base = site.board.ledger, site.address or ""
        _text(feed, "title", f"{site.settings.title}: what changed")
        steps = list(shown_steps(trends_of(site)))[:MOST]
        times = [*(entry.at for entry in ledger), *(found.after.timing.ended for _product, _line, found in steps)]
        _text(feed, "id", _urn(f"feed:{_id(ledger[0]) if ledger else site.settings.title}"))
        _text(feed, "updated", max(times, default=site.latest or NO_TIME))
        SubElement(feed, "link", {"rel": "self", "type": "application/atom+xml", "href": base + FEED})
        SubElement(feed, "link", {"rel": "alternate", "type": "text/html", "href": f"{base}ledger/"})
        _text(SubElement(feed, "author"), "name", site.settings.title)
        for entry in reversed(ledger[-MOST:]):
            _entry(feed, entry, rows.get(entry.run_id or ""), site)
        for product, line, step in steps:
            _step_entry(feed, product, line, step, site)
        indent(feed)
        yield Asset(FEED, tostring(feed, encoding="utf-8", xml_declaration=True) + b"\n")


def _entry(feed: Element, entry: LedgerEntry, row: BoardRow | None, site: SiteModel) -> None:
    address, score = "ledger/" if entry.run_id else "releases/", ""
    what = f"run {entry.run_id}" if entry.run_id else f"release {entry.release_version}"
    if row is not None:
        address, run = run_url(row.run.run_id), row.run
        what = f"{run.system.name} {run.system.version} on {site.benchmark_of(run.track).title}"
        score = f"Score: {score_words(row)}. Track: {run.track_id}."
    words = " ".join(filter(None, [entry.reason, score]))
    _add(feed, f"{entry.event.value}: {what}", _id(entry), entry.at, entry.by, (site.address or "") + address, words)


def _step_entry(feed: Element, product: ProductTrend, line: TrackTrend, found: StepFound, site: SiteModel) -> None:
    step, version = found.step, line.versions[found.after.run_id]
    title = f"{product.group.name} {version}: {signed_percent(step.after - step.before)} points on {line.title}"
    address = (site.address or "") + (line.url_of(found.after) or f"{product.group.url}#versions")
    before, after = percent(step.before), percent(step.after)
    words = f"The score changed from {before} % to {after} % ({probability(step.p)})."
    name = _urn(f"step:{found.before.run_id}:{found.after.run_id}")
    _add(feed, title, name, found.after.timing.ended, site.settings.title, address, words)


def _add(feed: Element, title: str, name: str, updated: str, author: str, address: str, content: str) -> None:
    made = SubElement(feed, "entry")
    for tag, value in (("title", title), ("id", name), ("updated", updated)):
        _text(made, tag, value)
    _text(SubElement(made, "author"), "name", author)
    SubElement(made, "link", {"rel": "alternate", "type": "text/html", "href": address})
    _text(made, "content", content)


def _id(entry: LedgerEntry) -> str:
    return _urn(digest_of(entry.identity()))


def _urn(name: str) -> str:
    return uuid.uuid5(uuid.NAMESPACE_URL, f"memeval:ledger:{name}").urn


def _text(parent: Element, name: str, value: str) -> None:
    SubElement(parent, name).text = str(visible(value))
