"""The overall index has the right ends, its draws can be repeated, and its ranks follow from the shares alone."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from memeval.statistics.flips import Array
from memeval.statistics.overall import (
    SEED,
    ClusterScores,
    drawn_weightings,
    gap_share,
    lead_of,
    leave_one_out,
    percentile_interval,
    ranks_by,
    resampled_composites,
    weighted_mean,
)

shares = st.floats(-1, 2, allow_nan=False)
tables = st.integers(1, 4).flatmap(
    lambda benchmarks: st.lists(st.lists(shares, min_size=benchmarks, max_size=benchmarks), min_size=1, max_size=6)
)


def made(runs: int, clusters: int, categories: int = 2, seed: int = 0) -> ClusterScores:
    draw = np.random.default_rng(seed)
    items = draw.integers(1, 5, (categories, clusters)).astype(float)
    points = np.floor(draw.random((runs, categories, clusters)) * (items + 1))
    return ClusterScores(np.full(categories, 1 / categories), items, points)


@given(st.floats(0, 0.9), st.floats(0.05, 1))
def test_the_floor_has_no_share_of_the_gap_and_the_ceiling_all_of_it(floor: float, gap: float) -> None:
    ends = gap_share(np.array([floor, floor + gap]), floor, floor + gap)
    assert ends == pytest.approx([0, 1])


def test_a_share_is_not_clipped() -> None:
    assert gap_share(np.array([0.1, 0.9]), 0.2, 0.7) == pytest.approx([-0.2, 1.4])


def test_no_share_is_invented_where_the_ceiling_is_not_above_the_floor() -> None:
    assert np.isnan(gap_share(np.array([0.3]), 0.5, 0.5)).all()
    assert np.isnan(gap_share(np.array([0.3]), 0.5, 0.4)).all()


@given(tables)
def test_equal_weights_give_the_plain_mean(rows: list[list[float]]) -> None:
    table = np.array(rows)
    assert weighted_mean(table, np.full(table.shape[1], 7.0)) == pytest.approx(table.mean(axis=1))


@given(tables)
def test_the_order_of_systems_and_benchmarks_changes_nothing(rows: list[list[float]]) -> None:
    table = np.array(rows)
    weights = np.arange(1.0, table.shape[1] + 1)
    systems, benchmarks = np.arange(len(table))[::-1], np.arange(table.shape[1])[::-1]
    index = weighted_mean(table, weights)
    turned = weighted_mean(table[systems][:, benchmarks], weights[benchmarks])
    assert turned == pytest.approx(index[systems])


def test_the_scale_of_the_weights_does_not_matter() -> None:
    table, weights = np.array([[0.2, 0.8]]), np.array([1.0, 3.0])
    assert weighted_mean(table, weights) == weighted_mean(table, 100 * weights) == pytest.approx([0.65])


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


def test_the_first_resample_follows_from_the_published_seed() -> None:
    scores = made(runs=1, clusters=5)
    digest = hashlib.shake_256(f"{SEED}:beta@1:0".encode()).digest(16)
    chosen = [int.from_bytes(digest[4 * n : 4 * n + 4], "little") * 5 // 2**32 for n in range(4)]
    expected = sum(
        0.5 * sum(scores.points[0, c, k] for k in chosen) / sum(scores.items[c, k] for k in chosen) for c in range(2)
    )
    drawn = resampled_composites(scores, "beta@1", 10)
    assert drawn is not None and drawn[0, 0] == pytest.approx(expected, rel=1e-12)


def test_the_spread_of_resamples_is_that_of_the_clusters() -> None:
    points = np.random.default_rng(3).random((1, 1, 10))
    drawn = resampled_composites(ClusterScores(np.ones(1), np.ones((1, 10)), points), "a", 20_000)
    assert drawn is not None
    assert drawn.std() == pytest.approx(points.std(ddof=1) / math.sqrt(10), rel=0.02)


def test_all_runs_share_the_drawn_clusters() -> None:
    one = made(runs=1, clusters=8)
    twice = ClusterScores(one.weights, one.items, np.vstack([one.points, one.points]))
    drawn = resampled_composites(twice, "a")
    assert drawn is not None and (drawn[:, 0] == drawn[:, 1]).all()


def test_a_resample_has_items_of_every_category() -> None:
    items = np.array([[1.0] * 6, [1.0] + [0.0] * 5])
    drawn = resampled_composites(ClusterScores(np.array([0.5, 0.5]), items, items[None]), "a")
    assert drawn is not None and drawn == pytest.approx(np.ones((2000, 1)))


@pytest.mark.parametrize(
    "items", [np.ones((1, 1)), np.eye(2)], ids=["one cluster", "two clusters without a common category"]
)
def test_there_are_no_resamples_without_enough_clusters(items: Array) -> None:
    assert resampled_composites(ClusterScores(np.ones(len(items)), items, items[None]), "a") is None


def test_an_interval_needs_finite_values() -> None:
    assert percentile_interval(np.array([[0.1, np.nan], [0.2, 0.3]])) is None


def test_an_interval_holds_the_middle_of_the_values() -> None:
    found = percentile_interval(np.linspace(0, 1, 1001)[:, None])
    assert found is not None
    assert (found[0][0], found[1][0]) == pytest.approx((0.025, 0.975))


def test_leaving_out_a_benchmark_ranks_by_the_others() -> None:
    table = np.array([[1.0, 0.0], [0.4, 0.4]])
    assert leave_one_out(table, np.ones(2)).tolist() == [[2, 1], [1, 2]]
