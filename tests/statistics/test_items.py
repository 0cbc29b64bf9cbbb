"""Item statistics agree with their definitions, computed item by item."""

import statistics
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.statistics.flips import Array
from memeval.statistics.items import Weighting, composites, item_statistics

CATEGORIES = np.array([0, 0, 0, 1, 1, 2])
FIXED = Weighting(CATEGORIES, np.array([0.5, 0.3, 0.2]))
SHARED = Weighting(CATEGORIES, np.array([3, 2, 1]) / 6, shared=True)

TABLES = st.integers(1, 7).flatmap(
    lambda systems: st.lists(
        st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=6, max_size=6), min_size=systems, max_size=systems
    )
)


def naive_composite(row: list[float], weighting: Weighting, left_out: int | None = None) -> float:
    """Return the composite over the remaining items; a category without items is left out, weights as they were."""
    kept = [item for item in range(len(row)) if item != left_out]
    if weighting.shared:
        return statistics.fmean(row[item] for item in kept)
    total = 0.0
    for category, weight in enumerate(weighting.weights):
        values = [row[item] for item in kept if weighting.category[item] == category]
        total += weight * statistics.fmean(values) if values else 0.0
    return total


def naive_places(values: list[float]) -> list[int]:
    return [1 + sum(other > value + 1e-9 for other in values) for value in values]


@given(rows=TABLES, shared=st.booleans())
def test_every_statistic_is_that_of_its_definition(rows: list[list[float]], shared: bool) -> None:
    weighting = SHARED if shared else FIXED
    found = item_statistics(np.array(rows), weighting)
    before = naive_places([naive_composite(row, weighting) for row in rows])
    for item in range(6):
        scores = [row[item] for row in rows]
        rest = [naive_composite(row, weighting, item) for row in rows]
        assert found.difficulty[item] == pytest.approx(statistics.fmean(scores))
        assert found.everyone[item] == (min(scores) == 1)
        assert found.nobody[item] == (max(scores) == 0)
        assert found.moved[item] == sum(a != b for a, b in zip(before, naive_places(rest), strict=True))
        if len(rows) < 3 or np.ptp(scores) < 1e-6 or np.ptp(rest) < 1e-6:
            assert np.isnan(found.discrimination[item])
        else:
            assert found.discrimination[item] == pytest.approx(statistics.correlation(scores, rest))


def test_the_composite_is_the_weighted_mean_of_the_categories() -> None:
    row = [1.0, 0, 0, 1, 0, 1]
    assert composites(np.array([row]), FIXED) == pytest.approx([0.5 / 3 + 0.3 / 2 + 0.2])


def test_removing_an_item_that_decides_a_place_moves_both_systems() -> None:
    scores = np.array([[1.0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1.0]])  # 0.167 and 0.2
    assert item_statistics(scores, FIXED).moved.tolist() == [0, 2, 2, 0, 0, 2]


def test_an_item_of_a_category_that_does_not_count_moves_nobody() -> None:
    scores = np.array([[1.0, 1, 0, 0, 1, 0], [0, 1, 1, 1, 0, 1]])
    found = item_statistics(scores, Weighting(CATEGORIES, np.array([1.0, 0, 0])))
    assert found.moved[3:].tolist() == [0, 0, 0]


@pytest.mark.parametrize("value", [0.0, 1.0, 0.5])
def test_tied_systems_have_no_discrimination_and_share_all_places(value: float) -> None:
    found = item_statistics(np.full((4, 6), value), FIXED)
    assert np.isnan(found.discrimination).all()
    assert found.moved.tolist() == [0] * 6
    assert bool(found.everyone.all()) == (value == 1)
    assert bool(found.nobody.all()) == (value == 0)


@pytest.mark.parametrize(
    "scores",
    [np.zeros((0, 6)), np.zeros((2, 0)), np.full((2, 6), np.nan), np.full((2, 6), 1.5), np.full((2, 6), -1.0)],
    ids=["no system", "no item", "NaN", "above 1", "below 0"],
)
def test_scores_that_are_no_scores_are_refused(scores: Array) -> None:
    with pytest.raises(ValueError, match=r"at least one|from 0 to 1"):
        item_statistics(scores, FIXED)


def test_an_item_without_a_category_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a category"):
        item_statistics(np.zeros((2, 7)), FIXED)
    with pytest.raises(ValueError, match="needs a category"):
        item_statistics(np.zeros((2, 6)), Weighting(CATEGORIES, np.ones(2)))


def test_five_hundred_systems_have_places_like_any_other_number() -> None:
    scores = (np.random.default_rng(2).random((500, 40)) < 0.5).astype(float)
    weighting = Weighting(np.zeros(40, np.intp), np.ones(1), shared=True)
    assert item_statistics(scores, weighting).moved.min() > 0


def test_two_hundred_systems_and_all_items_of_locomo_take_less_than_two_seconds() -> None:
    scores = (np.random.default_rng(1).random((200, 1986)) < 0.5).astype(float)
    weighting = Weighting(np.arange(1986) % 5, np.full(5, 0.2))
    started = time.process_time()
    found = item_statistics(scores, weighting)
    assert time.process_time() - started < 2
    assert found.moved.max() > 0
