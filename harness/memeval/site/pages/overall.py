"""The overall index: one number for each system over a suite of benchmarks, on a page and as CSV."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from memeval.archive.rows import csv_text
from memeval.leaderboard.overall import overall
from memeval.leaderboard.suites import read_suites
from memeval.records.base import canonical_json
from memeval.records.overall import Overall, OverallRow
from memeval.site.charts.charts import Chart
from memeval.site.charts.study_charts import RANKS_SHOWN, rank_ranges
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Heading, Page
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.pages.your_weights import suite_weights
from memeval.site.table.standings import tie_sentence

DOWNLOAD = "downloads/overall"


@dataclass(frozen=True)
class SuiteView:
    table: Overall
    anchor: str
    titles: tuple[str, ...]
    protocols: tuple[str, ...]
    strip: Chart | None
    """The chart of ranks; ``None`` with fewer than two ranked systems."""
    weights: Asset | None
    """The data for a reader's own weights; ``None`` if there is nothing to weigh."""

    @property
    def placed(self) -> list[OverallRow]:
        return [row for row in self.table.rows if row.index is not None]

    @property
    def ties(self) -> list[str]:
        names = {row.system: row.name for row in self.table.rows}
        return [tie_sentence(pair, names) for pair in self.table.tied_apart]

    @property
    def ranked(self) -> list[OverallRow]:
        return [row for row in self.table.rows if row.rank is not None]

    @property
    def rest(self) -> list[OverallRow]:
        return [row for row in self.table.rows if row.index is None]

    @property
    def share_of_weights(self) -> list[float]:
        weights = [each.weight for each in self.table.suite.benchmarks]
        return [weight / sum(weights) for weight in weights]


class OverallPage(Publisher):
    name = "overall"
    order = 52

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        tables = [overall(site.board, suite) for suite in read_suites()]
        tables = [table for table in tables if table.rows]
        views = [_view(site, table) for table in tables]
        yield from (shown.weights for shown in views if shown.weights)
        yield from (shown.strip.asset() for shown in views if shown.strip)
        data = {"schema_version": 1, "suites": [table.data() for table in tables]}
        yield Asset(f"{DOWNLOAD}.json", f"{canonical_json(data)}\n".encode("utf-8", "replace"))
        yield Asset(f"{DOWNLOAD}.csv", as_csv(tables).encode("utf-8", "replace"))
        yield Page(
            url="overall/",
            title="Overall",
            description="One index for each system over several benchmarks, and how stable its rank is.",
            body=render(
                "pages/overall.html", "overall/", site=site, views=views, download=DOWNLOAD, charted=RANKS_SHOWN
            ),
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
        strip=rank_ranges(f"ranks-{anchor}", title, ranked) if len(ranked) > 1 else None,
        weights=suite_weights(anchor, table, titles, site.products),
    )


COLUMNS = (
    "suite",
    "system",
    "name",
    "baseline",
    "versions",
    "index",
    "low",
    "high",
    "rank",
    "rank_best",
    "rank_worst",
    "against_baseline",
    "complete",
    "benchmarks",
    "weighting_best",
    "weighting_worst",
    "first_share",
    "reason",
)
"""Columns of every suite; a column for each benchmark follows, with the share of the gap."""


def as_csv(tables: Sequence[Overall]) -> str:
    """Return suites as CSV, one line a system. Unknown values are empty."""
    benchmarks = dict.fromkeys(track.chosen.benchmark for table in tables for track in table.tracks)
    return csv_text((*COLUMNS, *benchmarks), chain.from_iterable(map(_rows, tables)))


def _rows(table: Overall) -> Iterator[dict[str, Any]]:
    """Yield one row a system: ``COLUMNS``, then the share of the gap on each benchmark."""
    for row in table.rows:
        stable = row.stability
        yield {
            "suite": table.suite.id,
            "system": row.system,
            "name": row.name,
            "baseline": row.is_control,
            "versions": " ".join(row.versions),
            "index": row.index,
            "low": row.low,
            "high": row.high,
            "rank": row.rank,
            "rank_best": row.ranks[0] if row.ranks else None,
            "rank_worst": row.ranks[1] if row.ranks else None,
            "against_baseline": row.against_baseline,
            "complete": row.complete,
            "benchmarks": len(table.tracks),
            "weighting_best": stable.best if stable else None,
            "weighting_worst": stable.worst if stable else None,
            "first_share": stable.first if stable else None,
            "reason": row.reason,
            **{each.chosen.benchmark: share for each, share in zip(table.tracks, row.shares, strict=True)},
        }
