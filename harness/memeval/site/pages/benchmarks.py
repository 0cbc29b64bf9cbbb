"""A page for each benchmark: purpose, data, grading and known problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memeval.archive.audits import AuditFolder
from memeval.records.track import Redistribution
from memeval.site.charts.studies import studies
from memeval.site.charts.trade_offs import MARGIN, board_trade_off
from memeval.site.model.content import BenchmarkView, SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Heading, Page
from memeval.site.model.urls import benchmark_url, segment
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.pages.samples import sampled_data
from memeval.site.pages.system_results import headline_tables
from memeval.site.table.boards import board_views, download_files, legend
from memeval.site.table.judges import accepts, anchor, audits_of, by_kind, matrices_of, prompts_id
from memeval.site.table.overview import overviews
from memeval.site.table.tiers import tier_powers
from memeval.systems.controls import controls_of


class BenchmarkPages(Publisher):
    """Pages of benchmarks."""

    name = "benchmarks"
    order = 40

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        yield Page(
            url="benchmarks/",
            title="Benchmarks",
            description="All benchmarks on the leaderboard.",
            body=render("pages/benchmarks.html", "benchmarks/", site=site, benchmarks=list(site.benchmarks.values())),
        )
        front = {table.track.id for table in headline_tables(overviews(site))}
        for benchmark in site.benchmarks.values():
            yield from self._benchmark(site, benchmark, front)

    def _benchmark(self, site: SiteModel, benchmark: BenchmarkView, front: set[str]) -> Iterator[GeneratedFile]:
        url = benchmark_url(benchmark.id)
        audits = audits_of(site, benchmark.id)
        words = benchmark.redistribution is Redistribution.FULL
        catalogue, info = f"{url}catalogue.json", benchmark.info
        if info is not None:
            yield Asset(catalogue, (info.to_json() + "\n").encode())
        files = {
            folder.path: dict(_files(url, folder, words)) for found in audits for folder in (found.latest, *found.older)
        }
        for folder_path, found_files in files.items():
            yield from (Asset(path, folder_path / name) for name, path in found_files.items())
        shown = studies(site, benchmark)
        yield from (study.figure.asset() for study in shown)
        views = board_views(site, benchmark, front)
        traded = {each.id: board_trade_off(each) for each in views}
        yield from download_files(views)
        yield Page(
            url=url,
            title=benchmark.title,
            description=f"{benchmark.title}: scores of all systems, categories, data, grading and known problems.",
            body=render(
                "pages/benchmark.html",
                url,
                site=site,
                benchmark=benchmark,
                views=views,
                traded=traded,
                margin=MARGIN,
                legend=legend(views),
                catalogue=catalogue,
                powers=tier_powers(info, benchmark.tables) if info else (),
                tested=[table for table in benchmark.tables if table.tests is not None],
                studies=shown,
                own_weights=next(filter(None, (site.own_weights(table.track) for table in benchmark.tables)), None),
                control_table=controls_of(benchmark.id).values(),
                audits=audits,
                matrices=matrices_of(site, benchmark.id),
                sampled=sampled_data(benchmark) is not None,
                anchor=anchor,
                accepts=accepts,
                by_kind=by_kind,
                prompts_id=prompts_id,
                downloads=lambda folder: files[folder.path].items(),
            ),
            headings=tuple(_headings(benchmark, bool(shown))),
            wide=True,
        )


def _headings(benchmark: BenchmarkView, studied: bool) -> Iterator[Heading]:
    info = benchmark.info
    if benchmark.tables:
        yield Heading("board", "Board")
    yield Heading("categories", "Categories")
    if studied:
        yield Heading("studies", "Further results")
    if info is not None and info.example is not None:
        yield Heading("example", "Example")
    yield Heading("made", "Origin of the data")
    yield Heading("data", "Data")
    if info is not None:
        yield Heading("protocols", "Protocols")
        yield Heading("tiers", "Tiers")
    if any(table.tests for table in benchmark.tables):
        yield Heading("detectable", "Detectable differences")
    if info is not None and info.metrics:
        yield Heading("metrics", "Metrics")
    yield Heading("rules", "Other scoring rules")
    yield Heading("judges", "Grader audits")
    yield Heading("controls", "Controls")
    yield Heading("defects", "Known problems")


def _files(url: str, folder: AuditFolder, words: bool) -> Iterator[tuple[str, str]]:
    """Yield the downloadable files of an audit with their addresses; rows may contain private text."""
    offered = words or folder.audit.redistribution is Redistribution.IDS
    names = [folder.HEAD, *(f"{name}.gz" for name in sorted(folder.audit.files) if offered)]
    for name in names:
        path = folder.path / name
        if segment(name) == name and path.is_file() and not path.is_symlink():
            yield name, f"{url}audits/{segment(folder.audit.audit_id)}/{name}"
