"""Cohen's kappa: textbook values, and an interval derived another way."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.statistics.agreement import cohen_kappa
from memeval.statistics.intervals import Z

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
