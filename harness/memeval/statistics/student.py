"""Student's t distribution for tests and intervals, without SciPy."""

from __future__ import annotations

import math
from functools import lru_cache

_EPSILON = 1e-15
_TINY = 1e-300
_MAX_TERMS = 10_000


def two_sided_p(t: float, degrees: int) -> float:
    """Return the probability that |T| is at least ``|t|``.

    ``P = I_x(df/2, 1/2)`` with ``x = df / (df + t²)`` (Abramowitz and Stegun 26.5.27, 26.7.1).

    Args:
        t: the statistic.
        degrees: degrees of freedom, at least 1.
    """
    if math.isinf(t):
        return 0.0
    return _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t), t * t / (degrees + t * t))


@lru_cache(maxsize=1024)
def critical(degrees: int, alpha: float = 0.05) -> float:
    """Return the ``t`` whose absolute value is exceeded with probability ``alpha``, by bisection.

    Args:
        degrees: degrees of freedom, at least 1.
        alpha: two-sided probability, between 0 and 1.
    """
    low, high = 0.0, 2.0
    while two_sided_p(high, degrees) > alpha:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if two_sided_p(middle, degrees) > alpha else (low, middle)
    return (low + high) / 2


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b); ``rest`` is ``1 - x``, passed to keep precision."""
    if x <= 0.0:
        return 0.0
    if rest <= 0.0:
        return 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, rest) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method (A&S 26.5.8)."""
    c, d = 1.0, 1.0 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MAX_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            step = c * d
            value *= step
        if abs(step - 1) < _EPSILON:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
