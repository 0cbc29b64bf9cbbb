"""Wilson's interval and Student's t, compared with SciPy's."""

import math

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from memeval.statistics.intervals import Z, critical, mean_interval, two_sided_p, wilson

COUNTS = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("correct", "n", "low", "high"),
    [
        # DeepMemEval specification, section 7.
        (64, 80, 0.69954, 0.87297),
        (80, 100, 0.71117, 0.86663),
        (0, 80, 0.0, 0.04582),
        (1, 1, 0.20655, 1.0),
        # LoCoMo specification, section 7: what its tiers can tell apart.
        (25, 50, 0.36645, 0.63355),
        (100, 200, 0.43136, 0.56864),
        (993, 1986, 0.47803, 0.52197),
    ],
)
def test_golden_intervals(correct: int, n: int, low: float, high: float) -> None:
    assert wilson(correct, n) == pytest.approx((low, high), abs=5e-6)


def test_z_is_the_quantile_of_the_normal_distribution() -> None:
    assert pytest.approx(scipy.stats.norm.ppf(0.975), abs=1e-15) == Z


@given(COUNTS)
def test_the_interval_is_scipys_and_holds_the_share(counts: tuple[int, int]) -> None:
    expected = scipy.stats.binomtest(*counts).proportion_ci(0.95, method="wilson")
    low, high = wilson(*counts)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1


@pytest.mark.parametrize(("correct", "n"), [(0, 0), (1, 0), (-1, 3), (4, 3)])
def test_what_is_no_share_is_refused(correct: int, n: int) -> None:
    with pytest.raises(ValueError, match="not a share"):
        wilson(correct, n)


@given(st.floats(-60, 60), st.integers(1, 5000))
def test_the_p_value_is_scipys(t: float, degrees: int) -> None:
    assert two_sided_p(t, degrees) == pytest.approx(2 * scipy.stats.t.sf(abs(t), degrees), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("degrees", [1, 2, 3, 9, 49, 500, 100_000])
@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.5])
def test_the_critical_value_is_scipys(degrees: int, alpha: float) -> None:
    assert critical(degrees, alpha) == pytest.approx(scipy.stats.t.isf(alpha / 2, degrees), rel=1e-9)


@given(
    st.lists(st.floats(-1000, 1000), min_size=2, max_size=30).filter(lambda values: max(values) - min(values) > 1e-6)
)
def test_the_interval_of_a_mean_is_scipys(values: list[float]) -> None:
    expected = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    mean, low, high = mean_interval(values)
    assert mean == pytest.approx(math.fsum(values) / len(values))
    assert (low, high) == pytest.approx((expected.low, expected.high), rel=1e-6, abs=1e-9)


def test_one_measurement_has_no_interval_and_none_has_no_mean() -> None:
    assert mean_interval([3.0]) == (3.0, -math.inf, math.inf)
    with pytest.raises(ValueError, match="at least one value"):
        mean_interval([])
