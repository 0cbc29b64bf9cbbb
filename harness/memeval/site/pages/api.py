"""JSON files for programs, under ``api/v1/``: they list the pages and downloads of the site."""

from __future__ import annotations

from collections.abc import Iterable

from memeval.exchange.parquet import has_pyarrow
from memeval.leaderboard.board import BoardRow, BoardTable
from memeval.records.api import (
    ApiBoard,
    ApiBoards,
    ApiFile,
    ApiIndex,
    ApiResult,
    ApiRun,
    ApiRuns,
    ApiSystem,
    ApiSystems,
)
from memeval.records.base import Stored
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile
from memeval.site.model.text import visible
from memeval.site.model.urls import benchmark_url, run_url, system_url
from memeval.site.pages.metadata import SCORES, SCORES_PARQUET
from memeval.site.pages.overall import DOWNLOAD as OVERALL
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.system_results import headline_tables
from memeval.site.pages.trends import DOWNLOAD as TRENDS
from memeval.site.table.overview import overviews

FOLDER = "api/v1/"


class ApiFiles(Publisher):
    """``index.json``, ``boards.json``, ``systems.json`` and ``runs.json``."""

    name = "api"
    order = 76

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        headline = {table.track.id for table in headline_tables(overviews(site))}
        boards = ApiBoards(boards=tuple(_board(site, table, headline) for table in site.board.tables))
        systems = ApiSystems(systems=tuple(_system(site, slug) for slug in site.board.systems()))
        runs = ApiRuns(runs=tuple(_run(row) for row in site.board.runs))
        index = ApiIndex(title=site.settings.title, release=site.version, latest=site.latest, files=tuple(_files(site)))
        for name, record in (("index", index), ("boards", boards), ("systems", systems), ("runs", runs)):
            yield Asset(f"{FOLDER}{name}.json", _content(record))


def _content(record: Stored) -> bytes:
    return f"{record.to_json()}\n".encode("utf-8", "replace")


def _files(site: SiteModel) -> Iterable[ApiFile]:
    """Yield the files that programs can read."""
    for name, what in (
        ("boards", "All tables, with the paths of their rows as JSON and CSV."),
        ("systems", "All systems, with their rank and score in each table."),
        ("runs", "All runs, with digests and the paths of their files."),
    ):
        yield ApiFile(path=f"{FOLDER}{name}.json", what=what, schema_path=f"schemas/api-{name}.schema.json")
    yield ApiFile(path=f"{OVERALL}.json", what="The overall index of each suite of benchmarks.")
    yield ApiFile(path=TRENDS, what="Scores, tokens and times of all runs in time order, as CSV.")
    if site.latest is not None:
        yield ApiFile(path=SCORES, what="All scores as one CSV table.")
        if has_pyarrow():
            yield ApiFile(path=SCORES_PARQUET, what="The same table as Parquet.")
    if site.findings is not None:
        schema = "schemas/findings.schema.json"
        yield ApiFile(path="findings.json", what="Published scores, counted again.", schema_path=schema)
    yield ApiFile(path="board.json", what="The settings of the board.", schema_path="schemas/settings.schema.json")
    yield ApiFile(path="feed.xml", what="Decisions about runs, as an Atom feed.")


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
        licence=visible(submission.licence) if submission else None,
        homepage=visible(submission.homepage) if submission else None,
        page=system_url(slug),
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
        low=composite.interval.low if composite.interval else None,
        high=composite.interval.high if composite.interval else None,
    )


def _run(row: BoardRow) -> ApiRun:
    run = row.run
    return ApiRun(
        run_id=run.run_id,
        system=run.system.slug,
        benchmark=run.track.benchmark,
        track_id=run.track_id,
        started=run.timing.started,
        standing=row.standing.value,
        score=run.scores.composite.value,
        grades=row.trust.grades.value,
        answers=row.trust.answers.value,
        accepted=row.accepted,
        page=run_url(run.run_id),
        head=f"{run_url(run.run_id)}files/run.json",
        digest=row.folder.digest,
    )
