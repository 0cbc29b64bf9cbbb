"""Paired differences with their intervals, and McNemar's test."""

import math
import random

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from memeval.statistics.paired import mcnemar, paired_difference, paired_means
from tests.statistics.samples import drawn, layout, p_of, samples_of, singles

SMALL = layout((6, 4), clusters=3)


def test_one_category_of_independent_items_has_the_paired_t_interval() -> None:
    shape = singles((80,))
    first, second = drawn(shape, 0.7, 1), drawn(shape, 0.5, 2)
    differences = [float(a) - float(b) for a, b in zip(first[0], second[0], strict=True)]
    expected = scipy.stats.ttest_1samp(differences, 0.0)
    found = paired_difference(shape, first, second)
    assert found.difference == pytest.approx(sum(differences) / 80)
    interval = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


@given(samples_of(SMALL), samples_of(SMALL))
def test_swapping_the_rows_turns_the_difference_round(first: list[list[bool]], second: list[list[bool]]) -> None:
    there, back = paired_difference(SMALL, first, second), paired_difference(SMALL, second, first)
    assert back.difference == pytest.approx(-there.difference)
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low))
    assert p_of(back) == pytest.approx(p_of(there))


@given(samples_of(SMALL))
def test_a_row_does_not_differ_from_itself(sample: list[list[bool]]) -> None:
    found = paired_difference(SMALL, sample, sample)
    assert (found.difference, found.low, found.high, p_of(found)) == (0.0, 0.0, 0.0, 1.0)


def test_a_few_clusters_that_all_agree_are_not_certainty() -> None:
    shape = layout((6,), clusters=3)
    found = paired_difference(shape, [[True] * 6], [[False] * 6])
    assert (found.difference, p_of(found)) == (1.0, 0.25)


def test_with_one_cluster_no_difference_is_significant() -> None:
    found = paired_difference(layout((6,), clusters=1), [[True] * 6], [[False] * 6])
    assert (found.difference, found.low, found.high, p_of(found)) == (1.0, -1.0, 1.0, 1.0)


def test_copies_of_the_same_items_add_no_evidence() -> None:
    once, thrice = layout((30,), clusters=30), layout((90,), clusters=30)
    first, second = drawn(once, 0.8, 5)[0], drawn(once, 0.5, 6)[0]
    single = paired_difference(once, [first], [second])
    copied = paired_difference(thrice, [[*first, *first, *first]], [[*second, *second, *second]])
    assert p_of(copied) == pytest.approx(p_of(single))


def test_equal_systems_rarely_differ_significantly() -> None:
    chance, shape, rejected = random.Random(11), layout((60, 40), clusters=30), 0
    for _ in range(400):
        bent = {name: chance.betavariate(2, 2) for name in shape.names}
        first, second = (
            [[chance.random() < bent[name] for name in category] for category in shape.clusters] for _ in range(2)
        )
        rejected += p_of(paired_difference(shape, first, second)) < 0.05
    assert 0.02 <= rejected / 400 <= 0.08


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=200))
def test_mcnemar_is_the_exact_sign_test_of_the_items_that_flipped(pairs: list[tuple[bool, bool]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    only_first, flipped = sum(a > b for a, b in pairs), sum(a != b for a, b in pairs)
    expected = scipy.stats.binomtest(only_first, flipped).pvalue if flipped else 1.0
    assert mcnemar(first, second) == pytest.approx(expected)
    assert mcnemar(second, first) == mcnemar(first, second)


def test_mcnemar_takes_thousands_of_items() -> None:
    assert mcnemar([True] * 3000, [False] * 3000) == 0.0


def test_means_of_any_size_have_the_paired_t_interval_and_roots_the_delta_method() -> None:
    one, two = [(9.0 * k) % 5 for k in range(40)], [(7.0 * k) % 4 for k in range(40)]
    names = [str(k) for k in range(40)]
    expected = scipy.stats.ttest_1samp([a - b for a, b in zip(one, two, strict=True)], 0.0)
    found = paired_means(names, one, two)
    assert found.difference == pytest.approx(sum(one) / 40 - sum(two) / 40)
    assert sum(found.parts.values()) == pytest.approx(found.difference)
    interval = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    roots = paired_means(names, one, two, root=True)
    linear = [
        a / (2 * (sum(one) / 40) ** 0.5) - b / (2 * (sum(two) / 40) ** 0.5) for a, b in zip(one, two, strict=True)
    ]
    assert p_of(roots) == p_of(found), "a test of roots is a test of their squares"
    assert sum(roots.parts.values()) == pytest.approx(roots.difference)
    spread = scipy.stats.ttest_1samp(linear, 0.0).confidence_interval(0.95)
    assert roots.difference == pytest.approx((sum(one) / 40) ** 0.5 - (sum(two) / 40) ** 0.5)
    assert roots.high - roots.low == pytest.approx(spread.high - spread.low)
    assert p_of(paired_means(["a"], [1.0], [9.0])) == 1.0
    assert paired_means(names, [0.0] * 40, [0.0] * 40, root=True).difference == 0.0
    with pytest.raises(ValueError, match="one value per item"):
        paired_means([], [], [])


def test_means_of_clusters_of_unequal_size_by_hand() -> None:
    """Differences -1, 0 | 1, 0, 1 | -2 of mean 1/6: the clusters' sums of deviations over 6 are t(a), t(b), t(c)."""
    one, two = [1.0, 2.0, 4.0, 3.0, 5.0, 2.0], [2.0, 2.0, 3.0, 3.0, 4.0, 4.0]
    found = paired_means(["a", "a", "b", "b", "b", "c"], one, two)
    mean = (-1 + 0 + 1 + 0 + 1 - 2) / 6
    sums = (-1 - 2 * mean, 2 - 3 * mean, -2 - mean)
    error = math.sqrt(3 / 2 * math.fsum((each / 6) ** 2 for each in sums))
    assert found.difference == pytest.approx(mean, abs=1e-12)
    assert (found.high - found.low) / 2 == pytest.approx(0.95 * math.sqrt(2 / (1 - 0.95**2)) * error)  # t of 2 degrees
    assert found.parts == pytest.approx({"a": -1 / 6, "b": 2 / 6, "c": -2 / 6})
    assert p_of(found) == 1.0, "every pattern of signs gives at least 1/6"
