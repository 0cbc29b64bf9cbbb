"""The front page: who leads, how sure that is, and systems by benchmarks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from memeval.archive.rows import csv_text
from memeval.exchange.parquet import has_pyarrow
from memeval.records.base import canonical_json
from memeval.records.ledger import LedgerEvent
from memeval.records.run import Run, SystemKind
from memeval.records.settings import BoardSettings
from memeval.site.charts.trade_offs import overall_charts
from memeval.site.model import text
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Heading, Page
from memeval.site.model.urls import run_url, system_url
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.table.capabilities import as_rows, capability_rows, differing
from memeval.site.table.overview import Overview, OverviewColumn, OverviewRow, on_front, overviews, verdict
from memeval.site.table.tab_tables import tab_tables

HEADING = "Memory systems for AI agents, measured"
DEFAULT_TITLE = BoardSettings().title

NEWS = 7

_EVENTS = {
    LedgerEvent.ACCEPTED: "accepted",
    LedgerEvent.INVALIDATED: "invalidated",
    LedgerEvent.SUPERSEDED: "superseded",
    LedgerEvent.REPLIED: "vendor replied:",
}
"""The events of the ledger that are news, as on the page."""


@dataclass(frozen=True)
class News:
    day: str
    what: str
    name: str
    url: str | None
    where: str


class FrontPage(Publisher):
    name = "front"
    order = 10

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        shown = on_front(overviews(site))
        downloads = {each.measure: f"downloads/overview-{each.measure.value}" for each in shown}
        for each in shown:
            rows = [_data(each, row) for row in each.rows]
            yield Asset(f"{downloads[each.measure]}.csv", _as_csv(rows))
            content = {"schema_version": 1, "measure": each.measure.value, "rows": rows}
            yield Asset(f"{downloads[each.measure]}.json", f"{canonical_json(content)}\n".encode("utf-8", "replace"))
        charts = {each.measure: overall_charts(each) for each in shown}
        yield from (chart.asset() for found in charts.values() for chart in found)
        capabilities = capability_rows(site)
        if capabilities:
            yield Asset("downloads/capabilities.csv", _as_csv(as_rows(capabilities)))
        tabs = tab_tables(site)
        yield from (Asset(each.download, _as_csv(rows)) for each in tabs if (rows := each.data()))
        yield from (Asset(each.measures_download, _as_csv(rows)) for each in tabs if (rows := each.measures_data()))
        yield Page(
            url="",
            title="Leaderboard",
            description="Memory systems for AI agents, compared under one fixed protocol: every number can be "
            "recomputed offline from the published files.",
            body=render(
                "pages/front.html",
                "",
                site=site,
                heading=HEADING if site.settings.title == DEFAULT_TITLE else site.settings.title,
                overviews=shown,
                verdicts={each.measure: verdict(each) for each in shown},
                charts=charts,
                capabilities=capabilities,
                able_columns=differing(capabilities) if capabilities else ([], []),
                tabs=tabs,
                downloads=downloads,
                has_parquet=has_pyarrow(),
                judged=any(each.has_judge for each in shown),
                items=sum(row.run.coverage.done - row.run.scores.overall.errors for row in site.board.runs),
                news=_news(site),
                by_category=_with_categories(shown),
            ),
            headings=tuple(Heading(each.measure.value, each.measure.heading) for each in shown),
            wide=True,
        )


def _with_categories(shown: Sequence[Overview]) -> list[OverviewColumn]:
    columns = [column for each in shown for column in each.columns if len(column.table.track.categories) > 1]
    return list({column.benchmark.id: column for column in reversed(columns)}.values())[::-1]


def _news(site: SiteModel) -> list[News]:
    """Return the newest events of the ledger, one line for each day, event and system."""
    runs = {row.run.run_id: row.run for row in site.board.runs}
    events = [
        (text.day(entry.at), entry.event, runs[entry.run_id])
        for entry in site.board.ledger
        if entry.event in _EVENTS
        and entry.run_id is not None
        and entry.run_id in runs
        and runs[entry.run_id].system.kind is not SystemKind.CONTROL
    ]

    def key(event: tuple[str, LedgerEvent, Run]) -> tuple[str, str, str]:
        return event[0], event[1].value, event[2].system.slug

    found = []
    for (day, _event, slug), group in groupby(sorted(events, key=key, reverse=True), key=key):
        members = list(group)
        _day, event, run = members[0]
        benchmarks = dict.fromkeys(each.track.benchmark for _day, _event, each in members)
        titles = [site.benchmarks[name].title for name in benchmarks if name in site.benchmarks]
        found.append(
            News(
                day=day,
                what=f"{_EVENTS[event]} {text.counted(len(members), 'run')} of",
                name=run.system.name,
                url=system_url(slug) if len(members) > 1 else run_url(run.run_id),
                where=f" on {', '.join(titles)}" if titles else "",
            )
        )
        if len(found) == NEWS:
            break
    return found


def _data(overview: Overview, row: OverviewRow) -> dict[str, Any]:
    """Return a row as its downloads have it: shares from 0 to 1, ``None`` for what is unknown."""
    index = row.index
    found: dict[str, Any] = {
        **row.named,
        "rank_best": row.ranks[0] if row.ranks else None,
        "rank_worst": row.ranks[1] if row.ranks else None,
        "index": index.index if index else None,
        "index_low": index.low if index else None,
        "index_high": index.high if index else None,
        "against_baseline": index.against_baseline if index else None,
        "tokens_per_question": row.tokens,
        "cost_per_question_usd": row.cost,
        "run_by": row.checked.value if row.checked else None,
    }
    for column, cell in zip(overview.columns, row.cells, strict=True):
        score = cell.row.run.scores.composite if cell else None
        name = column.benchmark.id
        found[name] = score.value if score else None
        found[f"{name} low"], found[f"{name} high"] = score.ends if score else (None, None)
        found[f"{name} against baseline"] = cell.against.value if cell else None
        found[f"{name} run"] = cell.row.run.run_id if cell else None
    return found


def _as_csv(rows: Sequence[dict[str, Any]]) -> bytes:
    return csv_text(rows[0], rows).encode("utf-8", "replace")
