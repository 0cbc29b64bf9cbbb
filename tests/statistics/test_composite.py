"""The composite's interval."""

import math
import random

import pytest
from hypothesis import given

from memeval.statistics.composite import Layout, Sample, composite_interval, design_effect
from memeval.statistics.intervals import wilson
from tests.statistics.samples import credits_of, layout, samples_of, singles

SMALL = layout((6, 4), clusters=3)


def test_one_category_of_independent_items_has_wilsons_interval() -> None:
    found = composite_interval(singles((80,)), [[i < 64 for i in range(80)]])
    assert found.design_effect == pytest.approx(1.0)
    assert (found.low, found.high) == pytest.approx(wilson(64, 80))


def test_two_independent_categories_are_combined_by_square_and_add() -> None:
    sample = [[i < 72 for i in range(100)], [i < 20 for i in range(80)]]
    found = composite_interval(singles(), sample)
    (l1, u1), (l2, u2) = wilson(72, 100), wilson(20, 80)
    assert found.value == pytest.approx(0.485)
    assert found.low == pytest.approx(0.485 - 0.5 * math.hypot(0.72 - l1, 0.25 - l2))
    assert found.high == pytest.approx(0.485 + 0.5 * math.hypot(u1 - 0.72, u2 - 0.25))


def test_clusters_that_stand_and_fall_together_widen_the_interval() -> None:
    shape = Layout((1.0,), (tuple(f"p{i // 4}" for i in range(80)),))
    together = [[(i // 4) % 2 == 0 for i in range(80)]]
    assert design_effect(shape, together) == pytest.approx(4 * (20 / 19) / (80 / 79))
    wide, narrow = composite_interval(shape, together), composite_interval(singles((80,)), together)
    assert wide.low is not None and wide.high is not None and narrow.low is not None and narrow.high is not None
    assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx(math.sqrt(4 * (20 / 19) / (80 / 79)))


def test_clusters_that_balance_each_other_do_not_narrow_it() -> None:
    shape = Layout((1.0,), (tuple(f"p{i // 2}" for i in range(80)),))
    balanced = [[i % 2 == 0 for i in range(80)]]
    assert design_effect(shape, balanced) == pytest.approx(0.0, abs=1e-12)
    found = composite_interval(shape, balanced)
    assert (found.low, found.high) == pytest.approx(wilson(40, 80))


def test_a_cluster_counts_across_categories() -> None:
    shape = Layout((0.5, 0.5), (("a", "b", "c", "d"), ("a", "b", "c", "d")))
    same, crossed = [[True, True, False, False]] * 2, [[True, True, False, False], [False, False, True, True]]
    above, below = design_effect(shape, same), design_effect(shape, crossed)
    assert above is not None and below is not None and above > 1.5 and below == pytest.approx(0.0)


def test_one_cluster_says_nothing_about_others() -> None:
    found = composite_interval(layout((10,), clusters=1), [[True] * 5 + [False] * 5])
    assert (found.value, found.low, found.high, found.design_effect) == (0.5, None, None, None)


@pytest.mark.parametrize(("weights", "clusters"), [((), ()), ((1.0,), ((),)), ((1.0,), (("a",), ("b",)))])
def test_a_layout_without_items_is_refused(weights: tuple[float, ...], clusters: tuple[tuple[str, ...], ...]) -> None:
    with pytest.raises(ValueError, match="at least one item"):
        Layout(weights, clusters)


def test_a_sample_of_another_layout_is_refused() -> None:
    for sample in ([[True] * 6], [[True] * 6, [True] * 5]):
        with pytest.raises(ValueError, match="layout's items"):
            composite_interval(SMALL, sample)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    # 500 draws; clusters share a bent of their own, so items are far from independent.
    chance, shape = random.Random(7), layout((100, 80), clusters=45)
    covered = 0
    for _ in range(500):
        bent = {name: chance.betavariate(3, 2) for name in shape.names}
        sample = [[chance.random() < bent[name] for name in category] for category in shape.clusters]
        found = composite_interval(shape, sample)
        assert found.low is not None and found.high is not None
        covered += found.low <= 0.6 <= found.high
    assert 0.92 <= covered / 500 <= 0.99


@given(samples_of(layout((8, 6), clusters=7)) | credits_of(layout((8, 6), clusters=7)))
def test_the_composite_of_credits_is_their_mean_within_its_interval(sample: Sample) -> None:
    shape = layout((8, 6), clusters=7)
    found = composite_interval(shape, sample)
    assert found.value == pytest.approx(sum(sample[0]) / 16 + sum(sample[1]) / 12)
    assert found.low is not None and found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert composite_interval(singles((5,)), [[0.5] * 5]).low == pytest.approx(wilson(2.5, 5)[0])
