"""Regraded files are ranked within their group only, and apart only where a test says so."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.claims.ranking import group_ranks, stored_ranks
from memeval.claims.store import write_regraded
from memeval.claims.summaries import Regraded
from memeval.records.regraded import RegradedRow
from memeval.statistics.ranks import RankRange
from tests.claims.conftest import BY_ID, ROWS, Grade


def rows_of(verdicts: str, clusters: int = 12) -> list[RegradedRow]:
    """Return rows with these verdicts, ``1``, ``0`` or ``-`` for none, spread over clusters."""
    return [
        RegradedRow(
            item_id=f"i{number}",
            category="c",
            cluster=f"k{number % clusters:02}",
            place=number + 1,
            verdict=None if each == "-" else each == "1",
        )
        for number, each in enumerate(verdicts)
    ]


def test_a_clear_lead_in_every_cluster_separates_and_equal_answers_do_not() -> None:
    good, same, bad = rows_of("1" * 24), rows_of("1" * 24), rows_of("0" * 24)
    assert group_ranks([bad, good, same]) == (RankRange(3, 3), RankRange(1, 2), RankRange(1, 2))


def test_few_clusters_cannot_separate() -> None:
    assert group_ranks([rows_of("1" * 24, 3), rows_of("0" * 24, 3)]) == (RankRange(1, 2), RankRange(1, 2))


def test_only_items_that_the_rules_judge_in_every_file_count() -> None:
    assert group_ranks([rows_of("1" * 24 + "-" * 24), rows_of("1" * 24 + "0" * 24)]) == (RankRange(1, 2),) * 2
    assert group_ranks([rows_of("1-"), rows_of("-1")]) == (RankRange(1, 2),) * 2, "no common item"


@given(st.lists(st.text("01", min_size=8, max_size=8), min_size=2, max_size=4))
def test_ranges_contain_the_place_by_score(files: list[str]) -> None:
    shares = [each.count("1") for each in files]
    for share, rank in zip(shares, group_ranks([rows_of(each, 4) for each in files]), strict=True):
        best = 1 + sum(other > share for other in shares)
        assert 1 <= rank.best <= best <= rank.worst <= len(files)


@pytest.mark.parametrize(
    ("fields", "ranked"),
    [
        ({}, {"acme/answers", "acme/other"}),
        ({"group": "h"}, set()),
        ({"group": None}, set()),
        ({"answer_model": "n"}, set()),
        ({"answer_model": None}, set()),
    ],
)
def test_only_files_of_one_group_are_ranked(
    graded: Grade, tmp_path: Any, fields: dict[str, Any], ranked: set[str]
) -> None:
    first = graded(ROWS, BY_ID, group="g", answer_model="m")
    second = graded(ROWS, BY_ID, **({"name": "other", "group": "g", "answer_model": "m"} | fields))
    stranger = second.summary.model_copy(update={"source": "strange", "group": "g", "answer_model": "m"})
    files = [first.summary, second.summary, stranger]
    for each in (first, second, Regraded(stranger, second.rows)):
        write_regraded(tmp_path, each)
    assert stored_ranks(tmp_path, files).keys() == ranked
