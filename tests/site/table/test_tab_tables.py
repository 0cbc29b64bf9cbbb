"""The tab that a benchmark declares: which run a cell is of, and that it says its tier."""

import re
from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks.catalogue import check_tab
from memeval.records.benchmark import (
    Direction,
    FrontTab,
    MetricInfo,
    ProtocolInfo,
    TabColumn,
    TabMeasure,
    TabMeasures,
    TierInfo,
)
from memeval.records.errors import BadInput
from memeval.records.grade import Grade
from memeval.records.run import SystemKind
from memeval.records.track import CategoryPlan
from memeval.site.model.content import SiteModel, read_site
from memeval.site.pages.front import FrontPage
from memeval.site.table.tab_tables import TabTable, tab_tables
from tests.site.factory import FakeBenchmark
from tests.site.reading import assets_of, pages_of
from tests.support.runs import make_run, make_track

PROTOCOLS = tuple(
    ProtocolInfo(name=name, title=name, summary="Trials.", headline="accuracy") for name in ("crashes", "users")
)
TAB = FrontTab(
    title="In use",
    meaning="What is left after a crash.",
    items="trials",
    columns=(
        TabColumn(title="After a kill", protocol="crashes", categories=("belief-update", "noise-resistance")),
        TabColumn(title="After a stop", protocol="crashes", categories=("noise-resistance",)),
        TabColumn(title="Users apart", protocol="users", categories=("belief-update",)),
    ),
)
TIERS = (TierInfo(name="full", items=40, how="All of them."), TierInfo(name="tenth", items=4, how="One in ten."))
RECALL = MetricInfo(name="recall", title="Recall", direction=Direction.HIGHER, low=0, high=1, meaning="A share.")


def benchmark(tab: FrontTab | None = TAB) -> FakeBenchmark:
    return FakeBenchmark(told={"tab": tab, "protocols": PROTOCOLS, "tiers": TIERS})


def ran(results: Path, slug: str, kept: int, *, tier: str = "full", protocol: str = "crashes", **more: Any) -> str:
    items = {"full": 20, "tenth": 2}[tier]
    track = make_track(
        benchmark="fake@1",
        data_digest=FakeBenchmark().dataset.digest,
        protocol=protocol,
        tier=tier,
        categories=tuple(
            CategoryPlan(name=name, weight=0.5, items=items, grader="judged@1")
            for name in ("belief-update", "noise-resistance")
        ),
    )
    made = make_run(results, slug, {"belief-update": kept, "noise-resistance": items}, track=track, **more)
    return made.run.run_id


def site_of(results: Path, tab: FrontTab | None = TAB) -> SiteModel:
    return read_site(results, find=lambda _name: benchmark(tab))


def counts(table: TabTable) -> dict[str, list[tuple[int, int, str] | None]]:
    return {
        row.slug: [(cell.passed, cell.planned, cell.tier) if cell else None for cell in row.cells] for row in table.rows
    }


def front(site: SiteModel) -> tuple[str, dict[str, str]]:
    """Return the front page, and the downloads beside it by path."""
    assets = assets_of(site, FrontPage)
    return pages_of(site, FrontPage)[""], {path: data.decode() for path, data in assets.items()}


def test_a_cell_is_of_the_run_with_the_most_items_and_says_its_tier(tmp_path: Path) -> None:
    full = ran(tmp_path, "acme", 15)
    ran(tmp_path, "acme", 2, tier="tenth", started="2026-12-01T10:00:00.000+00:00")
    ran(tmp_path, "blue", 1, tier="tenth")
    ran(tmp_path, "bm25", 20, kind=SystemKind.CONTROL)
    (table,) = tab_tables(site_of(tmp_path))
    assert counts(table) == {
        "acme": [(35, 40, "full"), (20, 20, "full")],
        "blue": [(3, 4, "tenth"), (2, 2, "tenth")],
        "bm25": [(40, 40, "full"), (20, 20, "full")],
    }
    cell = table.rows[0].cells[0]
    assert cell is not None and cell.row.run.run_id == full
    assert [tier.name for tier in table.tiers] == ["full", "tenth"]


def test_a_column_that_nobody_ran_is_left_out_and_a_missing_run_is_a_dash(tmp_path: Path) -> None:
    ran(tmp_path, "acme", 20)
    assert [column.title for column in tab_tables(site_of(tmp_path))[0].tab.columns] == ["After a kill", "After a stop"]
    ran(tmp_path, "blue", 20, protocol="users")
    (table,) = tab_tables(site_of(tmp_path))
    assert counts(table)["blue"] == [None, None, (20, 20, "full")]


def test_partial_and_no_runs_have_no_row_and_most_benchmarks_no_tab(tmp_path: Path) -> None:
    ran(tmp_path, "acme", 20, done=30)
    assert tab_tables(site_of(tmp_path)) == []
    ran(tmp_path, "blue", 20)
    assert tab_tables(site_of(tmp_path, None)) == []


GROWTH = TabMeasures(
    title="What grows",
    meaning="Times are multiples of SQLite's.",
    protocol="crashes",
    category="belief-update",
    columns=(
        TabMeasure(title="Search", metric="recall", unit="times SQLite"),
        TabMeasure(title="Grows", metric="odd"),
        TabMeasure(title="Stands still", metric="still"),
    ),
)


def measures(grade: Grade) -> Grade:
    """Give the items of a category the recall 0.5, 1, 0.5, …; the other metric stays undefined."""
    number = int(grade.item_id.rpartition("-")[2])
    return grade.model_copy(update={"metrics": {"recall": 1.0 if number % 2 else 0.5, "odd": None}})


def with_measures(results: Path, *columns: TabColumn) -> SiteModel:
    tab = TAB.model_copy(update={"measures": GROWTH, "columns": columns or TAB.columns})
    told = {"tab": tab, "protocols": PROTOCOLS, "tiers": TIERS, "metrics": (RECALL,)}
    return read_site(results, find=lambda _name: FakeBenchmark(told=told))


def test_measures_are_means_with_the_interval_of_student_and_the_run_with_the_most_items_counts(tmp_path: Path) -> None:
    full = ran(tmp_path, "acme", 15, regraded=measures)
    ran(tmp_path, "acme", 2, tier="tenth", regraded=measures, started="2026-12-01T10:00:00.000+00:00")
    ran(tmp_path, "blue", 2, tier="tenth", regraded=measures)
    site = with_measures(tmp_path)
    (table,) = tab_tables(site)
    acme, blue = (row.measured for row in table.rows)
    assert acme is not None and blue is not None
    assert (acme.row.run.run_id, acme.tally.correct, acme.tally.planned) == (full, 15, 20)
    recall, odd, _ = acme.measures
    assert odd is None and recall is not None and recall.low is not None and recall.high is not None
    # Twenty values, ten of each: s = 0.25 sqrt(20 / 19), and t of 19 degrees is 2.0930.
    half = 2.093024 * 0.25 * (20 / 19) ** 0.5 / 20**0.5
    assert (
        recall.mean == 0.75 and recall.low == pytest.approx(0.75 - half) and recall.high == pytest.approx(0.75 + half)
    )
    # Two values, 0.5 and 1: t of one degree is 12.7, so both ends are beyond the bounds of the metric.
    assert blue.measures[0] is not None and (blue.measures[0].low, blue.measures[0].high) == (0.0, 1.0)


def test_the_second_table_of_a_tab_stands_below_the_first_with_its_proof_and_its_download(tmp_path: Path) -> None:
    run_id = ran(tmp_path, "acme", 15, regraded=measures)
    ran(tmp_path, "blue", 15)
    page, downloads = front(with_measures(tmp_path))
    panel = page[page.index("<h3>What grows</h3>") :]
    assert "<td>0.75<small>0.63–0.87</small></td>" in panel
    assert '<th scope="col">Search<small>times SQLite</small></th>' in panel
    assert f'<a href="runs/{run_id}/">15 of 20</a><small>tier: full</small>' in panel
    lines = downloads["downloads/tab-fake-measures.csv"].splitlines()
    assert len(lines) == 2 and ",recall,times SQLite,full,20,0.75," in lines[1] and lines[1].endswith(run_id)


def test_a_tab_with_runs_of_its_measures_only_has_the_second_table_alone(tmp_path: Path) -> None:
    ran(tmp_path, "acme", 15, regraded=measures)
    page, downloads = front(with_measures(tmp_path, TAB.columns[2]))
    panel = page[page.index('<section id="tab-fake"') :]
    assert "<h3>What grows</h3>" in panel and panel.count("<table") == 1
    assert [name for name in downloads if "tab-fake" in name] == ["downloads/tab-fake-measures.csv"]


def test_equal_ends_are_not_repeated_and_an_interval_below_0_is_written_in_words(tmp_path: Path) -> None:
    def steady(grade: Grade) -> Grade:
        number = int(grade.item_id.rpartition("-")[2])
        return grade.model_copy(update={"metrics": {"recall": 0.5, "odd": -1.0 - number % 2, "still": -0.001}})

    ran(tmp_path, "acme", 15, regraded=steady)
    page, _downloads = front(with_measures(tmp_path))
    assert "<td>0.50</td><td>−1.50<small>−1.74 to −1.26</small></td><td>0.00</td>" in page


def test_the_tab_stands_on_the_front_page_with_its_proof_and_its_download(tmp_path: Path) -> None:
    run_id = ran(tmp_path, "acme", 15)
    page, downloads = front(site_of(tmp_path))
    assert '<a href="#tab-fake" data-tab="tab-fake">In use</a>' in page
    panel = page[page.index('<section id="tab-fake"') :]
    assert f'<a href="runs/{run_id}/#categories">35 of 40</a>' in panel
    assert "<small>tier: full</small>" in panel and "<b>full</b>: All of them." in panel
    assert re.search(r"<small>73\.9–94\.5 %</small>", panel)
    lines = downloads["downloads/tab-fake.csv"].splitlines()
    assert len(lines) == 3 and "After a kill,crashes,full,35,40" in lines[1] and lines[1].endswith(run_id)


@pytest.mark.parametrize(
    ("column", "measured", "sentence"),
    [
        ({"protocol": "absent"}, None, "names the unknown protocol 'absent'"),
        ({"categories": ("absent",)}, None, "names unknown categories: absent"),
        ({}, {"protocol": "absent"}, "the table 'What grows' of the tab names the unknown protocol 'absent'"),
        ({}, {"category": "absent"}, "the table 'What grows' of the tab names unknown categories: absent"),
        ({}, {}, "the table 'What grows' of the tab names unknown metrics: recall, odd, still"),
    ],
)
def test_a_tab_that_counts_or_measures_nothing_is_refused(
    column: dict[str, Any], measured: dict[str, str] | None, sentence: str
) -> None:
    measures = None if measured is None else GROWTH.model_copy(update=measured)
    columns = (TAB.columns[0].model_copy(update=column),)
    with pytest.raises(BadInput, match=sentence):
        check_tab(benchmark(TAB.model_copy(update={"columns": columns, "measures": measures})).info)
    check_tab(benchmark().info)
