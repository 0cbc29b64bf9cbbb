"""Corrected shares equal the published program's, weighted shares known surveys', and tails SciPy's."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from memeval.statistics.agreement import kendall_tau
from memeval.statistics.correction import (
    Estimate,
    WeightedShare,
    chi_squared_tail,
    corrected_share,
    equal_shares,
    tells_apart,
    weighted_share,
)


def share_of(value: float, rows: float) -> WeightedShare:
    return WeightedShare(Estimate(value, 0.0, 1.0), math.ceil(rows), rows)


# Computed with the authors' own program, UW-Madison-Lee-Lab/LLM-judge-reporting, llm_judge_reporting/calibration.py.
@pytest.mark.parametrize(
    ("p", "q0", "q1", "m0", "m1", "wanted"),
    [
        (0.62, 0.8, 0.9, 120, 150, (0.5999999999999998, 0.5311105510316834, 0.6690191662227567)),
        (0.3, 0.97, 0.55, 80, 100, (0.5192307692307693, 0.4031980084978959, 0.6329028208417922)),
    ],
)
def test_a_corrected_share_equals_the_authors_program(
    p: float, q0: float, q1: float, m0: int, m1: int, wanted: tuple[float, ...]
) -> None:
    found = corrected_share(p, 1540, share_of(q0, m0), share_of(q1, m1))
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx(wanted, abs=1e-12)


def test_a_grader_that_guesses_cannot_be_corrected() -> None:
    assert not tells_apart(share_of(0.5, 100), share_of(0.55, 100))
    assert corrected_share(0.5, 100, share_of(0.5, 100), share_of(0.55, 100)) is None
    assert tells_apart(share_of(0.8, 100), share_of(0.8, 100))


def test_weights_count_as_rows_and_reduce_their_effective_number() -> None:
    found = weighted_share([True, False, False], [2.0, 1.0, 1.0])
    assert found is not None
    assert (found.estimate.value, found.rows) == (0.5, 3)
    assert found.effective == pytest.approx(16 / 6)
    assert weighted_share([], []) is None


@given(st.lists(st.tuples(st.booleans(), st.floats(0.1, 100)), min_size=1, max_size=30))
def test_an_interval_contains_its_share_and_equal_weights_keep_all_rows(rows: list[tuple[bool, float]]) -> None:
    values, weights = [value for value, _weight in rows], [weight for _value, weight in rows]
    found = weighted_share(values, weights)
    assert found is not None
    assert found.estimate.low <= found.estimate.value + 1e-9 and found.estimate.value <= found.estimate.high + 1e-9
    assert found.effective <= len(rows) + 1e-9
    equal = weighted_share(values, [3.0] * len(values))
    assert equal is not None and equal.effective == pytest.approx(len(values))


@given(st.floats(0, 200), st.integers(1, 40))
def test_the_tail_of_chi_squared_equals_scipys(value: float, freedom: int) -> None:
    assert chi_squared_tail(value, freedom) == pytest.approx(stats.chi2.sf(value, freedom), abs=1e-12)


def test_unequal_shares_are_told_apart_and_equal_ones_are_not() -> None:
    apart = equal_shares([share_of(0.2, 100), share_of(0.6, 100)])
    assert apart == pytest.approx(stats.chi2_contingency([[20, 80], [60, 40]], correction=False).pvalue)
    assert equal_shares([share_of(0.4, 100), share_of(0.4, 50)]) == 1.0
    assert equal_shares([share_of(0.0, 100), share_of(0.0, 50)]) is None
    assert equal_shares([share_of(0.4, 100)]) is None


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8))
def test_rank_agreement_equals_scipys(pairs: list[tuple[int, int]]) -> None:
    first, second = [a for a, _b in pairs], [b for _a, b in pairs]
    found, wanted = kendall_tau(first, second), stats.kendalltau(first, second).statistic
    assert found is None if math.isnan(wanted) else found == pytest.approx(wanted)
