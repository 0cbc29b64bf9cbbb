"""All pairs of a table's runs: the same numbers as comparing two of them."""

import itertools
from pathlib import Path

import pytest

from memeval.analysis.comparing import compare_runs
from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.leaderboard.board import BoardTable, build_board
from memeval.leaderboard.pairwise import TablePairs, table_pairs
from memeval.records.grade import Grade
from tests.site.factory import FakeBenchmark, Made, make_run

STORED = Path(__file__).parents[2] / "results"


def table(folders: list[RunFolder], at: Path) -> BoardTable:
    (found,) = build_board(folders, Ledger(at), compare_responses=False).tables
    return found


def assert_equal_to_compare(found: TablePairs) -> None:
    for one, two in itertools.permutations(range(len(found.rows)), 2):
        (pair,) = compare_runs([found.rows[one].folder, found.rows[two].folder]).pairs
        assert pair.overall is not None
        expected = [pair.overall, *pair.categories]
        assert found.names == tuple(each.name for each in expected)
        for mine, theirs in zip(found.between(one, two), expected, strict=True):
            assert mine.difference == theirs.difference
            assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
            assert (mine.corrected, mine.sign) == (theirs.corrected, theirs.sign)


@pytest.mark.parametrize("measured", [False, True])
def test_every_pair_has_the_numbers_of_compare(tmp_path: Path, measured: bool) -> None:
    benchmark = FakeBenchmark(measured=measured)
    skills = {"acme": 0.9, "borealis": 0.3, "copy": 0.5}
    runs = [make_run(tmp_path, Made(slug, slug.title(), skill), benchmark) for slug, skill in skills.items()]
    runs.append(make_run(tmp_path, Made("failing", "Failing", errors=5), benchmark))
    found = table_pairs(table(runs, tmp_path))
    assert found is not None and len(found.rows) == 4
    assert_equal_to_compare(found)


def test_stored_runs_have_the_numbers_of_compare(tmp_path: Path) -> None:
    runs = [RunFolder(path.parent) for path in sorted((STORED / "astrocyte-stress").glob("*/*/run.json"))]
    found = table_pairs(table(runs, tmp_path))
    assert found is not None
    assert_equal_to_compare(found)


def test_items_of_one_cluster_have_no_interval(tmp_path: Path) -> None:
    def together(_number: int, grade: Grade) -> Grade:
        return grade.model_copy(update={"cluster": "one"})

    runs = [make_run(tmp_path, Made(slug, slug, grades=together), FakeBenchmark()) for slug in ("one", "two")]
    found = table_pairs(table(runs, tmp_path))
    assert found is not None and {(each.low, each.high) for each in found.between(0, 1)} == {(None, None)}
    assert_equal_to_compare(found)


def test_a_partial_run_is_left_out_and_one_run_has_no_pair(tmp_path: Path) -> None:
    runs = [make_run(tmp_path, Made("whole", "Whole"), FakeBenchmark())]
    runs.append(make_run(tmp_path, Made("half", "Half", items=30), FakeBenchmark()))
    assert table_pairs(table(runs, tmp_path)) is None
