"""What a benchmark's page shows beside its scores: errors by size, searches as a bank grows, scores against length."""

import json
from functools import partial
from pathlib import Path

import pytest

from memeval.records.benchmark import (
    ChartInfo,
    ChartKind,
    Direction,
    MetricInfo,
    ProtocolInfo,
    PublishedValue,
    TierInfo,
)
from memeval.records.grade import Grade
from memeval.records.response import Response
from memeval.site.charts.studies import Study, studies
from memeval.site.charts.study_charts import DeclaredMark, declared
from memeval.site.model.content import BenchmarkView, read_site
from memeval.site.model.urls import run_url
from memeval.site.pages.benchmarks import BenchmarkPages
from tests.site.conftest import Built
from tests.site.factory import HOSTILE, ITEMS, JUDGING, FakeBenchmark, Made, make_run
from tests.site.items.test_failure_tables import built_of
from tests.site.reading import pages_of, site_of, words_of

MAE = MetricInfo(name="mae", title="MAE", direction=Direction.LOWER, low=0, high=4, meaning="Stars off the mark.")
RMSE = MetricInfo(
    name="squared",
    title="RMSE",
    direction=Direction.LOWER,
    low=0,
    high=4,
    root=True,
    meaning="Root of the mean square.",
)
RATING = ProtocolInfo(
    name="f1", title="Rating", summary="Stars.", headline="mae", shown=("mae", "squared"), spread="mae"
)


SEARCHING = ProtocolInfo(name="retrieval", title="Retrieval", summary="Evidence.", headline="recall", reader="none")


def rated(errors: tuple[float | None, ...]) -> Made:

    def edited(number: int, grade: Grade) -> Grade:
        error = errors[number % len(errors)]
        return grade.model_copy(update={"metrics": {"mae": error, "squared": None if error is None else error**2}})

    return Made("acme", f"Acme {HOSTILE}", grades=edited)


def studied(tmp_path: Path, benchmark: FakeBenchmark, *made: Made) -> tuple[Study, ...]:
    site = site_of(tmp_path, *made, benchmark=benchmark)
    return studies(site, site.benchmarks["fake@1"])


def test_errors_are_told_by_size_over_all_planned_items_and_missing_ones_apart(tmp_path: Path) -> None:
    benchmark = FakeBenchmark(measured=True, told={"metrics": (MAE, RMSE), "protocols": (RATING,)})
    (study,) = studied(tmp_path, benchmark, rated((0.0, 0.5, 1.0, 3.0, None, 2.0)))
    ((name, *shares),) = study.rows
    assert name.startswith("Acme")
    assert study.columns[1:] == ("up to 0.25", "up to 0.5", "up to 1", "up to 2", "more than 2", "no readable answer")
    assert shares == ["16.7"] * 6


def test_items_that_failed_have_no_error_of_any_size(tmp_path: Path) -> None:
    benchmark = FakeBenchmark(measured=True, told={"metrics": (MAE,), "protocols": (RATING,)})
    made = rated((0.0,))
    (study,) = studied(tmp_path, benchmark, Made("acme", "Acme", errors=15, grades=made.grades))
    assert study.rows[0][1] == "75.0" and study.rows[0][-1] == "25.0"


def test_an_error_has_a_column_of_its_own_and_a_square_is_told_as_its_root(tmp_path: Path) -> None:
    benchmark = FakeBenchmark(measured=True, told={"metrics": (MAE, RMSE), "protocols": (RATING,)})
    site: Built = built_of(tmp_path, benchmark, rated((3.0, 4.0, None)))
    data = json.loads(site.read(f"downloads/{site.runs[0].run.track_id}.json"))
    (row,) = data["rows"]
    assert row["metric_mae"] == 3.5
    assert row["metric_squared"] == pytest.approx(12.5**0.5)
    columns = {column["name"]: column for column in data["columns"]}
    assert "Lower is better" in columns["metric_mae"]["help"]
    page = site.read(f"{run_url(site.runs[0].run.run_id)}index.html")
    measured = words_of(page.split('id="measured"')[1].split("</table>")[0])
    assert "3.500" in measured and "3.536" in measured and "12.500" not in measured


def timed(slug: str, seconds: float) -> Made:
    """Return a run of searches of banks of two sizes; the larger takes twice as long."""

    def sliced(number: int, grade: Grade) -> Grade:
        slices = {"bank size": "10" if number % 2 else "100", "in flight": "4" if number % 3 else "1"}
        return grade.model_copy(update={"slices": slices})

    def answered(number: int, response: Response) -> Response:
        took = seconds if number % 2 else 2 * seconds
        return response.model_copy(update={"timings": response.timings.model_copy(update={"search_seconds": took})})

    return Made(slug, slug.title(), grades=sliced, responses=answered)


def test_searches_are_timed_by_size_of_the_bank_and_by_how_many_were_on_their_way(tmp_path: Path) -> None:
    (study,) = studied(tmp_path, FakeBenchmark(), timed("slow", 0.5), timed("quick", 0.01))
    slow = [row[1:] for row in study.rows if row[0] == "Slow"]
    assert slow == [
        ("10", "1", "10", "500 ms", "500 ms", "+151 ms"),
        ("10", "4", "20", "500 ms", "500 ms", "+151 ms"),
        ("100", "1", "10", "1 s", "1 s", "+151 ms"),
        ("100", "4", "20", "1 s", "1 s", "+151 ms"),
    ]
    assert {row[4] for row in study.rows if row[0] == "Quick"} == {"10 ms", "20 ms"}


def test_a_score_is_drawn_against_length_where_tiers_differ_in_it(tmp_path: Path) -> None:
    tiers = tuple(TierInfo(name=name, items=60, how="All.", tokens=size) for name, size in (("1k", 1000), ("9k", 9000)))
    benchmark = FakeBenchmark(told={"tiers": tiers})
    made = [Made("acme", "Acme", tier="9k", skill=0.0), Made("acme", "Acme", tier="1k", skill=1.0)]
    made.append(Made("brief", "Brief", tier="1k"))  # one length is no curve
    score, latency = studied(tmp_path, benchmark, *made)
    assert [row[:3] for row in score.rows] == [("Acme", "1,000", "100.0"), ("Acme", "9,000", "0.0")]
    assert [row[:2] for row in latency.rows] == [("Acme", "1,000"), ("Acme", "9,000")]
    assert latency.title.startswith("Answer latency by length of history")


def test_one_length_alone_is_no_curve_and_plain_runs_have_no_studies(tmp_path: Path) -> None:
    tiers = (TierInfo(name="1k", items=60, how="All.", tokens=1000),)
    assert studied(tmp_path, FakeBenchmark(told={"tiers": tiers}), Made("acme", "Acme", tier="1k")) == ()


def test_the_page_has_chart_sentence_and_table_and_no_markup_of_a_name(tmp_path: Path) -> None:
    benchmark = FakeBenchmark(measured=True, told={"metrics": (MAE,), "protocols": (RATING,)})
    site = site_of(tmp_path, rated((1.0,)), benchmark=benchmark)
    body = pages_of(site, BenchmarkPages)["benchmarks/fake@1/"]
    assert 'id="studies"' in body and "Size of the errors of each system" in body
    assert "<script>alert" not in body


def test_a_known_seed_stands_beside_a_fresh_one_on_the_pages_of_both(tmp_path: Path) -> None:
    known, fresh = FakeBenchmark("known@1"), FakeBenchmark("fresh@1", told={"seed_of": "known@1"})
    make_run(tmp_path, Made("acme", "Acme", skill=1.0), known)
    make_run(tmp_path, Made("acme", "Acme", skill=0.0, version="2.0"), fresh)
    site = read_site(tmp_path, find=lambda name: known if name == "known@1" else fresh)
    for view in site.benchmarks.values():
        (study,) = studies(site, view)
        assert study.rows == (("Acme: own answers (two versions)", "100.0", "0.0", "−100.0"),)
        assert study.columns[1:3] == ("Public %", "Fresh %")


def test_scores_of_answers_stand_beside_those_of_retrieval_with_the_agreement_of_their_orders(tmp_path: Path) -> None:
    """Five systems; the better its answers, the better what it found."""
    right = dict(zip(("one", "two", "three", "four", "five"), (2, 8, 14, 20, 26), strict=True))
    judge = FakeBenchmark(told={"protocols": (JUDGING, SEARCHING)})
    for benchmark, reader in ((judge, "extractive@2"), (FakeBenchmark(told={"protocols": (SEARCHING,)}), "none@1")):
        for slug, count in right.items():
            make_run(tmp_path, Made(slug, slug, reader=reader, grades=partial(rightly, count)), benchmark)
    site = read_site(tmp_path, find=lambda _name: judge)
    (study,) = studies(site, site.benchmarks["fake@1"])
    assert study.title.startswith("Answers and retrieval: ")
    assert "Kendall’s τ of the two orders is 1.00 (95 % interval 1.00 to 1.00)" in study.says
    assert "the same 60 items" in study.says
    assert study.rows[0] == ("five", "86.7", "1", "86.7", "1")
    assert [row[2] for row in study.rows] == ["1", "2", "3", "4", "5"]


def rightly(right: int, number: int, grade: Grade) -> Grade:
    return grade.model_copy(update={"verdict": number % ITEMS < right})


LINE = ChartInfo(
    name="hardness",
    title="Hard and plain",
    meaning="Share of correct items.",
    kind=ChartKind.LINE,
    slice="difficulty",
    values=("plain", "hard"),
    published=(PublishedValue(name=HOSTILE, value=0.25, at="hard"),),
    origin="A paper.",
)
BARS = ChartInfo(
    name="off",
    title="Stars off",
    meaning="Mean error.",
    kind=ChartKind.BARS,
    metric="mae",
    published=(PublishedValue(name="Theirs", value=0.5),),
    origin="Another paper.",
)


def test_a_catalogue_declares_lines_over_a_slice_with_published_values_apart(tmp_path: Path) -> None:
    def right_if_hard(number: int, grade: Grade) -> Grade:
        return grade.model_copy(update={"verdict": number % 2 == 1})

    benchmark = FakeBenchmark(told={"charts": (LINE,)})
    (study,) = studied(tmp_path, benchmark, Made("acme", "Acme", grades=right_if_hard))
    ours, theirs = study.rows
    assert study.columns == ("System", "plain", "hard") and ours == ("Acme", "0.0 %", "100.0 %")
    assert theirs[0].endswith("(published)") and theirs[1:] == ("–", "25.0 %")
    assert "Share of correct items. Published values: A paper." in study.says
    assert study.figure is not None
    drawn = str(study.figure.drawing)
    assert "--mv-accent" in drawn and "--mv-shade-5" in drawn and "<script>alert" not in drawn


def test_one_category_of_a_line_leaves_out_the_items_of_the_others(tmp_path: Path) -> None:
    def right_if_noise(_number: int, grade: Grade) -> Grade:
        return grade.model_copy(update={"verdict": grade.category == "noise-resistance"})

    chart = LINE.model_copy(update={"category": "noise-resistance", "published": (), "origin": None})
    benchmark = FakeBenchmark(told={"charts": (chart,)})
    (study,) = studied(tmp_path, benchmark, Made("acme", "Acme", grades=right_if_noise))
    assert study.rows == (("Acme", "100.0 %", "100.0 %"),)


def test_bars_of_an_error_start_with_the_smallest(tmp_path: Path) -> None:
    told = {"metrics": (MAE, RMSE), "protocols": (RATING.model_copy(update={"spread": None}),), "charts": (BARS,)}
    benchmark = FakeBenchmark(measured=True, told=told)
    (study,) = studied(tmp_path, benchmark, rated((1.0,)))
    (first, second) = study.rows
    assert first == ("Theirs (published)", "0.5") and second[1] == "1" and study.columns == ("System", "MAE")


def test_published_values_are_shown_before_the_first_run_and_not_beside_a_part_of_the_data(tmp_path: Path) -> None:
    told = {"metrics": (MAE, RMSE), "protocols": (RATING.model_copy(update={"spread": None}),), "charts": (BARS,)}
    benchmark = FakeBenchmark(measured=True, told=told)
    alone = BenchmarkView("fake@1", benchmark.info, None, {}, (), benchmark.info.redistribution, benchmark)
    (study,) = studies(read_site(tmp_path), alone)
    assert study.rows == (("Theirs (published)", "0.5"),)
    part = Made("acme", "Acme", tier="tenth", grades=rated((1.0,)).grades)
    (study,) = studied(tmp_path, benchmark, part)
    assert study.rows == (("Acme", "1"),)


def test_lines_that_end_at_one_place_share_a_label() -> None:
    marks = [DeclaredMark(name, at, 0.0, "system") for name in ("Ada", "Bob") for at in ("1x", "2x")]
    chart = declared("c", "C", "D", [*marks, DeclaredMark("Cleo", "2x", 0.9, "control")], ("size", ("1x", "2x")), True)
    (data,) = chart.spec["datasets"].values() if "datasets" in chart.spec else (chart.spec["data"]["values"],)
    assert [row["end"] for row in data if row["end"]] == ["Ada, Bob", "Cleo"]
