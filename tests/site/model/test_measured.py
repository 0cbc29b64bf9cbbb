"""Runs whose graders give credit instead of verdicts, and what stands beside any run's name."""

import json
import re
from pathlib import Path

import pytest

from memeval.records.run import ContextSource, SystemKind
from tests.site.conftest import Built
from tests.site.factory import FakeBenchmark, Made
from tests.site.items.test_failure_tables import built_of, page_of
from tests.site.reading import words_of


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("measured")
    return built_of(folder, FakeBenchmark(measured=True), Made("acme", "Acme"), Made("shaky", "Shaky", errors=1))


def table_of(site: Built) -> dict[str, dict[str, object]]:
    data = json.loads(site.read(f"downloads/{site.runs[0].run.track_id}.json"))
    return {row["slug"]: row for row in data["rows"]} | {"": {c["name"]: c["help"] for c in data["columns"]}}


def test_points_stand_where_right_answers_would(measured: Built) -> None:
    run = measured.runs[0].run
    points = run.scores.overall.points
    assert points is not None
    page = words_of(page_of(measured))
    assert f"{points:.1f} points, 0 errors" in page
    assert f"{run.scores.categories[0].tally.points:.1f}/30" in page
    assert "Token F1 over all planned items" in page and "Token F1, errors excluded" in page
    assert "Accuracy" not in page.replace("Accuracy in this group", "")
    assert f"{run.scores.categories[0].tally.points:.1f}/30" in measured.read("benchmarks/fake@1/index.html")


def test_measurements_come_with_name_direction_range_and_meaning(measured: Built) -> None:
    page = words_of(page_of(measured))
    assert "Token F1 Overlap of words. higher 0 to 1 0.500 0.500" in page
    assert "Recall@5 Among the first 5. higher 0 to 1 0.250 0.250" in page
    assert "Context Tokens of context. lower 0 to ∞ 1,234 1,234" in page
    assert "odd no description – – 2.000 2.000" in page


def test_credits_and_other_worths_reach_the_items(measured: Built) -> None:
    run_id = measured.runs[1].run.run_id
    index = measured.index_of(run_id)
    assert index["measure"] == "Token F1"
    grades = {grade.item_id: grade for grade in measured.runs[1].grades()}
    for line in index["items"]:
        assert line.get("credit") == grades[line["id"]].credit
        assert line["verdict"] is None
    assert "credit" not in index["items"][0], "an error has none"
    shard = measured.shard(run_id)
    assert {tuple(item["alternates"].items()) for item in shard["items"]} == {
        (("published", None), ("unrounded", 0.25)),
        (("published", 0.75), ("unrounded", 0.25)),
    }


def test_a_task_average_stands_where_items_share_the_weight(measured: Built, built: Built) -> None:
    run = measured.runs[0].run
    shares = [category.tally.accuracy or 0.0 for category in run.scores.categories]
    assert table_of(measured)["acme"]["task_average"] == pytest.approx(sum(shares) / 2)
    assert "Token F1 in “Belief update”: 30 items, 50 % of the composite" in str(table_of(measured)[""])
    assert "task_average" not in table_of(built)["acme"]


def test_every_row_says_what_its_answers_were_drawn_from(built: Built) -> None:
    rows = table_of(built)
    assert rows["acme"]["context_source"] == ContextSource.ASK
    assert rows["full-context"]["context_source"] == ContextSource.FULL_CONTEXT
    assert rows["oracle-evidence"]["context_source"] == ContextSource.ORACLE
    assert rows["no-memory"]["context_source"] == ContextSource.NONE
    assert "all 60 questions" in built.read("benchmarks/fake@1/index.html")


# -- marks -------------------------------------------------------------------------------------------------------


def name_cell(site: Built, slug: str) -> str:
    page = site.read("benchmarks/fake@1/index.html")
    return next(cell for cell in page.split('<th scope="row"')[1:] if f"systems/{slug}/" in cell).split("</th>")[0]


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Built:
    benchmark = FakeBenchmark(ceilings={"belief-update": 0.9})
    return built_of(
        tmp_path_factory.mktemp("marked"),
        benchmark,
        Made("leaky", "Leaky", 1.0, tokens=1599),
        Made("dumper", "Dumper", 0.6, tokens=1600),
        Made("broken", "Broken", 0.0, tokens=5),
        Made("full-context", "Full context", 0.7, SystemKind.CONTROL, tokens=2000),
        Made("no-memory", "No memory", 0.3, SystemKind.CONTROL, tokens=0),
        Made("echo-question", "Echo", 0.0, SystemKind.CONTROL, tokens=0),
        Made("file-grep", "Text files", 0.6, SystemKind.CONTROL, tokens=9),
        Made("bm25", "BM25", 0.7, SystemKind.CONTROL, tokens=9),
    )


@pytest.mark.parametrize(
    ("slug", "marks"),
    [
        ("leaky", ["above possible score"]),
        ("dumper", ["sends whole history"]),
        ("broken", ["below no-memory", "below file search"]),
        ("full-context", []),
        ("no-memory", []),
        ("echo-question", []),
        ("bm25", []),
    ],
)
def test_what_should_make_a_reader_doubt_stands_beside_the_name(marked: Built, slug: str, marks: list[str]) -> None:
    cell = name_cell(marked, slug)
    known = ("above possible score", "sends whole history", "below no-memory", "below file search")
    assert [name for name in known if name in cell] == marks
    number = [run.run.system.slug for run in marked.runs].index(slug)
    assert ("Warnings: " in page_of(marked, number)) is bool(marks)


def test_a_mark_says_what_was_seen(marked: Built) -> None:
    assert "Some reference answers in Belief update are known to be wrong" in page_of(marked, 0)
    assert "80 % of the tokens of the history" in page_of(marked, 1).replace("'", "’").replace("&#39;", "’")
    assert "no-memory control scores higher in Belief update and Noise resistance" in page_of(marked, 2)
    below = r"Text files searched with grep score \d+\.\d %, and the interval of this score ends at \d+\.\d %"
    assert re.search(below, page_of(marked, 2))


def test_without_ceilings_and_controls_only_a_run_without_errors_is_marked(tmp_path: Path) -> None:
    perfect, other = Made("leaky", "Leaky", 1.0, tokens=90_000), Made("other", "Other", 0.7, tokens=90_000)
    site = built_of(tmp_path, FakeBenchmark(), perfect, other)
    assert "Warnings: hardly any errors</p>" in page_of(site, 0)
    assert "Warnings: " not in page_of(site, 1)
