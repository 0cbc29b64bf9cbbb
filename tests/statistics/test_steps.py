"""Steps in a series."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.statistics.steps import LEAST_POINTS, find_steps


@given(st.floats(-1e6, 1e6), st.integers(0, 40))
def test_a_constant_series_has_no_step(value: float, count: int) -> None:
    assert find_steps([value] * count) == ()


@given(st.lists(st.floats(-1e3, 1e3), max_size=LEAST_POINTS - 1))
def test_fewer_than_eight_points_have_no_step(values: list[float]) -> None:
    assert find_steps(values) == ()


@settings(max_examples=25)
@given(
    before=st.integers(4, 20),
    after=st.integers(4, 20),
    height=st.floats(0.05, 0.6),
    is_up=st.booleans(),
    chance=st.randoms(use_true_random=False),
)
def test_a_made_step_ten_times_the_noise_is_found_where_it_is(
    before: int, after: int, height: float, is_up: bool, chance: random.Random
) -> None:
    low, high = (0.2, 0.2 + height) if is_up else (0.2 + height, 0.2)
    series = [level + chance.uniform(-0.05, 0.05) * height for level in [low] * before + [high] * after]
    found = find_steps(series)
    assert before in [step.index for step in found]
    largest = max(found, key=lambda step: abs(step.after - step.before))
    assert largest.index == before
    # Each level is a median of values that are off by at most 0.05.
    assert largest.after - largest.before == pytest.approx(high - low, abs=0.1 * height)
    assert largest.p < 0.05


@settings(max_examples=20)
@given(st.lists(st.floats(0, 1), min_size=8, max_size=24), st.floats(0.1, 100), st.floats(-50, 50))
def test_another_unit_gives_the_same_steps(values: list[float], scale: float, shift: float) -> None:
    rounded = [round(value, 2) for value in values]
    moved = [scale * value + shift for value in rounded]
    assert [step.index for step in find_steps(moved)] == [step.index for step in find_steps(rounded)]


def test_two_steps_have_the_means_between_them() -> None:
    chance = random.Random(3)
    series = [level + chance.gauss(0, 0.005) for level in [0.7] * 12 + [0.5] * 12 + [0.6] * 12]
    first, second = find_steps(series)
    assert (first.index, second.index) == (12, 24)
    assert (first.before, first.after, second.after) == pytest.approx((0.7, 0.5, 0.6), abs=0.01)
    assert first.after == second.before


def test_one_bad_run_at_the_end_is_no_step() -> None:
    assert find_steps([0.7] * 9 + [0.1]) == ()


def test_eight_points_are_enough_for_a_clear_step() -> None:
    assert [step.index for step in find_steps([0.70, 0.71, 0.69, 0.70, 0.60, 0.61, 0.59, 0.60])] == [4]


def test_about_five_of_a_hundred_series_of_noise_show_a_step() -> None:
    chance = random.Random(2026)
    alarms = sum(bool(find_steps([chance.gauss(0.6, 0.02) for _ in range(12)])) for _ in range(400))
    assert 8 <= alarms <= 34, f"{alarms} of 400: 20 are expected, and the bounds miss them once in 500"


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        find_steps([0.5] * 8 + [bad])
