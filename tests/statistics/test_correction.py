"""Two systems, several raters: kappa, corrected shares and rank agreement equal known values and SciPy's."""

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from memeval.statistics.agreement import cohen_kappa, kendall_tau, order_agreement
from memeval.statistics.correction import (
    DrawnRows,
    Estimate,
    SampledShare,
    chi_squared_tail,
    corrected_share,
    equal_shares,
    sampled_share,
    tells_apart,
)
from memeval.statistics.intervals import Z


def share_of(value: float, rows: float) -> SampledShare:
    return SampledShare(Estimate(value, 0.0, 1.0), math.ceil(rows), rows)


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


def stratum(rows: int, *hits: bool, counted: tuple[bool, ...] | None = None) -> DrawnRows:
    return DrawnRows(rows, counted or (True,) * len(hits), hits)


def test_a_row_stands_for_all_rows_of_its_stratum() -> None:
    found = sampled_share([stratum(30, True, True), stratum(10, False, False)])
    assert found is not None
    assert (found.estimate.value, found.rows) == (0.75, 4)
    part = sampled_share([stratum(30, True, True, counted=(True, False)), stratum(10, False, False)])
    assert part is not None
    assert (part.estimate.value, part.rows) == (15 / 25, 3)
    assert sampled_share([]) is None
    assert sampled_share([stratum(5, True, counted=(False,))]) is None


def test_a_stratified_share_has_cochrans_variance() -> None:
    hits = ((True, False, True, True), (False, True, False, False, False))
    found = sampled_share([stratum(400, *hits[0]), stratum(100, *hits[1])])
    share = (400 * 3 / 4 + 100 / 5) / 500
    variance = sum(
        (rows / 500) ** 2 * (1 - len(each) / rows) * (p := sum(each) / len(each)) * (1 - p) / (len(each) - 1)
        for rows, each in zip((400, 100), hits, strict=True)
    )
    assert found is not None
    assert found.estimate.value == pytest.approx(share)
    assert found.effective == pytest.approx(min(9, share * (1 - share) / variance))


@given(st.lists(st.tuples(st.lists(st.booleans(), min_size=1, max_size=6), st.integers(0, 50)), min_size=1, max_size=6))
def test_an_interval_contains_its_share(strata: list[tuple[list[bool], int]]) -> None:
    found = sampled_share([stratum(len(hits) + more, *hits) for hits, more in strata])
    assert found is not None
    assert found.estimate.low - 1e-9 <= found.estimate.value <= found.estimate.high + 1e-9
    assert found.effective <= found.rows == sum(len(hits) for hits, _more in strata)


@given(st.floats(0, 200), st.integers(1, 40))
def test_the_tail_of_chi_squared_equals_scipys(value: float, freedom: int) -> None:
    assert chi_squared_tail(value, freedom) == pytest.approx(scipy.stats.chi2.sf(value, freedom), abs=1e-12)


def test_unequal_shares_are_told_apart_and_equal_ones_are_not() -> None:
    apart = equal_shares([share_of(0.2, 100), share_of(0.6, 100)])
    assert apart == pytest.approx(scipy.stats.chi2_contingency([[20, 80], [60, 40]], correction=False).pvalue)
    assert equal_shares([share_of(0.4, 100), share_of(0.4, 50)]) == 1.0
    assert equal_shares([share_of(0.0, 100), share_of(0.0, 50)]) is None
    assert equal_shares([share_of(0.4, 100)]) is None


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8))
def test_rank_agreement_equals_scipys(pairs: list[tuple[int, int]]) -> None:
    first, second = [a for a, _b in pairs], [b for _a, b in pairs]
    found, wanted = kendall_tau(first, second), scipy.stats.kendalltau(first, second).statistic
    assert found is None if math.isnan(wanted) else found == pytest.approx(wanted)


def test_lists_of_other_lengths_have_no_rank_agreement() -> None:
    with pytest.raises(ValueError, match="length"):
        kendall_tau([1, 2], [1])
    with pytest.raises(ValueError, match="same systems"):
        order_agreement(np.zeros((2, 3)), np.zeros((2, 4)), np.zeros(3, dtype=np.intp))


def test_the_order_of_two_scores_is_that_of_their_sums_and_is_uncertain_as_its_clusters_differ() -> None:
    cluster = np.repeat(np.arange(10), 4)
    skills = np.array([0.2, 0.4, 0.6, 0.8])
    steady = skills[:, None] * np.ones(40)
    found = order_agreement(steady, steady, cluster)
    assert found is not None and (found.tau, found.low, found.high) == (1.0, 1.0, 1.0)
    dice = np.random.default_rng(1)
    first, second = ((dice.random((4, 40)) < skills[:, None]).astype(float) for _ in range(2))
    shaky = order_agreement(first, second, cluster)
    assert shaky is not None and shaky.low is not None and shaky.high is not None
    assert shaky.tau == pytest.approx(scipy.stats.kendalltau(first.sum(axis=1), second.sum(axis=1)).statistic)
    assert -1 <= shaky.low <= shaky.tau <= shaky.high <= 1 and shaky.low < shaky.high
    assert shaky == order_agreement(first, second, cluster)


def test_an_order_without_differences_has_no_agreement_and_few_clusters_no_interval() -> None:
    even, rising = np.ones((3, 8)), np.arange(3.0)[:, None] * np.ones(8)
    assert order_agreement(even, rising, np.arange(8)) is None
    found = order_agreement(rising, rising, np.arange(8) % 4)
    assert found is not None and (found.tau, found.low, found.high) == (1.0, None, None)


Table = list[list[int]]

TABLES = st.integers(2, 4).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, 60), min_size=size, max_size=size), min_size=size, max_size=size)
)


@pytest.mark.parametrize(
    ("table", "kappa", "low", "high"),
    [
        # SAS/STAT, PROC FREQ, "Getting Started: Agreement Study": two dermatologists, 88 patients.
        ([[10, 4, 1, 0], [5, 10, 12, 2], [2, 4, 12, 5], [0, 2, 6, 13]], 0.3449, 0.2030, 0.4868),
        # SAS output that statsmodels tests its cohens_kappa against.
        ([[0, 4, 1], [0, 8, 0], [0, 1, 5]], 0.4842, 0.2137, 0.7547),
        # Fleiss, Statistical Methods for Rates and Proportions: two raters, 100 patients, kappa .68.
        ([[75, 1, 4], [5, 4, 1], [0, 0, 10]], 0.6765, None, None),
        # Fifty grant proposals: agreement .7, by chance .5 (Cohen's kappa in Wikipedia).
        ([[20, 5], [10, 15]], 0.4, None, None),
        # Equal agreement, unequal marginals (Cohen's kappa in Wikipedia).
        ([[45, 15], [25, 15]], 0.1304, None, None),
        ([[25, 35], [5, 35]], 0.2593, None, None),
    ],
)
def test_textbook_values(table: Table, kappa: float, low: float | None, high: float | None) -> None:
    found = cohen_kappa(table)
    assert found is not None
    assert found.value == pytest.approx(kappa, abs=5e-5)
    if low is not None:
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize("table", [[[0, 0], [0, 0]], [[7, 0], [0, 0]], [[7, 3], [0, 0]], [[0, 4], [0, 5]], []])
def test_a_rater_who_always_says_the_same_leaves_kappa_undefined(table: Table) -> None:
    assert cohen_kappa(table) is None


def test_agreement_throughout_is_one_and_has_no_interval() -> None:
    found = cohen_kappa([[9, 0], [0, 4]])
    assert found is not None and (found.value, found.low, found.high) == (1.0, None, None)


@pytest.mark.parametrize("table", [[[1, 2]], [[1, 2], [3]], [[1, -1], [2, 3]]])
def test_what_is_no_table_of_counts_is_refused(table: Table) -> None:
    with pytest.raises(ValueError, match="must be square"):
        cohen_kappa(table)


def plain_kappa(p: list[list[float]]) -> float:
    first = [math.fsum(row) for row in p]
    second = [math.fsum(column) for column in zip(*p, strict=True)]
    total = math.fsum(first)
    observed = math.fsum(p[i][i] for i in range(len(p))) / total
    chance = math.fsum(a * b for a, b in zip(first, second, strict=True)) / total**2
    return (observed - chance) / (1 - chance)


@given(TABLES)
def test_the_interval_is_that_of_the_delta_method(table: Table) -> None:
    found = cohen_kappa(table)
    if found is None:
        return
    n = sum(map(sum, table))
    p = [[count / n for count in row] for row in table]
    assert found.value == pytest.approx(plain_kappa(p), abs=1e-9)
    step, mean, square = 1e-5, 0.0, 0.0
    for row in p:
        for j, share in enumerate(row):
            row[j] = share + step
            up = plain_kappa(p)
            row[j] = share - step
            slope = (up - plain_kappa(p)) / (2 * step)
            row[j] = share
            mean, square = mean + share * slope, square + share * slope**2
    error = math.sqrt(max(0.0, square - mean**2) / n)
    low, high = (found.low, found.high) if found.low is not None else (found.value, found.value)
    assert low == pytest.approx(max(-1.0, found.value - Z * error), abs=1e-4)
    assert high == pytest.approx(min(1.0, found.value + Z * error), abs=1e-4)


@given(TABLES)
def test_kappa_is_the_same_from_either_side_and_under_other_names(table: Table) -> None:
    found = cohen_kappa(table)
    for other in ([list(column) for column in zip(*table, strict=True)], [row[::-1] for row in table[::-1]]):
        again = cohen_kappa(other)
        assert (found is None) == (again is None)
        if found is not None and again is not None:
            assert again.value == pytest.approx(found.value, abs=1e-9)
            assert (again.low is None) == (found.low is None)
            if found.low is not None:
                assert (again.low, again.high) == pytest.approx((found.low, found.high), abs=1e-6)


@given(TABLES)
def test_kappa_lies_in_its_interval_and_that_within_its_bounds(table: Table) -> None:
    found = cohen_kappa(table)
    if found is not None and found.low is not None and found.high is not None:
        assert -1 <= found.low <= found.value <= found.high <= 1
