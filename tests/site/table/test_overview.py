"""The overview of the front page: which tracks it shows, who leads, and what it says of the baseline."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

from memeval.leaderboard.board import ALWAYS_UNSURE, NO_MEMORY, RECENCY, RankStatus
from memeval.leaderboard.suites import read_suites
from memeval.records.ledger import AnswerTrust
from memeval.records.overall import Overall, OverallRow, TiedPair
from memeval.records.submission import Configuration, Product
from memeval.records.track import CategoryPlan, Redistribution
from memeval.site.model.content import BenchmarkView, read_site
from memeval.site.model.products import ProductKind
from memeval.site.model.text import visible
from memeval.site.pages.rendering import environment
from memeval.site.table.overview import (
    Measure,
    Overview,
    OverviewRow,
    on_front,
    overviews,
    told_apart_names,
    verdict,
)
from memeval.systems.controls.table import all_controls
from tests.site.conftest import Built
from tests.site.factory import HOSTILE, FakeBenchmark
from tests.support.runs import make_track


@pytest.fixture(scope="module")
def shown(built: Built) -> dict[Measure, Overview]:
    site = read_site(built.results, find=lambda _name: built.benchmark)
    return {each.measure: each for each in overviews(site)}


@pytest.fixture
def some(shown: dict[Measure, Overview]) -> Overview:
    return shown[Measure.ANSWERS]


def test_each_benchmark_has_one_column_with_its_track_of_most_ranked_systems(shown: dict[Measure, Overview]) -> None:
    answers = shown[Measure.ANSWERS]
    (column,) = (each for each in answers.columns if each.benchmark.id == "fake@1")
    natives = [table for table in column.benchmark.tables if table.track.reader == "native"]
    assert column.table.ranked == max(table.ranked for table in natives)


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


def test_the_rows_below_the_systems_are_controls_that_exist_the_floor_last(shown: dict[Measure, Overview]) -> None:
    assert {RECENCY, ALWAYS_UNSURE, NO_MEMORY} <= all_controls().keys()
    for each in shown.values():
        rows = [slug for slug, _name in each.anchors]
        assert all(any(column.control(slug) is not None for column in each.columns) for slug in rows)
        assert NO_MEMORY not in rows[:-1]


def test_a_board_without_runs_says_so_and_how_to_begin(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    assert overviews(read_site(tmp_path / "results", find=lambda _name: FakeBenchmark())) == []


# -- who leads ---------------------------------------------------------------------------------------------------


def scored(name: str, slug: str, index: float, **more: Any) -> OverallRow:
    none = (None,)
    parts = {"is_control": False, "versions": ("1",), "runs": none, "scores": none, "shares": none, "complete": 1}
    return OverallRow.model_validate({"system": slug, "name": name, "index": index} | parts | more)


def indexed(
    name: str, index: float, ranks: tuple[int, int], against: str | None, shown: Overview, behind: tuple[str, ...] = ()
) -> OverviewRow:
    row = scored(name, name.lower(), index, ranks=ranks, behind=behind, against_baseline=against)
    return replace(shown.rows[0], slug=row.system, name=name, short=name, kind=ProductKind.PRODUCT, index=row)


def overview_of(shown: Overview, *rows: OverviewRow, baseline: str | None = "bm25") -> Overview:
    base = (scored("BM25", baseline, 0.6, is_control=True),) if baseline else ()
    table = Overall(
        suite=read_suites()[0],
        tracks=(),
        rows=(*(row.index for row in rows if row.index), *base),
        baseline=baseline,
        weightings=0,
        seed="",
    )
    return Overview(shown.measure, shown.columns, rows, table)


def said(shown: Overview) -> str:
    return re.sub("<[^>]*>", "", str(verdict(shown)))


def test_the_first_sentence_names_the_products_that_tie_and_those_the_baseline_beats(some: Overview) -> None:
    library = replace(indexed("Lib", 0.9, (1, 1), "better", some), kind=ProductKind.LIBRARY)
    rows = [
        indexed("Ada", 0.8, (2, 3), "not better", some, ("lib",)),
        indexed("Bo", 0.7, (2, 3), "worse", some, ("lib",)),
        indexed("Cy", 0.4, (4, 4), "worse", some, ("lib", "ada", "bo")),
    ]
    assert said(overview_of(some, library, *rows)) == (
        "Ada and Bo share first place among 3 products: their difference may be chance. "
        "No product is significantly better than plain keyword search, BM25 (60.0). Bo and Cy score significantly "
        "lower."
    )


def test_a_leader_with_exactly_the_scores_of_a_reference_system_is_named(some: Overview) -> None:
    def with_scores(row: OverviewRow, *scores: float | None) -> OverviewRow:
        assert row.index is not None
        return replace(row, index=row.index.model_copy(update={"scores": scores}))

    reference = replace(indexed("Vectors", 0.8, (1, 2), "better", some), kind=ProductKind.REFERENCE)
    ada, bo = indexed("Ada", 0.8, (1, 2), "better", some), indexed("Bo", 0.8, (1, 2), "better", some)
    rows = (with_scores(reference, 0.7, 0.9), with_scores(ada, 0.7, 0.9), with_scores(bo, 0.8, 0.8))
    assert "may be chance. Ada has exactly the scores of Vectors. Ada and Bo are" in said(overview_of(some, *rows))
    assert "exactly" not in said(overview_of(some, with_scores(reference, None), with_scores(ada, None)))


def test_a_product_that_another_beats_does_not_share_first_place_though_their_ranks_overlap(some: Overview) -> None:
    rows = [
        indexed("Ada", 0.8, (1, 3), "better", some),
        indexed("Bo", 0.7, (1, 4), "not better", some),
        indexed("Cy", 0.6, (3, 4), "not better", some, ("ada",)),
    ]
    assert said(overview_of(some, *rows)) == (
        "Ada and Bo share first place among 3 products: their difference may be chance. "
        "Ada is significantly better than plain keyword search, BM25 (60.0). The difference of Bo and Cy may be chance."
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("better",), "Ada is the only product with an overall score (80.0). Ada is significantly better than plain"),
        (
            ("worse",),
            "is the only product with an overall score (80.0). No product is significantly better than plain keyword",
        ),
        (("better", "better"), "Ada leads the 2 products. Ada and Bo are significantly better than plain keyword"),
        (("better", "worse"), "(60.0). Bo scores significantly lower."),
        (("better", "better", "not better"), "Ada leads the 3 products. Ada and Bo are"),
    ],
)
def test_the_first_sentence_is_true_of_one_and_of_several_products(
    some: Overview, words: tuple[str, ...], sentence: str
) -> None:
    names = zip(("Ada", "Bo", "Cy"), words, strict=False)
    rows: list[OverviewRow] = []
    for place, (name, word) in enumerate(names):
        behind = tuple(row.slug for row in rows)
        rows.append(indexed(name, 0.8 - place / 10, (place + 1,) * 2, word, some, behind))
    assert sentence in said(overview_of(some, *rows))


def test_the_first_sentence_says_when_grep_in_text_files_is_the_best_baseline(some: Overview) -> None:
    below = indexed("Ada", 0.5, (1, 1), "worse", some)
    assert said(overview_of(some, below, baseline="file-grep")).endswith(
        "No product is significantly better than text files searched with grep (60.0). Ada scores significantly lower."
    )


def test_without_a_product_the_first_sentence_is_about_systems(some: Overview) -> None:
    rows = [replace(indexed(n, 0.8, (1, 2), "better", some), kind=ProductKind.REFERENCE) for n in ("Ada", "Bo")]
    assert said(overview_of(some, *rows)).startswith(
        "Ada and Bo share first place among 2 systems: their difference may be chance"
    )


def test_more_products_than_a_sentence_holds_are_counted(some: Overview) -> None:
    rows = [replace(indexed(f"S{n}", 0.5, (1, 6), "not better", some), short=f"<b>{n}") for n in range(6)]
    assert "<bdi>&lt;b&gt;0</bdi>, " in str(verdict(overview_of(some, *rows)))
    assert " and 3 more share first place among 6 products: " in said(overview_of(some, *rows))


def test_configurations_of_one_product_are_told_apart(built: Built) -> None:
    system = built.runs[0].run.system.model_copy(
        update={"name": "W" * 80, "product": Product(name="mem0", version="2.0")}
    )
    systems = [
        system.model_copy(update={"slug": f"m{place}", "configuration": Configuration(mode=f"mode {place}")})
        for place in range(10)
    ]
    names = told_apart_names(systems)
    assert names["m3"] == ("mem0 2.0 (m3)", "mode 3") and len(set(names.values())) == 10
    assert told_apart_names(systems[:1])["m0"] == ("mem0 2.0", "mode 0")
    plain = systems[0].model_copy(update={"product": None, "configuration": None})
    assert told_apart_names([plain]) == {"m0": ("W" * 80, None)}


def test_systems_that_lose_to_the_baseline_are_marked_for_the_filter(some: Overview) -> None:
    words = {"Ada": "better", "Bo": "not better", "Cy": "worse"}
    rows = [indexed(name, 0.5, (1, 3), word, some) for name, word in words.items()]
    found = overview_of(some, *rows, replace(some.rows[0], index=None))
    module = environment().get_template("parts/overview.html").module
    marks = re.findall('data-better="(.)" data-worse="(.)"', str(module.table(found, lambda url: url)))  # type: ignore[attr-defined]
    assert marks == [("1", "0"), ("0", "0"), ("0", "1"), ("0", "0")]


def test_a_row_without_an_overall_score_says_in_how_many_benchmarks_it_ran(some: Overview) -> None:
    ranked = indexed("Ada", 0.8, (1, 1), "better", some)
    found = overview_of(some, ranked, replace(ranked, index=None, cells=(None,) * len(some.columns)))
    module = environment().get_template("parts/overview.html").module
    assert f">ran 0 of {len(some.columns)}<" in str(module.table(found, lambda url: url))  # type: ignore[attr-defined]


def test_a_tie_against_intervals_that_do_not_overlap_is_explained(some: Overview) -> None:
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


def test_without_an_index_or_a_baseline_nothing_is_claimed(some: Overview) -> None:
    assert verdict(replace(some, rows=tuple(replace(row, index=None) for row in some.rows))) is None
    alone = overview_of(some, indexed("Ada", 0.8, (1, 1), None, some), baseline=None)
    assert said(alone) == "Ada is the only product with an overall score (80.0)."


def test_columns_in_which_all_rows_are_equal_are_a_phrase(some: Overview) -> None:
    one = replace(indexed("Ada", 0.8, (1, 1), None, some), cost=0.0, checked=AnswerTrust.SELF_RUN, accepted=True)
    equal = replace(some, rows=(one, one))
    assert (equal.has_cost, equal.has_runners) == (False, False)
    assert equal.same == ["self-run", "$0.00 per 1,000 questions"]
    differs = replace(some, rows=(one, replace(one, cost=1.0, checked=AnswerTrust.IMPORTED)))
    assert differs.has_cost and differs.has_runners and differs.same == []


def test_weights_are_offered_only_where_there_is_a_choice(some: Overview) -> None:
    several = replace(some, columns=some.columns[:1] * 2)

    def placed(name: str, rank: int | None) -> OverviewRow:
        row = indexed(name, 0.8, (1, 2), None, some)
        assert row.index is not None
        return replace(row, index=row.index.model_copy(update={"rank": rank}))

    pair = overview_of(several, placed("Ada", 1), placed("Bea", 2), baseline=None)
    assert pair.can_weigh
    assert not replace(pair, columns=some.columns[:1]).can_weigh
    assert not replace(pair, table=None).can_weigh
    assert not overview_of(several, placed("Ada", 1), placed("Bea", None), baseline=None).can_weigh


def test_the_fewest_tokens_within_a_margin_of_the_best_index(some: Overview) -> None:
    best, near, far = (
        replace(indexed(name, index, (1, 3), None, some), tokens=tokens)
        for name, index, tokens in (("Best", 0.80, 900.0), ("Near", 0.78, 300.0), ("Far", 0.77, 10.0))
    )
    unknown = replace(indexed("Unknown", 0.9, (1, 1), None, some), tokens=None)
    assert replace(some, rows=(unknown, best, near, far)).fewest_tokens(0.02) == (best, near)
    assert replace(some, rows=(unknown, best)).fewest_tokens(0.02) is None
    assert replace(some, rows=(best, near)).fewest_tokens(0.0) == (best, best)


def test_only_measures_with_an_index_are_on_the_front_if_there_is_one(some: Overview) -> None:
    ranked = overview_of(some, indexed("Ada", 0.8, (1, 1), None, some))
    assert on_front([ranked, replace(some, table=None)]) == [ranked]
    assert on_front([replace(some, table=None)]) == [replace(some, table=None)]


def test_the_front_page_leads_to_categories_trade_offs_and_a_comparison(built: Built) -> None:
    page = built.read("index.html")
    part = page[page.index('id="find"') :]
    part = part[: part.index("</section>")]
    for address in (
        f"benchmarks/fake@1/?columns=scores&amp;track={built.runs[0].run.track_id}&amp;sort=noise-resistance",
        "trade-offs/",
        "compare/",
        "benchmarks/fake@1/#judges",
    ):
        assert f'href="{address}' in part


def test_a_score_is_a_composite_unless_every_item_counts_alike() -> None:
    benchmark = FakeBenchmark()
    view = BenchmarkView("fake@1", benchmark.info, None, {}, (), Redistribution.FULL, benchmark)
    track = make_track()
    plans = [CategoryPlan(name=name, weight=weight, items=items, grader="g@1") for name, weight, items in PLANS]
    assert view.score_name(track.model_copy(update={"categories": tuple(plans)})) == "Weighted accuracy"
    alike = [plan.model_copy(update={"weight": plan.items / 40}) for plan in plans]
    assert view.score_name(track.model_copy(update={"categories": tuple(alike)})) == "Accuracy"
    shared = [plan.model_copy(update={"shared": True}) for plan in plans]
    assert view.score_name(track.model_copy(update={"categories": tuple(shared)})) == "Accuracy"


PLANS = (("update", 0.5, 10), ("noise", 0.5, 30))
