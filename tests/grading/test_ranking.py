"""Measures of rankings, against sums done by hand."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.grading.evidence import measures


def test_measures_by_hand() -> None:
    found = measures(["b", "x", "a", "y", "z", "c"], {"a", "b", "c", "d"}, (1, 3, 10))
    assert found["recall@1"] == 0.25 and found["recall@3"] == 0.5 and found["recall@10"] == 0.75
    assert found["precision@1"] == 1 and found["precision@3"] == 2 / 3 and found["precision@10"] == 0.3
    assert found["hit@1"] == 1 and found["recall_all@10"] == 0 and found["mrr"] == 1
    ideal = 1 + 1 / log2(3) + 1 / log2(4)
    assert found["ndcg@3"] == pytest.approx((1 + 1 / log2(4)) / ideal)
    assert found["ndcg@10"] == pytest.approx((1 + 1 / log2(4) + 1 / log2(7)) / (ideal + 1 / log2(5)))


def test_the_standard_ndcg_of_longmemevals_example() -> None:
    """The spec's comparison: the same ranking that its own formula gives 0.75."""
    ranking = ["s1", "answer_x", "s2", "answer_y", "s3"]
    found = measures(ranking, {"answer_x", "answer_y"})
    assert found["ndcg@5"] == pytest.approx(0.6509209298071326, abs=1e-15)
    assert found["mrr"] == 0.5


def test_not_everything_is_found_where_there_is_more_than_the_depth_holds() -> None:
    found = measures(["a", "b", "x"], {"a", "b"}, (1, 2))
    assert (found["recall@1"], found["recall_all@1"], found["ndcg@1"], found["recall_all@2"]) == (0.5, 0, 1, 1)


def test_nothing_retrieved_is_nothing_found() -> None:
    assert set(measures([], {"a"}).values()) == {0.0}


@pytest.mark.parametrize(("ranking", "relevant"), [(["a"], set()), (["a", "a"], {"a"})])
def test_what_cannot_be_measured_is_refused(ranking: list[str], relevant: set[str]) -> None:
    with pytest.raises(ValueError, match="needs relevant ids"):
        measures(ranking, relevant)


@given(st.lists(st.integers(0, 30), unique=True), st.sets(st.integers(0, 30), min_size=1))
def test_measures_are_shares_and_recall_never_falls_with_depth(ranking: list[int], relevant: set[int]) -> None:
    found = measures([str(one) for one in ranking], {str(one) for one in relevant})
    assert all(0 <= value <= 1 + 1e-12 for value in found.values())
    recalls = [found[f"recall@{k}"] for k in (1, 5, 10, 25, 50)]
    assert recalls == sorted(recalls)
    assert (found["mrr"] > 0) == (found["hit@50"] == 1)
