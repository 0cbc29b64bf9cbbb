"""Paired tests that flip the signs of whole clusters: one p-value for a difference, corrected ones for a family.

Under the hypothesis of no difference, the difference that a cluster of items contributes is symmetric around 0: its
sign could as well be the other one. So every pattern of signs gives a value of the statistic that was as likely as the
observed one (Canay, Romano and Shaikh 2017, "Randomization tests under an approximate symmetry assumption",
Econometrica 85; valid for few clusters).
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Signs = NDArray[np.int8]
Places = NDArray[np.intp]

ALL_PATTERNS = 12

DRAWN_PATTERNS = 4096

OTHER_WEIGHT = 0.8
"""Factor of ``T`` for all but the main value. Without it, six categories take most of the power from the main
value; with it, about a tenth."""

COMMON_WEIGHT = 10

SEED = "memeval signs 1"

TOLERANCE = 1e-9
"""Values that differ by less are equal: the order of a sum must not change a result."""

_BLOCK = 4_000_000


@dataclass(frozen=True)
class PValues:
    p: Array
    """P-value of each difference by itself."""
    corrected: Array
    """The same, corrected for the number of differences in the family."""


@lru_cache(maxsize=32)
def sign_patterns(clusters: tuple[str, ...]) -> Signs:
    """Return the patterns of signs, an array of shape (patterns, clusters) with 1 and -1. The first row is all 1.

    Up to ``ALL_PATTERNS`` clusters: all patterns whose first sign is 1. In row ``r``, bit ``k`` of ``r`` (the lowest
    is 0) is the sign of cluster ``k + 1``: 1 for -1. The opposite of a pattern gives the same absolute value.

    Beyond: ``DRAWN_PATTERNS`` patterns, so that a cluster has the same signs whichever others there are. Its sign in
    row ``r > 0`` is the bit ``r mod 256`` (0 is the highest bit of the first byte) of the SHA-256 digest of the text
    ``"{SEED}:{r // 256}:{cluster}"`` in UTF-8: 1 for -1.

    ``clusters``: the names of the clusters, at least 1.
    """
    if len(clusters) <= ALL_PATTERNS:
        rows = np.arange(2 ** (len(clusters) - 1), dtype=np.int64)[:, None]
        bits = np.hstack([np.zeros_like(rows), (rows >> np.arange(len(clusters) - 1)) & 1])
    else:
        blocks = range(DRAWN_PATTERNS // 256)
        digests = b"".join(
            hashlib.sha256(f"{SEED}:{block}:{name}".encode("utf-8", "surrogatepass")).digest()
            for name in clusters
            for block in blocks
        )
        bits = np.unpackbits(np.frombuffer(digests, np.uint8)).reshape(len(clusters), DRAWN_PATTERNS).T.copy()
        bits[0] = 0
    signs: Signs = (1 - 2 * bits.astype(np.int8)).astype(np.int8)
    signs.setflags(write=False)
    return signs


def family_tests(
    differences: Sequence[Mapping[str, float]], groups: Sequence[str], *, main: str = "", one_sided: bool = False
) -> PValues:
    """Return the p-values of differences that belong to one family.

    The statistic of a difference with the parts ``D_g`` of its ``G`` clusters is ``T = |Σ D_g| / √v``, where
    ``v = (G s + 10 c) / (G + 10)``, ``s = Σ D_g²``, and ``c`` is the lower quartile of ``s`` in its group. With few
    clusters, ``s`` alone is a poor scale: many pairs have a small one by chance (the idea of the moderated t-statistic:
    Smyth 2004, Statistical Applications in Genetics and Molecular Biology 3). Its p-value is the share of the patterns
    of signs that give at least the observed ``T``. No pattern changes ``v``, so the test is exact.

    The corrected p-values are those of the step-down max-T procedure (Westfall and Young 1993, Resampling-Based
    Multiple Testing, algorithm 4.1; Romano and Wolf 2005, "Exact and approximate stepdown methods for multiple
    hypothesis testing", Journal of the American Statistical Association 100). In every pattern, a cluster changes its
    sign in all differences together, so that dependent differences cost less than their number. The ``T`` of all but
    the main value counts times 0.8. The chance of any wrong rejection is at most the level. ``differences``: for each
    difference, the parts of the clusters, by name. Their sum is the difference. ``groups``: for each difference, the
    name of the value, such as ``composite`` or a category. ``main``: the group whose tests keep the most power.
    Returns: Arrays with one value per difference.
    """
    names = tuple(sorted({name for parts in differences for name in parts})) or ("",)
    place = {name: number for number, name in enumerate(names)}
    matrix = np.zeros((len(differences), len(names)))
    for row, parts in zip(matrix, differences, strict=True):
        for name, value in parts.items():
            row[place[name]] = value
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    squares = np.einsum("hg,hg->h", matrix, matrix)
    scale = _scale(squares, np.array([numbers[group] for group in groups], dtype=np.intp), len(names))
    scale *= np.where([group == main for group in groups], 1, OTHER_WEIGHT)
    scaled = (matrix * scale[:, None]).T
    return step_down(
        sign_patterns(names), len(differences), lambda signs, places: signs @ scaled[:, places], one_sided=one_sided
    )


def pair_tests(
    parts: Array, clusters: tuple[str, ...], first: Places, second: Places, patterns: int = DRAWN_PATTERNS
) -> PValues:
    """Return the p-values of the differences between pairs of rows, in several values at once, as one family.

    Equal to :func:`family_tests` of all differences with a group per value, the first of them the main one. It does not
    sum each difference for each pattern: a difference of sums is a sum of differences. ``parts``: parts of each value,
    shape (rows, values, clusters). A value is the sum of its parts. ``first``: index of the first row of each pair,
    shape (pairs,). ``second``: index of the second row of each pair, shape (pairs,). ``patterns``: use at most the
    first patterns: a simulation with fewer is faster, and the test still exact.
    Returns: Arrays of shape (values,
    pairs).
    """
    rows, values, _clusters = parts.shape
    flat = parts.reshape(rows * values, len(clusters))
    ahead, behind = ((pair[None, :] * values + np.arange(values)[:, None]).ravel() for pair in (first, second))
    squares = np.empty(len(ahead))
    step = max(1, _BLOCK // len(clusters))
    for start in range(0, len(ahead), step):
        gap = flat[ahead[start : start + step]] - flat[behind[start : start + step]]
        squares[start : start + step] = np.einsum("hg,hg->h", gap, gap)
    scale = _scale(squares, np.repeat(np.arange(values), len(first)), len(clusters))
    scale[len(first) :] *= OTHER_WEIGHT

    def statistic(signs: Array, places: Places) -> Array:
        sums = signs @ flat.T
        return (sums[:, ahead[places]] - sums[:, behind[places]]) * scale[places]

    tested = step_down(sign_patterns(clusters)[:patterns], len(ahead), statistic)
    shape = (values, len(first))
    return PValues(tested.p.reshape(shape), tested.corrected.reshape(shape))


def families_of_pairs(parts: Array, clusters: tuple[str, ...], first: Places, second: Places) -> PValues:
    """Return the p-values of the differences between pairs of rows, each pair as a family of its own.

    For each pair equal to :func:`family_tests` of its differences with a group per value, the first of them the main
    one. The patterns are summed once for each row, not once for each pair. Arguments and result are those of
    :func:`pair_tests`.
    """
    values = parts.shape[1]
    signs = sign_patterns(clusters).astype(np.float64)
    sums = [signs @ row.T for row in parts]
    groups = np.arange(values)
    alone, corrected = np.empty((values, len(first))), np.empty((values, len(first)))
    for place, (one, two) in enumerate(zip(first, second, strict=True)):
        gap = parts[one] - parts[two]
        scale = _scale(np.einsum("hg,hg->h", gap, gap), groups, len(clusters))
        scale[1:] *= OTHER_WEIGHT
        tested = step_down((sums[one] - sums[two]) * scale, values, lambda found, places: found[:, places])
        alone[:, place], corrected[:, place] = tested.p, tested.corrected
    return PValues(alone, corrected)


def _scale(squares: Array, groups: Places, clusters: int) -> Array:
    """Return ``1/√v`` of each difference; 0 for a difference that is 0 in every cluster, so that its ``T`` is 0."""
    common = np.empty_like(squares)
    for group in np.unique(groups):
        members = groups == group
        common[members] = np.sort(squares[members])[(np.count_nonzero(members) - 1) // 4]
    variance = (clusters * squares + COMMON_WEIGHT * common) / (clusters + COMMON_WEIGHT)
    return np.divide(1.0, np.sqrt(variance), out=np.zeros_like(squares), where=squares > TOLERANCE**2)


def step_down(
    patterns: Signs | Array, count: int, statistic: Callable[[Array, Places], Array], *, one_sided: bool = False
) -> PValues:
    def values(signs: Signs | Array, places: Places) -> Array:
        found = statistic(signs.astype(np.float64), places)
        return np.vstack([found, -found]) if one_sided else np.abs(found, out=found)

    observed = values(patterns[:1], np.arange(count))[0]
    order = np.argsort(-observed, kind="stable")
    limit = observed[order] - TOLERANCE
    alone, jointly = np.zeros(count), np.zeros(count)
    rows = max(1, _BLOCK // max(1, count))
    for start in range(0, len(patterns), rows):
        block = values(patterns[start : start + rows], order)
        alone += (block >= limit).sum(axis=0)
        largest = np.maximum.accumulate(block[:, ::-1], axis=1)[:, ::-1]
        jointly += (largest >= limit).sum(axis=0)
    total = len(patterns) * (2 if one_sided else 1)
    p, corrected = np.empty(count), np.empty(count)
    p[order] = alone / total
    corrected[order] = np.maximum.accumulate(jointly / total) if count else jointly
    return PValues(p, corrected)
