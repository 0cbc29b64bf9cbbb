"""Ratios of times that were measured in pairs."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.statistics.time_ratios import time_ratio

SECONDS = st.floats(1e-3, 1e3)


def test_a_ratio_has_the_interval_of_its_logarithms() -> None:
    # Logarithms 0, 1 and 2 have mean 1 and standard deviation 1; t with 2 degrees of freedom is 4.3027.
    found = time_ratio([(1.0, 1.0), (math.e, 1.0), (math.e**2, 1.0)])
    half = 4.3027 / math.sqrt(3)
    assert (found.value, found.low, found.high) == pytest.approx(
        (math.e, math.exp(1 - half), math.exp(1 + half)), rel=1e-4
    )


@given(st.lists(st.tuples(SECONDS, SECONDS, st.floats(0.1, 10)), min_size=2, max_size=9))
def test_load_that_slows_both_times_of_a_pair_leaves_the_ratio(pairs: list[tuple[float, float, float]]) -> None:
    quiet = time_ratio([(a, b) for a, b, _load in pairs])
    loaded = time_ratio([(a * load, b * load) for a, b, load in pairs])
    assert (loaded.value, loaded.low, loaded.high) == pytest.approx((quiet.value, quiet.low, quiet.high), rel=1e-6)


@given(st.lists(st.tuples(SECONDS, SECONDS), min_size=2, max_size=9))
def test_the_other_way_round_the_ratio_is_inverted(pairs: list[tuple[float, float]]) -> None:
    one, two = time_ratio(pairs), time_ratio([(b, a) for a, b in pairs])
    assert (two.value, two.low, two.high) == pytest.approx((1 / one.value, 1 / one.high, 1 / one.low), rel=1e-6)


def test_a_single_pair_has_no_interval() -> None:
    found = time_ratio([(3.0, 2.0)])
    assert found.value == pytest.approx(1.5)
    assert (found.low, found.high) == (0.0, math.inf)


def test_a_time_of_zero_counts_as_the_resolution() -> None:
    assert time_ratio([(0.0, 1e-6)] * 3).value == pytest.approx(1)


@pytest.mark.parametrize("pairs", [[], [(-1.0, 1.0)], [(1.0, math.nan)], [(math.inf, 1.0)]])
def test_times_that_have_no_ratio_are_refused(pairs: list[tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match="pair of times"):
        time_ratio(pairs)
