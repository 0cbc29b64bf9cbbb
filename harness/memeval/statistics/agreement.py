"""Agreement of two raters beyond chance, and of two orders."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memeval.statistics.flips import TOLERANCE, Array, Places
from memeval.statistics.intervals import Z

DRAWS = 2_000
SEED = 42

FEWEST_CLUSTERS = 5
"""Fewer clusters say too little about how an order varies for an interval."""

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
    if len(first) != len(second):
        raise ValueError("the lists differ in length")
    found = float(_taus(np.array([first], dtype=np.float64), np.array([second], dtype=np.float64), 0.0)[0])
    return None if math.isnan(found) else found


@dataclass(frozen=True)
class OrderAgreement:
    tau: float
    """Kendall's τ-b of two orders: 1 for the same order, -1 for the opposite."""
    low: float | None
    """Lower end of the 95 % interval; ``None`` with fewer than :data:`FEWEST_CLUSTERS` clusters."""
    high: float | None


def order_agreement(first: Array, second: Array, cluster: Places) -> OrderAgreement | None:
    """Return Kendall's τ-b of the orders of systems by two scores of the same items, with a bootstrap interval.

    Clusters are drawn with replacement, :data:`DRAWS` times. The interval lies between the 2.5 % and the 97.5 %
    quantile of τ over the draws (Efron and Tibshirani 1993, "An introduction to the bootstrap", chapter 13). A draw
    whose τ is undefined is left out.

    ``first``, ``second``: weighted scores, shape (systems, items); the sum over items is a system's score. ``cluster``:
    number of each item's cluster, shape (items,).
    Returns: ``None`` if all systems have the same score in an order. Raises ValueError: the shapes do not fit.
    """
    if first.shape != second.shape or cluster.shape != first.shape[1:]:
        raise ValueError("both scores need the same systems and items, and each item a cluster")
    one, two = _by_cluster(first, cluster), _by_cluster(second, cluster)
    whole = float(_taus(one.sum(axis=0)[None], two.sum(axis=0)[None], TOLERANCE)[0])
    if math.isnan(whole):
        return None
    count = len(one)
    if count < FEWEST_CLUSTERS:
        return OrderAgreement(whole, None, None)
    drawn = np.random.default_rng(SEED).multinomial(count, [1 / count] * count, size=DRAWS)
    taus = _taus(drawn @ one, drawn @ two, TOLERANCE)
    low, high = np.nanquantile(taus, (0.025, 0.975))
    return OrderAgreement(whole, float(low), float(high))


def _by_cluster(scores: Array, cluster: Places) -> Array:
    """Return the part of each cluster in the score of each system, shape (clusters, systems)."""
    names, places = np.unique(cluster, return_inverse=True)
    parts: Array = np.zeros((len(names), len(scores)))
    np.add.at(parts, places, scores.T)
    return parts


def _taus(first: Array, second: Array, tolerance: float) -> Array:
    """Return τ-b of each row of two arrays of shape (rows, systems); NaN where it is undefined."""
    one, two = np.triu_indices(first.shape[1], 1)
    signs: list[Array] = []
    for values in (first, second):
        apart = values[:, one] - values[:, two]
        signs.append(np.where(np.abs(apart) > tolerance, np.sign(apart), 0.0))
    pairs: Array = np.sqrt(np.abs(signs[0]).sum(axis=1) * np.abs(signs[1]).sum(axis=1))
    agreeing: Array = (signs[0] * signs[1]).sum(axis=1)
    taus: Array = np.full(len(first), np.nan)
    np.divide(agreeing, pairs, out=taus, where=pairs > 0)
    return taus
