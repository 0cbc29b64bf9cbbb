"""Columns of cost and time: what is unknown is no zero, and a search counts where nothing is asked."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memeval.leaderboard.board import BoardRow
from memeval.records.call import Phase, PhaseUsage, UsageSource
from memeval.records.run import Cost, Isolation, Network, Percentiles
from memeval.site.pages.runs import RunPages
from memeval.site.pages.score_table import score_rows
from memeval.site.pages.systems import SystemPages
from memeval.site.table.columns import ColumnReader
from memeval.site.table.spending import SPENDING
from memeval.site.table.tables import view
from tests.site.conftest import Built
from tests.site.factory import FakeBenchmark, Made, make_run
from tests.site.reading import api_of, compared, pages_of, site_of, words_of
from tests.support.runs import edit_head


@pytest.fixture(scope="module")
def row(tmp_path_factory: pytest.TempPathFactory) -> BoardRow:
    results: Path = tmp_path_factory.mktemp("spending")
    make_run(results, Made("acme", "Acme"), FakeBenchmark())
    return site_of(results).board.runs[0]


def read(row: BoardRow, name: str, **changes: Any) -> ColumnReader:
    changed = replace(row, run=row.run.model_copy(update=changes))
    return next(column for column in SPENDING if column.name == name).read(changed)


def used(calls: int = 10, usd: float | None = 1.0, **parts: Any) -> PhaseUsage:
    usual: dict[str, Any] = {"source": UsageSource.MEASURED, "calls": calls, "usd": usd}
    return PhaseUsage(**usual | parts)


KNOWN, UNKNOWN = Cost(usd=3.0, reason=None), Cost(usd=None, reason="not seen")
EACH, INGEST = "cost_per_question_usd", "cost_take_in_usd"


@pytest.mark.parametrize(
    ("name", "usage", "cost", "expected"),
    [
        (EACH, {Phase.ASK: used(), Phase.READ: used(usd=2.0), Phase.INGEST: used(usd=9.0)}, KNOWN, 3.0 / 60),
        (EACH, {Phase.READ: used(0, 0.0, cached=10, cached_usd=6.0)}, KNOWN, 6.0 / 60),
        (EACH, {Phase.READ: used(0, 0.0, cached=10, cached_usd=None)}, KNOWN, None),
        (EACH, {Phase.ASK: used(usd=None, unpriced=10)}, UNKNOWN, None),
        (EACH, {Phase.ASK: used(0, None, source=UsageSource.SELF_REPORTED)}, UNKNOWN, None),
        (EACH, {Phase.ASK: used(0, 0.6, source=UsageSource.SELF_REPORTED)}, KNOWN, 0.01),
        (EACH, {Phase.JUDGE: used()}, KNOWN, 0.0),
        (EACH, {Phase.JUDGE: used()}, UNKNOWN, None),
        (EACH, {}, KNOWN, None),
        (EACH, {}, UNKNOWN, None),
        (EACH, {}, Cost(usd=0.0, reason=None), 0.0),
        (INGEST, {Phase.INGEST: used(), Phase.SETTLE: used(usd=0.5)}, KNOWN, 1.5),
        (INGEST, {Phase.INGEST: used(usd=None, unpriced=1)}, UNKNOWN, None),
        (INGEST, {Phase.ASK: used()}, UNKNOWN, None),
    ],
)
def test_dollars_are_split_by_phase_or_are_unknown(
    row: BoardRow, name: str, usage: dict[Phase, PhaseUsage], cost: Cost, expected: float | None
) -> None:
    found = read(row, name, usage=usage, cost=cost)
    assert found.value == (None if expected is None else pytest.approx(expected))
    assert (found.note is None) == bool(expected) or expected == 0, "what is unknown has a reason"


def test_a_system_that_only_retrieves_has_the_time_of_its_search(row: BoardRow) -> None:
    took = {Phase.SEARCH: Percentiles(calls=60, p50=0.7, p95=0.9, total=42.0)}
    timing = row.run.timing.model_copy(update={"phases": took})
    assert read(row, "ask_p50_seconds", timing=timing).value == 0.7
    assert read(row, "ask_p95_seconds", timing=timing).value == 0.9
    assert read(row, "ask_p50_seconds").value == 0.02


def test_a_self_reported_cost_is_marked(row: BoardRow) -> None:
    usage = {Phase.ASK: used(0, 0.6, source=UsageSource.SELF_REPORTED)}
    assert read(row, EACH, usage=usage, cost=KNOWN).badges == (("warning", "self-reported"),)


def test_the_columns_stand_on_the_board_and_in_its_downloads(built: Built) -> None:
    page = built.read("benchmarks/fake@1/index.html")
    assert f'data-column="{EACH}"' in page and f'data-column="{INGEST}"' in page


def test_a_system_without_models_and_network_costs_nothing_in_calls(row: BoardRow) -> None:
    confined = {"isolation": Isolation.SANDBOXED, "network": Network.NONE, "cost": UNKNOWN}
    silent = {Phase.SEARCH: used(0, None, source=UsageSource.SELF_REPORTED)}
    for usage in ({}, silent):
        assert read(row, EACH, usage=usage, **confined).value == 0.0
        assert read(row, INGEST, usage=usage, **confined).value == 0.0
        total = read(row, "cost_usd", usage=usage, **confined)
        assert (total.value, total.note) == (0.0, "no model calls possible")
    reader = {Phase.READ: used(usd=6.0)}
    assert read(row, "cost_usd", usage=reader, **confined).value == 6.0
    assert read(row, EACH, usage=reader, **confined).value == pytest.approx(0.1), "a reader with a model has its price"
    for other in ({"network": Network.GATEWAY}, {"isolation": Isolation.FILES_REACHABLE}):
        assert read(row, EACH, usage={}, **confined | other).value is None
        assert read(row, "cost_usd", usage={}, **confined | other).value is None
    models = row.run.system.model_copy(update={"declared_models": ("m",)})
    assert read(row, EACH, usage={}, system=models, **confined).value is None


@pytest.mark.parametrize(
    ("isolation", "shown", "value", "note"),
    [
        (Isolation.SANDBOXED, "$0.00", 0.0, "no model calls possible"),
        (Isolation.FILES_REACHABLE, "–", None, "unknown: not metered"),
    ],
)
def test_every_page_and_file_says_the_same_of_a_cost(
    tmp_path: Path, isolation: Isolation, shown: str, value: float | None, note: str
) -> None:
    for slug in ("acme", "borealis"):
        made = make_run(tmp_path, Made(slug, slug.title(), 0.5), FakeBenchmark())
        unseen = {"usd": None, "reason": "memeval does not see whether the system calls models"}
        edit_head(made, isolation=isolation, network="none", cost=unseen, usage={})
    site = site_of(tmp_path)
    (table,) = site.board.tables
    shown_table = view(site, table)
    for name in (EACH, "cost_usd"):
        cells = [column.cell(shown_table.lines[0].row) for column in shown_table.columns if column.name == name]
        assert [(cell.text, cell.reading.note) for cell in cells] == [(shown, note)], "the board"
    data = compared(site)
    costs = [place for place, fact in enumerate(data["facts"]) if "cost" in fact["title"].lower()]
    assert costs and {tuple(data["runs"][0]["facts"][place]) for place in costs} == {(shown, note)}, "compare"
    assert {(row["cost_usd"], row["cost_note"]) for row in score_rows(site.board)} == {(value, note)}, "CSV"
    assert {(run["cost_usd"], run["cost_note"]) for run in api_of(site, "runs")} == {(value, note)}, "API"
    for publisher, card in ((RunPages, f"Total cost {shown} {note}"), (SystemPages, f"{shown} {note}")):
        pages = pages_of(site, publisher)
        assert all(card in words_of(body) for url, body in pages.items() if url != "systems/"), "its pages"
