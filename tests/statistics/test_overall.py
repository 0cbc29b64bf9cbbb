"""The overall index has the right ends, its draws can be repeated, and its ranks follow from the shares alone."""

import hashlib
import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from memeval.statistics.composite import Layout, contributions
from memeval.statistics.flips import Array, pair_tests
from memeval.statistics.overall import (
    SEED,
    ClusterScores,
    drawn_weightings,
    gap_share,
    half_widths,
    index_tests,
    lead_of,
    leave_one_out,
    ranks_by,
    weighted_mean,
)

shares = st.floats(-1, 2, allow_nan=False)
tables = st.integers(1, 4).flatmap(
    lambda benchmarks: st.lists(st.lists(shares, min_size=benchmarks, max_size=benchmarks), min_size=1, max_size=6)
)


def drawn_items(clusters: int) -> tuple[Array, Array]:
    """Return items and points of runs in two categories."""
    draw = np.random.default_rng(0)
    items = draw.integers(1, 5, (2, clusters)).astype(float)
    return items, np.floor(draw.random((2, 2, clusters)) * (items + 1))


def made(runs: int, clusters: int) -> ClusterScores:
    items, points = drawn_items(clusters)
    totals = items.sum(axis=1, keepdims=True)
    return ClusterScores(items / totals, 0.5 * points[:runs] / totals)


@given(st.floats(0, 0.9), st.floats(0.05, 1))
def test_the_floor_has_no_share_of_the_gap_and_the_ceiling_all_of_it(floor: float, gap: float) -> None:
    ends = gap_share(np.array([floor, floor + gap]), floor, floor + gap)
    assert ends == pytest.approx([0, 1])


def test_a_share_is_not_clipped() -> None:
    assert gap_share(np.array([0.1, 0.9]), 0.2, 0.7) == pytest.approx([-0.2, 1.4])


def test_no_share_is_invented_where_the_ceiling_is_not_above_the_floor() -> None:
    assert np.isnan(gap_share(np.array([0.3]), 0.5, 0.5)).all()
    assert np.isnan(gap_share(np.array([0.3]), 0.5, 0.4)).all()


@given(tables, st.floats(0.1, 100))
def test_the_weighted_mean_is_that_of_numpy_at_any_scale_of_the_weights(rows: list[list[float]], scale: float) -> None:
    table = np.array(rows)
    weights = np.arange(1.0, table.shape[1] + 1)
    expected = np.average(table, axis=1, weights=weights)
    assert weighted_mean(table, scale * weights) == pytest.approx(expected)


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=12))
def test_ranks_are_those_of_scipy(values: list[float]) -> None:
    assert ranks_by(np.array(values)).tolist() == scipy.stats.rankdata(-np.array(values), method="min").tolist()


def test_ranks_are_given_row_by_row() -> None:
    assert ranks_by(np.array([[1.0, 2.0], [2.0, 2.0]])).tolist() == [[2, 1], [1, 1]]


@given(tables.filter(lambda rows: len(rows) > 1))
def test_the_shares_of_who_leads_sum_to_one(rows: list[list[float]]) -> None:
    table = np.array(rows)
    lead = lead_of(table[0], table[1], drawn_weightings(table.shape[1], 500))
    back = lead_of(table[1], table[0], drawn_weightings(table.shape[1], 500))
    assert lead.first + lead.second + lead.tied == pytest.approx(1)
    assert (lead.first, lead.second, lead.tied) == (back.second, back.first, back.tied)


def test_a_system_that_is_better_everywhere_leads_under_every_weighting() -> None:
    lead = lead_of(np.array([0.5, 0.6, 0.7]), np.array([0.4, 0.5, 0.6]), drawn_weightings(3))
    assert (lead.first, lead.second, lead.tied) == (1, 0, 0)


def test_equal_systems_are_tied_under_every_weighting() -> None:
    assert lead_of(np.array([0.1, 0.7]), np.array([0.1, 0.7]), drawn_weightings(2)).tied == 1


def test_the_share_of_weightings_agrees_with_its_exact_value() -> None:
    # w a > (1 - w) b for w uniform in [0, 1]: the share is a / (a + b).
    lead = lead_of(np.array([0.3, 0.0]), np.array([0.0, 0.1]), drawn_weightings(2))
    assert lead.first == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize("benchmarks", [1, 2, 5])
def test_weightings_are_drawn_evenly_from_the_simplex(benchmarks: int) -> None:
    drawn = drawn_weightings(benchmarks)
    assert drawn.sum(axis=1) == pytest.approx(np.ones(len(drawn)))
    assert (drawn >= 0).all()
    if benchmarks > 1:
        assert scipy.stats.kstest(drawn[:, 0], scipy.stats.beta(1, benchmarks - 1).cdf).pvalue > 0.01


def test_the_first_weighting_follows_from_the_published_seed() -> None:
    text = f"{SEED}:weightings:2".encode()
    numbers = [int.from_bytes(hashlib.shake_256(text).digest(8)[4 * n : 4 * n + 4], "little") for n in range(2)]
    logs = [-math.log((number + 1) / 2**32) for number in numbers]
    assert drawn_weightings(2, 3)[0] == pytest.approx([each / sum(logs) for each in logs], rel=1e-12)


def test_the_variance_of_an_index_is_that_of_the_linearised_scores() -> None:
    scores = made(runs=1, clusters=8)
    total, count = scores.items.sum(axis=0), 8
    share = scores.parts.sum()
    one = ClusterScores(total[None] / total.sum(), scores.parts.sum(axis=1)[:, None])
    by_hand = one.parts[0, 0] - total / total.sum() * share
    half = math.sqrt(count / (count - 1) * (by_hand**2).sum()) * scipy.stats.t.isf(0.025, count - 1)
    assert half_widths([one.deviations()]) == pytest.approx([half], rel=1e-9)


def test_the_interval_of_a_composite_is_cluster_robust() -> None:
    items, points = drawn_items(9)
    clusters = [[str(k) for k in range(9) for _ in range(int(each[k]))] for each in items]
    sample = [
        [float(number < points[0, c, k]) for k in range(9) for number in range(int(items[c, k]))] for c in range(2)
    ]
    layout = Layout((0.5, 0.5), tuple(map(tuple, clusters)))
    assert contributions(layout, sample) == pytest.approx(made(1, 9).deviations()[0].tolist())


def test_a_benchmark_with_few_clusters_has_few_degrees_of_freedom() -> None:
    few, many = made(1, 4).deviations(), made(1, 100).deviations()
    both, alone = half_widths([few, many])[0], math.sqrt(100 / 99 * (many**2).sum() + 4 / 3 * (few**2).sum())
    assert scipy.stats.t.isf(0.025, 102) * alone < both < scipy.stats.t.isf(0.025, 3) * alone


def test_scores_without_variance_have_an_interval_without_width() -> None:
    equal = ClusterScores(np.full((1, 5), 0.2), np.full((1, 1, 5), 0.1))
    assert half_widths([equal.deviations()]).tolist() == [0]


@pytest.mark.parametrize("items", [np.ones((1, 1)), np.eye(2)], ids=["one cluster", "a category in one cluster"])
def test_scores_in_one_cluster_cannot_vary(items: Array) -> None:
    assert not ClusterScores(items, items[None]).can_vary


def far_on_one_of_two(clusters: int) -> tuple[list[ClusterScores], tuple[str, ...]]:
    """Two systems that are far apart in ten clusters of one benchmark, and equal but for chance in many of another."""
    draw = np.random.default_rng(1)
    small = np.array([0.5 + 0.04 * draw.standard_normal(10), 0.2 + 0.04 * draw.standard_normal(10)]) / 10
    large = 0.3 * draw.standard_normal((2, clusters)) / clusters
    parts = [ClusterScores(np.full((1, each.shape[1]), 1 / each.shape[1]), each[:, None]) for each in (small, large)]
    return parts, tuple(f"{name}/{k}" for name, count in (("a", 10), ("b", clusters)) for k in range(count))


def test_ten_conversations_count_beside_hundreds_of_people() -> None:
    """A statistic without the deviation from the mean is at most √10 here, which other pairs reach by chance."""
    scores, clusters = far_on_one_of_two(300)
    noise = np.random.default_rng(2).standard_normal((10, 300)) / 300
    systems = [
        ClusterScores(scores[0].items, np.vstack([scores[0].parts, np.tile(scores[0].parts[:1], (10, 1, 1))])),
        ClusterScores(scores[1].items, np.vstack([scores[1].parts, 0.3 * noise[:, None]])),
    ]
    first, second = np.triu_indices(12, 1)
    found = index_tests(systems, clusters, first, second)
    assert found.corrected[0] < 0.05
    whole = np.concatenate([each.parts.sum(axis=1) for each in systems], axis=1)
    assert pair_tests(whole[:, None], clusters, first, second).corrected[0, 0] > 0.05


def test_equal_systems_are_not_separated_and_their_order_does_not_matter() -> None:
    scores, clusters = far_on_one_of_two(20)
    same = [ClusterScores(each.items, each.parts[[0, 0]]) for each in scores]
    pair, back = (np.array([0]), np.array([1])), (np.array([1]), np.array([0]))
    assert index_tests(same, clusters, *pair).p.tolist() == [1]
    assert index_tests(scores, clusters, *pair).p.tolist() == index_tests(scores, clusters, *back).p.tolist()


def test_a_difference_without_variance_is_found() -> None:
    parts = np.array([[0.05] * 20, [0.04] * 20])[:, None]
    scores = ClusterScores(np.full((1, 20), 0.05), parts)
    assert index_tests([scores], tuple(map(str, range(20))), np.array([0]), np.array([1])).p[0] < 0.001


def test_leaving_out_a_benchmark_ranks_by_the_others() -> None:
    table = np.array([[1.0, 0.0], [0.4, 0.4]])
    assert leave_one_out(table, np.ones(2)).tolist() == [[2, 1], [1, 2]]
