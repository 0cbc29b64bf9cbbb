"""The titles of a benchmark's tables: no two are equal, and each says what sets it apart."""

from typing import Any

from memeval.leaderboard.board import BoardTable
from memeval.records.track import Track
from memeval.site.model.content import BenchmarkView
from memeval.site.table.metrics import columns
from tests.site.factory import FakeBenchmark, track

BENCHMARK = FakeBenchmark()


def titles(*tables: tuple[Track, bool]) -> list[str]:
    """Return the titles of tables, each given by its track and whether a run of it counts."""
    row: Any = object()  # titles depend only on whether there is one
    made = tuple(BoardTable(each, (row,) if counts else ()) for each, counts in tables)
    view = BenchmarkView("fake@1", BENCHMARK.info, None, {}, made, BENCHMARK.info.redistribution, BENCHMARK)
    return [view.track_title(table.track) for table in made]


def test_of_tables_with_equal_settings_the_first_keeps_the_short_title() -> None:
    first, other = track(BENCHMARK), track(BENCHMARK, judge="rules@4")
    assert titles((first, True), (other, True)) == [
        "Fake benchmark: systems answer",
        "Fake benchmark: systems answer, judge rules@4",
    ]


def test_a_table_names_the_model_that_reads() -> None:
    fixed = track(BENCHMARK).model_copy(update={"reader": "extractive@2"})
    update = {"reader": "local:small@1", "reader_endpoint": "local:small/0123456789ab"}
    assert titles((fixed, True), (fixed.model_copy(update=update), True)) == [
        "Fake benchmark: systems search, a fixed reader answers",
        "Fake benchmark: systems search, local:small@1 answers",
    ]


def test_a_table_whose_runs_are_all_superseded_says_so_beside_its_successor_only() -> None:
    first = track(BENCHMARK)
    other = first.model_copy(update={"data_digest": "sha256:" + "0" * 64})
    assert titles((first, True), (other, False)) == [
        "Fake benchmark: systems answer",
        "Fake benchmark: systems answer, superseded",
    ]
    assert titles((other, False)) == ["Fake benchmark: systems answer"]


def test_the_column_of_the_score_is_called_by_what_it_is() -> None:
    table = BoardTable(track(BENCHMARK), ())
    view = BenchmarkView("fake@1", BENCHMARK.info, None, {}, (table,), BENCHMARK.info.redistribution, BENCHMARK)
    (score,) = (column for column in columns(table, view, lambda _row: ()) if column.name == "composite")
    assert score.title == view.score_name(table.track) == "Weighted accuracy"
