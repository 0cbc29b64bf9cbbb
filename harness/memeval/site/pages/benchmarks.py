"""A page for each benchmark: what it tests, how it was made and graded, and what is known to be wrong with it."""

from __future__ import annotations

from collections.abc import Iterable

from memeval.leaderboard.board import Row, Table
from memeval.records.run import SystemKind
from memeval.site.files import GeneratedFile, Heading, Page
from memeval.site.model import SiteModel
from memeval.site.publisher import Publisher
from memeval.site.rendering import render
from memeval.site.urls import benchmark_url


class BenchmarkPages(Publisher):
    """Pages of benchmarks."""

    name = "benchmarks"
    order = 40

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        yield Page(
            url="benchmarks/",
            title="Benchmarks",
            description="Every benchmark on the board.",
            body=render("pages/benchmarks.html", "benchmarks/", site=site, benchmarks=list(site.benchmarks.values())),
        )
        for benchmark in site.benchmarks.values():
            url = benchmark_url(benchmark.id)
            controls = [(table, _controls(table)) for table in benchmark.tables]
            yield Page(
                url=url,
                title=benchmark.title,
                description=f"What {benchmark.title} tests, how its data was made, and how it is graded.",
                body=render("pages/benchmark.html", url, site=site, benchmark=benchmark, controls=controls),
                headings=(
                    Heading("categories", "Categories"),
                    Heading("made", "How it was made"),
                    Heading("data", "Data"),
                    Heading("rules", "Other rules"),
                    Heading("controls", "Controls"),
                    Heading("defects", "Known defects"),
                ),
            )


def _controls(table: Table) -> list[Row]:
    return [row for row in table.rows if row.run.system.kind is SystemKind.CONTROL]
