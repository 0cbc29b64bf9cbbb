"""The overview of the front page: which tracks it shows, who leads, and what it says of the baseline."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from markupsafe import escape

from memeval.leaderboard.board import RankStatus
from memeval.leaderboard.suites import read_suites
from memeval.records.overall import Overall, OverallRow, TiedPair
from memeval.records.track import CategoryPlan, Redistribution
from memeval.site.model.content import BenchmarkView, read_site
from memeval.site.model.text import visible
from memeval.site.pages.rendering import environment
from memeval.site.table.overview import Against, Measure, Overview, OverviewRow, overviews, verdict
from tests.site.conftest import Built
from tests.site.factory import HOSTILE, FakeBenchmark
from tests.support.runs import make_track


@pytest.fixture(scope="module")
def shown(built: Built) -> dict[Measure, Overview]:
    site = read_site(built.results, find=lambda _name: built.benchmark)
    return {each.measure: each for each in overviews(site)}


def test_each_benchmark_has_one_column_with_its_track_of_most_ranked_systems(shown: dict[Measure, Overview]) -> None:
    answers = shown[Measure.ANSWERS]
    (column,) = (each for each in answers.columns if each.benchmark.id == "fake@1")
    natives = [table for table in column.benchmark.tables if table.track.reader == "native"]
    assert column.table.ranked == max(table.ranked for table in natives)


def test_the_filter_within_points_is_named_after_the_column_it_reads(
    built: Built, shown: dict[Measure, Overview]
) -> None:
    assert all(
        each.main_title == ("Overall" if each.table else each.columns[0].benchmark.title) for each in shown.values()
    )
    titles = {each.main_title for each in shown.values()}
    label = titles.pop() if len(titles) == 1 else "First score column"
    assert f'<label>{label}<select name="within">' in built.read("index.html")


def test_only_complete_runs_of_systems_have_a_row(shown: dict[Measure, Overview]) -> None:
    for each in shown.values():
        for row in each.rows:
            standings = {cell.row.standing for cell in row.cells if cell}
            assert standings and standings <= {RankStatus.RANKED, RankStatus.MOCK, RankStatus.UNREVIEWED}
        assert not {"no-memory", "oracle-evidence", "partial", "shaky"} & {row.slug for row in each.rows}


def test_a_track_that_only_tests_the_software_is_not_shown(shown: dict[Measure, Overview]) -> None:
    tracks = [column.table.track for each in shown.values() for column in each.columns]
    assert tracks and all(track.parameters.get("label") != "plumbing" for track in tracks)


def test_downloads_have_what_the_table_shows(built: Built, shown: dict[Measure, Overview]) -> None:
    for measure, each in shown.items():
        rows = json.loads(built.read(f"downloads/overview-{measure.value}.json"))["rows"]
        lines = list(csv.DictReader(io.StringIO(built.read(f"downloads/overview-{measure.value}.csv"))))
        assert [row["system"] for row in rows] == [row.slug for row in each.rows] == [line["system"] for line in lines]
        for row, line, shown_row in zip(rows, lines, each.rows, strict=True):
            for column, cell in zip(each.columns, shown_row.cells, strict=True):
                score = cell.row.run.scores.composite.value if cell else None
                assert row[column.benchmark.id] == score
                assert line[column.benchmark.id] == ("" if score is None else str(score))


def test_the_page_escapes_names_and_links_each_score_to_its_run(built: Built, shown: dict[Measure, Overview]) -> None:
    page = built.read("index.html")
    assert HOSTILE not in page and "<script>alert(1)" not in page
    for each in shown.values():
        for row in each.rows:
            for cell in row.cells:
                assert cell is None or f'href="runs/{cell.row.run.run_id}/"' in page


def test_a_board_without_runs_says_so_and_how_to_begin(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    assert overviews(read_site(tmp_path / "results", find=lambda _name: FakeBenchmark())) == []


# -- who leads ---------------------------------------------------------------------------------------------------


def indexed(name: str, index: float, ranks: tuple[int, int], against: str | None, shown: Overview) -> OverviewRow:
    row = OverallRow(
        system=name.lower(),
        name=name,
        is_control=False,
        versions=("1",),
        runs=(None,),
        scores=(None,),
        shares=(None,),
        complete=1,
        index=index,
        ranks=ranks,
        against_baseline=against,
    )
    return replace(shown.rows[0], slug=row.system, name=name, index=row)


def overview_of(shown: Overview, *rows: OverviewRow, baseline: bool = True) -> Overview:
    base = OverallRow(
        system="bm25",
        name="BM25",
        is_control=True,
        versions=("1",),
        runs=(None,),
        scores=(None,),
        shares=(None,),
        complete=1,
        index=0.6,
    )
    table = Overall(
        suite=read_suites()[0],
        tracks=(),
        rows=tuple(row.index for row in rows if row.index) + ((base,) if baseline else ()),
        baseline="bm25" if baseline else None,
        weightings=0,
        seed="",
    )
    return Overview(shown.measure, shown.columns, rows, table)


def test_leaders_that_tie_are_all_named_and_compared_with_the_baseline(shown: dict[Measure, Overview]) -> None:
    some = shown[Measure.ANSWERS]
    said = verdict(
        overview_of(
            some,
            indexed("Ada", 0.8, (1, 2), "better", some),
            indexed("Bo", 0.7, (1, 2), "not better", some),
            indexed("Cy", 0.4, (3, 3), "worse", some),
        )
    )
    assert said is not None
    assert (said.leaders, said.others) == (("Ada", "Bo"), 0)
    assert said.what == (
        "lead, and the data do not show which of them is better. "
        "1 of the 3 systems is significantly better than the best simple baseline, BM25 (60.0)."
    )


@pytest.mark.parametrize(
    ("ranks", "against", "what"),
    [
        ((1, 1), "better", "leads. 2 of the 2 systems are significantly better"),
        ((1, 2), "not better", "leads, but not significantly over every other system. 1 of the 2 systems is"),
    ],
)
def test_one_leader(shown: dict[Measure, Overview], ranks: tuple[int, int], against: str, what: str) -> None:
    some = shown[Measure.ANSWERS]
    rows = (indexed("Ada", 0.8, ranks, against, some), indexed("Bo", 0.7, (2, 2), "better", some))
    said = verdict(overview_of(some, *rows))
    assert said is not None and said.leaders == ("Ada",) and said.what.startswith(what)


def test_more_leaders_than_a_sentence_holds_are_counted(shown: dict[Measure, Overview]) -> None:
    some = shown[Measure.ANSWERS]
    said = verdict(overview_of(some, *(indexed(f"S{n}", 0.5, (1, 6), "not better", some) for n in range(6))))
    assert said is not None and (len(said.leaders), said.others) == (3, 3)
    assert "None of the 6 systems is significantly better" in said.what


def test_systems_that_lose_to_the_baseline_are_marked_for_the_filter(shown: dict[Measure, Overview]) -> None:
    some = shown[Measure.ANSWERS]
    words = {"Ada": "better", "Bo": "not better", "Cy": "worse"}
    rows = [indexed(name, 0.5, (1, 3), word, some) for name, word in words.items()]
    found = overview_of(some, *rows, replace(some.rows[0], index=None))
    assert [row.name for row in found.worse] == ["Cy"]
    module = environment().get_template("parts/overview.html").module
    marks = re.findall('data-better="(.)" data-worse="(.)"', str(module.table(found, lambda url: url)))  # type: ignore[attr-defined]
    assert marks == [("1", "0"), ("0", "0"), ("0", "1"), ("0", "0")]


def test_a_tie_against_intervals_that_do_not_overlap_is_explained(shown: dict[Measure, Overview]) -> None:
    some = shown[Measure.ANSWERS]
    ada, bo, cy = (indexed(name, 0.5, (1, 3), "better", some) for name in ("Ada", "Bo", "Cy"))
    found = overview_of(some, ada, replace(bo, name=HOSTILE), cy)
    assert found.table is not None and not found.ties and not found.tied
    pair = TiedPair(higher="ada", lower="bo", p=0.01, corrected=0.2, reason="It has p = 0.2.")
    tied = replace(found, table=found.table.model_copy(update={"tied_apart": (pair,)}))
    module = environment().get_template("parts/overview.html").module
    page = str(module.table(tied, lambda url: url))  # type: ignore[attr-defined]
    assert page.count("why tied") == 2 and f'id="ties-{some.measure.value}"' in page
    words = str(escape(visible(f"Ada and {HOSTILE} are tied although their intervals do not overlap. It has p = 0.2.")))
    assert words in page and "<script>" not in page


def test_without_an_index_or_a_baseline_nothing_is_claimed(shown: dict[Measure, Overview]) -> None:
    some = shown[Measure.ANSWERS]
    assert verdict(replace(some, rows=tuple(replace(row, index=None) for row in some.rows))) is None
    said = verdict(overview_of(some, indexed("Ada", 0.8, (1, 1), None, some), baseline=False))
    assert said is not None and said.what == "is the only system with an index (80.0)."


def test_every_comparison_has_a_word() -> None:
    assert [each.value for each in Against] == ["better", "not better", "worse", "not compared"]


def test_the_front_page_leads_to_categories_trade_offs_and_a_comparison(built: Built) -> None:
    page = built.read("index.html")
    part = page[page.index('id="find"') :]
    part = part[: part.index("</section>")]
    for address in (
        "benchmarks/fake@1/?columns=scores&amp;track=",
        "trade-offs/",
        f"compare/?board={built.runs[0].run.track_id}",
        "benchmarks/fake@1/#judges",
    ):
        assert f'href="{address}' in part


def test_a_score_is_a_composite_unless_every_item_counts_alike() -> None:
    benchmark = FakeBenchmark()
    view = BenchmarkView("fake@1", benchmark.info, None, {}, (), Redistribution.FULL, benchmark)
    track = make_track()
    plans = [CategoryPlan(name=name, weight=weight, items=items, grader="g@1") for name, weight, items in PLANS]
    assert view.score_name(track.model_copy(update={"categories": tuple(plans)})) == "Composite of accuracy"
    alike = [plan.model_copy(update={"weight": plan.items / 40}) for plan in plans]
    assert view.score_name(track.model_copy(update={"categories": tuple(alike)})) == "Accuracy"
    shared = [plan.model_copy(update={"shared": True}) for plan in plans]
    assert view.score_name(track.model_copy(update={"categories": tuple(shared)})) == "Accuracy"


PLANS = (("update", 0.5, 10), ("noise", 0.5, 30))
