"""Steps in the history of a product."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.statistics.flips import Array, family_tests
from memeval.statistics.version_steps import find_steps

CLUSTERS = tuple(f"cluster {number:02}" for number in range(20))


def noise(versions: int, seed: int = 0, size: float = 0.001) -> Array:
    return np.random.default_rng(seed).normal(0.03, size, (versions, len(CLUSTERS)))


def test_versions_with_equal_answers_have_no_step() -> None:
    assert find_steps(np.tile(noise(1), (9, 1)), CLUSTERS) == ()


@pytest.mark.parametrize("versions", [0, 1])
def test_a_history_without_two_versions_has_no_step(versions: int) -> None:
    assert find_steps(noise(versions), CLUSTERS) == ()


@settings(max_examples=25, deadline=None)
@given(before=st.integers(1, 8), after=st.integers(1, 8), is_up=st.booleans(), seed=st.integers(0, 999))
def test_a_step_ten_times_the_noise_is_found_at_its_version(before: int, after: int, is_up: bool, seed: int) -> None:
    parts = noise(before + after, seed)
    height = 0.01 if is_up else -0.01
    parts[before:] += height
    found = {step.index: step for step in find_steps(parts, CLUSTERS)}
    assert before in found
    largest = max(found.values(), key=lambda step: abs(step.after - step.before))
    assert largest.index == before
    assert largest.after - largest.before == pytest.approx(20 * height, rel=0.25)


def test_two_steps_have_the_means_between_them() -> None:
    parts = noise(9)
    parts[3:6] -= 0.01
    parts[6:] -= 0.005
    first, second = find_steps(parts, CLUSTERS)
    assert (first.index, second.index) == (3, 6)
    assert (first.before, first.after, second.after) == pytest.approx((0.6, 0.4, 0.5), abs=0.01)
    assert first.after == second.before


@given(seed=st.integers(0, 99), height=st.floats(-0.002, 0.002))
@settings(max_examples=20, deadline=None)
def test_two_versions_have_the_p_value_of_compare(seed: int, height: float) -> None:
    parts = noise(2, seed)
    parts[1] += height
    gap = dict(zip(CLUSTERS, (parts[1] - parts[0]).tolist(), strict=True))
    p = float(family_tests([gap], ["composite"], main="composite").p[0])
    found = find_steps(parts, CLUSTERS)
    assert [step.p for step in found] == ([p] if p < 0.05 else [])


def test_five_clusters_cannot_show_a_step() -> None:
    parts = noise(8)[:, :5]
    parts[4:] += 0.1
    assert find_steps(parts, CLUSTERS[:5]) == (), "one of 16 patterns of signs is 6.25 %"


def test_a_part_that_is_no_number_is_refused() -> None:
    parts = noise(3)
    parts[1, 2] = np.nan
    with pytest.raises(ValueError, match="finite"):
        find_steps(parts, CLUSTERS)
