"""Student's t, compared with SciPy's."""

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from memeval.statistics.intervals import critical, two_sided_p


@given(st.floats(-60, 60), st.integers(1, 5000))
def test_the_p_value_is_scipys(t: float, degrees: int) -> None:
    assert two_sided_p(t, degrees) == pytest.approx(2 * scipy.stats.t.sf(abs(t), degrees), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("degrees", [1, 2, 3, 9, 49, 500, 100_000])
@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.5])
def test_the_critical_value_is_scipys(degrees: int, alpha: float) -> None:
    assert critical(degrees, alpha) == pytest.approx(scipy.stats.t.isf(alpha / 2, degrees), rel=1e-9)
