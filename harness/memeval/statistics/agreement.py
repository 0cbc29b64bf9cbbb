"""Agreement of two raters beyond chance, and of two orders."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from memeval.statistics.intervals import Z

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Kappa:
    value: float
    """1 for full agreement, 0 for agreement by chance, negative for less."""
    low: float | None
    """Lower end of the 95 % interval, at least -1; ``None`` if the estimated variance is 0."""
    high: float | None


def cohen_kappa(table: Sequence[Sequence[int]]) -> Kappa | None:
    """Return Cohen's kappa of two raters over the same items, with its 95 % interval.

    ``κ = (p_o - p_e) / (1 - p_e)``, where ``p_o = Σ p_ii`` and ``p_e = Σ p_i. p_.i`` (Cohen 1960, "A coefficient of
    agreement for nominal scales", Educational and Psychological Measurement 20). The interval is ``κ ± z·se`` with the
    large-sample variance of Fleiss, Cohen and Everitt (1969, "Large sample standard errors of kappa and weighted
    kappa", Psychological Bulletin 72)::

        n (1 - p_e)² var = Σ_i p_ii [1 - (p_i. + p_.i)(1 - κ)]²
                         + (1 - κ)² Σ_{i≠j} p_ij (p_.i + p_j.)²
                         - [κ - p_e (1 - κ)]²

    ``table``: counts, square; rows are the first rater's classes, columns the second rater's.
    Returns: ``None`` if
    there are no items, or if a rater used one class only: kappa is then undefined. Raises ValueError: the table is not
    square, or has a negative count.
    """
    size = len(table)
    if any(len(row) != size for row in table) or any(count < 0 for row in table for count in row):
        raise ValueError("the table must be square and have no negative counts")
    n = sum(map(sum, table))
    rows = [sum(row) for row in table]
    columns = [sum(column) for column in zip(*table, strict=True)]
    if n in (*rows, *columns, 0):
        return None
    p = [[count / n for count in row] for row in table]
    first, second = [count / n for count in rows], [count / n for count in columns]
    observed = math.fsum(p[i][i] for i in range(size))
    chance = math.fsum(first[i] * second[i] for i in range(size))
    kappa = (observed - chance) / (1 - chance)
    same = math.fsum(p[i][i] * (1 - (first[i] + second[i]) * (1 - kappa)) ** 2 for i in range(size))
    apart = math.fsum(p[i][j] * (second[i] + first[j]) ** 2 for i in range(size) for j in range(size) if i != j)
    spread = same + (1 - kappa) ** 2 * apart - (kappa - chance * (1 - kappa)) ** 2
    if spread <= _ROUNDING:
        return Kappa(kappa, None, None)
    half = Z * math.sqrt(spread / n) / (1 - chance)
    return Kappa(kappa, max(-1.0, kappa - half), min(1.0, kappa + half))


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Kendall's rank correlation of two lists of values, with ties (τ-b).

    ``(concordant - discordant) / sqrt((n0 - ties in first)(n0 - ties in second))`` over the ``n0`` pairs (Kendall 1945,
    "The treatment of ties in ranking problems", Biometrika 33).

    Returns: 1 for the same order, -1 for the opposite; ``None`` if all values of a list are equal. Raises ValueError:
    the lists differ in length.
    """
    pairs = list(itertools.combinations(zip(first, second, strict=True), 2))
    signs = [(_sign(a[0] - b[0]), _sign(a[1] - b[1])) for a, b in pairs]
    apart = [sum(one != 0 for one, _other in signs), sum(other != 0 for _one, other in signs)]
    if 0 in apart:
        return None
    return sum(one * other for one, other in signs) / math.sqrt(apart[0] * apart[1])


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
