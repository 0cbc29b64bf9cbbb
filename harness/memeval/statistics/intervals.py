"""Wilson's score interval of a share, and Student's t distribution, without SciPy."""

import math
import statistics
from collections.abc import Sequence
from functools import lru_cache

Z = 1.959963984540054


def wilson(correct: float, n: float) -> tuple[float, float]:
    """Return the 95 % score interval of ``correct`` out of ``n``, within [0, 1]. Raises ValueError: they make no share.

    ``(p + z²/2n ± z·sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n)`` (Wilson 1927, "Probable inference, the law of succession,
    and statistical inference", JASA 22). ``correct`` may be a sum of credits, and ``n`` an effective number of weighted
    items.
    """
    if n <= 0 or not 0 <= correct <= n:
        raise ValueError(f"{correct} of {n} is not a share")
    p, z2 = correct / n, Z * Z
    centre = p + z2 / (2 * n)
    half = Z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    scale = 1 + z2 / n
    low = 0.0 if correct == 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if correct == n else min(1.0, (centre + half) / scale)
    return low, high


_EPSILON = 1e-15
_TINY = 1e-300
_MAX_TERMS = 10_000


def two_sided_p(t: float, degrees: float) -> float:
    """Return the probability that |T| is at least ``|t|``.

    ``P = I_x(df/2, 1/2)`` with ``x = df / (df + t²)`` (Abramowitz and Stegun 26.5.27, 26.7.1).
    """
    if math.isinf(t):
        return 0.0
    return _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t), t * t / (degrees + t * t))


@lru_cache(maxsize=1024)
def critical(degrees: float, alpha: float = 0.05) -> float:
    low, high = 0.0, 2.0
    while two_sided_p(high, degrees) > alpha:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if two_sided_p(middle, degrees) > alpha else (low, middle)
    return (low + high) / 2


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of measurements and its 95 % interval: ``m ± t s / sqrt(n)``, with Student's t of n - 1 degrees.

    The interval of a single measurement is infinite. Raises ValueError: no measurement is given.
    """
    if not values:
        raise ValueError("a mean needs at least one value")
    n = len(values)
    mean = math.fsum(values) / n
    if n == 1:
        return mean, -math.inf, math.inf
    spread = math.sqrt(math.fsum((each - mean) ** 2 for each in values) / (n - 1))
    half = critical(n - 1) * spread / math.sqrt(n)
    return mean, mean - half, mean + half


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


def chance_of_more(earlier: Sequence[float], new: float) -> float:
    """Return the one-sided p-value that ``new`` comes from the same normal distribution as ``earlier``.

    ``t = (x - m) / (s sqrt(1 + 1/n))`` with ``n - 1`` degrees of freedom: Student's prediction interval for one future
    observation (Hahn and Meeker 1991, Statistical Intervals, section 4.5).

    ``earlier``: at least two values.
    Returns: A low value if ``new`` is higher than chance explains.
    """
    excess = new - statistics.fmean(earlier)
    error = statistics.stdev(earlier) * math.sqrt(1 + 1 / len(earlier))
    if error < 1e-12:
        return 0.0 if excess > 1e-12 else 1.0
    two_sided = two_sided_p(excess / error, len(earlier) - 1)
    return two_sided / 2 if excess > 0 else 1 - two_sided / 2
