"""Wilson's score interval of a share."""

from __future__ import annotations

import math

Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


def wilson(correct: float, n: float) -> tuple[float, float]:
    """Return the 95 % score interval of ``correct`` out of ``n``, within [0, 1].

    ``(p + z²/2n ± z·sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n)`` (Wilson 1927, "Probable inference, the law of
    succession, and statistical inference", JASA 22).

    Args:
        correct: number of right items, or the sum of their credits in [0, 1].
        n: number of items, or the effective number of weighted items.

    Raises:
        ValueError: ``n`` is not positive, or ``correct`` is not between 0 and ``n``.
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
