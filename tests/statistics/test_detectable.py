"""The minimum detectable difference is one that the test finds in 80 % of repeats, whatever the clusters."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.statistics.composite import Layout
from memeval.statistics.detectable import (
    ASSUMED,
    STEP,
    Clustering,
    Disagreement,
    detectable,
    disagreement,
    effective_clusters,
    simulated_power,
    t_power,
)
from memeval.statistics.paired import paired_difference
from tests.statistics.samples import p_of

LOCOMO = [199, 105, 193, 260, 242, 158, 190, 239, 196, 204]
"""Questions of the ten conversations of LoCoMo."""

COUNTS = st.lists(st.integers(1, 40), min_size=1, max_size=40)


def clustering(sizes: list[int]) -> Clustering:
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    return Clustering.of(np.full(len(cluster), 1 / len(cluster)), cluster)


@pytest.mark.parametrize("degrees", [5, 9, 40, 499])
@pytest.mark.parametrize("noncentrality", [0.0, 1.0, 2.9, 5.0])
def test_the_power_of_the_t_test_is_scipys(noncentrality: float, degrees: int) -> None:
    limit = scipy.stats.t.ppf(0.975, degrees)
    expected = scipy.stats.nct.sf(limit, degrees, noncentrality) + scipy.stats.nct.cdf(-limit, degrees, noncentrality)
    assert t_power(noncentrality, degrees) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("sizes", [[9] * 56, [1] * 300, list(range(5, 105, 5)), [25] * 14], ids=len)
@pytest.mark.parametrize("spread", [0.0, 0.05, 0.1])
def test_the_approximation_agrees_with_the_simulated_test(sizes: list[int], spread: float) -> None:
    differs = Disagreement(0.25, spread)
    found = detectable(clustering(sizes), differs)
    assert found is not None
    assert simulated_power(clustering(sizes), differs, found) == pytest.approx(0.8, abs=0.05)


def test_real_comparisons_of_clustered_items_find_the_detectable_difference_in_80_percent() -> None:
    sizes, random = [12] * 20, np.random.default_rng(3)
    cluster = np.repeat(np.arange(20), sizes)
    found = detectable(clustering(sizes), Disagreement(0.4, 0.1))
    assert found is not None
    layout = Layout((1.0,), (tuple(map(str, cluster)),))
    significant = 0
    for _ in range(300):
        mean = found + 0.1 * random.standard_normal(20)[cluster]
        better = random.random(240)
        change = np.where(better < (0.4 + mean) / 2, 1, np.where(better < 0.4, -1, 0))
        difference = paired_difference(layout, [(change > 0).tolist()], [(change < 0).tolist()])
        significant += p_of(difference) < 0.05
    assert significant / 300 == pytest.approx(0.8, abs=0.07)


def test_locomos_ten_conversations_show_less_than_as_many_independent_questions() -> None:
    conversations, independent = clustering(LOCOMO), clustering([1] * sum(LOCOMO))
    assert detectable(conversations, ASSUMED) == pytest.approx(0.062, abs=0.003)
    assert detectable(independent, ASSUMED) == pytest.approx(0.032, abs=0.002)


@pytest.mark.parametrize("clusters", [1, 2, 5])
def test_too_few_clusters_show_no_difference(clusters: int) -> None:
    assert detectable(clustering([100] * clusters), ASSUMED) is None
    assert simulated_power(clustering([100] * clusters), Disagreement(0.25, 0.0), 0.9) == 0


def test_six_clusters_show_a_large_difference() -> None:
    found = detectable(clustering([20] * 6), ASSUMED)
    assert found is not None
    assert 0.15 < found < 0.25


def test_one_dominant_cluster_is_simulated_and_costs_power() -> None:
    dominated = clustering([400] + [10] * 20)
    assert effective_clusters(dominated, ASSUMED) < 12
    assert (detectable(dominated, ASSUMED) or 1) > 1.2 * (detectable(clustering([30] * 20), ASSUMED) or 1)


@settings(max_examples=40)
@given(sizes=COUNTS, share=st.floats(0, 1), spread=st.floats(0, 0.5))
def test_it_is_a_share_or_no_difference_can_be_shown(sizes: list[int], share: float, spread: float) -> None:
    found = detectable(clustering(sizes), Disagreement(share, spread))
    assert found is None or STEP <= found <= 1


@settings(max_examples=30)
@given(clusters=st.integers(13, 60), size=st.integers(1, 30), share=st.floats(0.01, 0.5), spread=st.floats(0, 0.1))
def test_more_clusters_and_less_spread_never_hurt(clusters: int, size: int, share: float, spread: float) -> None:
    found = detectable(clustering([size] * clusters), Disagreement(share, spread)) or 1
    assert (detectable(clustering([size] * (clusters + 5)), Disagreement(share, spread)) or 1) <= found + STEP
    assert (detectable(clustering([size] * clusters), Disagreement(share, spread / 2)) or 1) <= found


def test_even_clusters_are_clusters_of_equal_size() -> None:
    even, sized = Clustering.even(120, 12), clustering([10] * 12)
    assert even.shares == pytest.approx(sized.shares)
    assert even.squares == pytest.approx(sized.squares)


@pytest.mark.parametrize(("items", "clusters"), [(0, 0), (5, 6), (5, 0)])
def test_impossible_clusters_are_refused(items: int, clusters: int) -> None:
    with pytest.raises(ValueError, match="cannot have"):
        Clustering.even(items, clusters)


def test_a_value_in_which_no_item_counts_is_refused() -> None:
    with pytest.raises(ValueError, match="no item counts"):
        Clustering.of(np.zeros(3), np.arange(3))


# -- disagreement ----------------------------------------------------------------------------------------------


def test_the_share_is_that_of_the_items_that_exactly_one_system_gets() -> None:
    scores = np.array([[1.0, 1, 0, 0, 1], [1, 0, 1, 0, 1]])
    found = disagreement(scores, np.full(5, 0.2), np.arange(5), np.zeros(5, np.intp))
    assert found == Disagreement(0.4, 0.0)


def test_the_mean_over_pairs_is_that_of_the_pairs() -> None:
    random = np.random.default_rng(5)
    scores, cluster = (random.random((4, 60)) < 0.5).astype(float), np.repeat(np.arange(10), 6)
    category, weights = np.arange(60) % 2, np.full(60, 1 / 60)
    pairs = [disagreement(scores[[i, j]], weights, cluster, category) for i in range(4) for j in range(i + 1, 4)]
    shares = [pair.share for pair in pairs if pair is not None]
    together = disagreement(scores, weights, cluster, category)
    assert together is not None
    assert together.share == pytest.approx(np.mean(shares))


def test_the_spread_between_clusters_is_recovered() -> None:
    random = np.random.default_rng(7)
    cluster, spread = np.repeat(np.arange(400), 25), 0.15
    skill = 0.5 + spread / np.sqrt(2) * random.standard_normal((2, 400))
    scores = (random.random((2, len(cluster))) < skill[:, cluster]).astype(float)
    found = disagreement(scores, np.full(len(cluster), 1 / len(cluster)), cluster, np.zeros(len(cluster), np.intp))
    assert found is not None
    assert found.spread == pytest.approx(spread, abs=0.02)
    assert found.share == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_systems_that_never_differ_still_have_a_detectable_difference(value: float) -> None:
    found = disagreement(np.full((3, 200), value), np.full(200, 1 / 200), np.arange(200) // 5, np.zeros(200, np.intp))
    assert found == Disagreement(0.0, 0.0)
    assert 0 < (detectable(clustering([5] * 40), found) or 1) < 0.1


def test_partial_credit_of_two_systems_that_differ_everywhere_alike_varies_little() -> None:
    first = np.linspace(0.2, 0.6, 50)
    scores = np.vstack([first, first + 0.3 + 0.01 * (np.arange(50) % 2)])
    found = disagreement(scores, np.full(50, 0.02), np.arange(50), np.zeros(50, np.intp))
    assert found is not None
    assert found.is_partial
    assert (detectable(clustering([1] * 50), found) or 1) < 0.01


def test_scores_that_are_not_numbers_are_refused() -> None:
    scores = np.array([[1.0, np.nan, 0], [0, 1, 0]])
    with pytest.raises(ValueError, match="must be a number"):
        disagreement(scores, np.full(3, 1 / 3), np.arange(3), np.zeros(3, np.intp))


@settings(max_examples=40)
@given(
    systems=st.integers(2, 6),
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=20),
    seed=st.integers(0, 999),
    partial=st.booleans(),
)
def test_any_scores_have_a_disagreement_that_gives_a_share_or_nothing(
    systems: int, sizes: list[int], seed: int, partial: bool
) -> None:
    random, cluster = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    scores = random.random((systems, len(cluster)))
    scores = scores if partial else np.round(scores)
    weights, category = np.full(len(cluster), 1 / len(cluster)), np.arange(len(cluster)) % 2
    found = disagreement(scores, weights, cluster, category)
    assert found is not None
    assert 0 <= found.share <= 1
    difference = detectable(Clustering.of(weights, cluster), found)
    assert (difference is None) >= (len(sizes) < 6)
    assert difference is None or STEP <= difference <= 1


def test_one_system_has_no_disagreement() -> None:
    assert disagreement(np.ones((1, 5)), np.full(5, 0.2), np.arange(5), np.zeros(5, np.intp)) is None
