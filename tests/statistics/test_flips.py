"""Tests by flipping the signs of clusters."""

import hashlib
import itertools
import math
import random
from typing import Literal

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from memeval.statistics.flips import (
    ALL_PATTERNS,
    DRAWN_PATTERNS,
    families_of_pairs,
    family_tests,
    pair_tests,
    sign_patterns,
)


def summed(parts: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    return float(parts.sum())


def family(
    rows: list[list[float]], groups: list[str] | None = None, *, main: str = "", one_sided: bool = False
) -> list[list[float]]:
    """Return the p-values and the corrected ones."""
    parts = [{f"p{number:02}": value for number, value in enumerate(row)} for row in rows]
    found = family_tests(parts, groups or [""] * len(rows), main=main, one_sided=one_sided)
    return [found.p.tolist(), found.corrected.tolist()]


def by_hand(rows: list[list[float]], groups: list[str], *, one_sided: bool) -> list[list[float]]:
    """Return the p-values from the definition: every pattern of signs, and step by step the largest of the others."""
    count = len(rows[0])
    squares = [math.fsum(value * value for value in row) for row in rows]

    def scale(place: int) -> float:
        alike = sorted(s for s, group in zip(squares, groups, strict=True) if group == groups[place])
        root = math.sqrt((count * squares[place] + 10 * alike[(len(alike) - 1) // 4]) / (count + 10))
        return root if groups[place] == "a" else root / 0.8

    def statistic(place: int, signs: tuple[int, ...]) -> float:
        if squares[place] == 0:
            return 0.0
        value = math.fsum(s * d for s, d in zip(signs, rows[place], strict=True)) / scale(place)
        return value if one_sided else abs(value)

    patterns = list(itertools.product((1, -1), repeat=count))
    observed = [statistic(place, (1,) * count) for place in range(len(rows))]
    p = [sum(statistic(k, signs) >= t - 1e-9 for signs in patterns) / len(patterns) for k, t in enumerate(observed)]
    order = sorted(range(len(rows)), key=lambda place: -observed[place])
    corrected, highest = [0.0] * len(rows), 0.0
    for step, place in enumerate(order):
        left = order[step:]
        times = sum(max(statistic(k, signs) for k in left) >= observed[place] - 1e-9 for signs in patterns)
        highest = max(highest, times / len(patterns))
        corrected[place] = highest
    return [p, corrected]


@pytest.mark.parametrize("one_sided", [False, True])
@given(
    st.integers(1, 6).flatmap(
        lambda count: st.lists(
            st.lists(st.integers(-3, 3).map(float), min_size=count, max_size=count), min_size=1, max_size=5
        )
    ),
    st.randoms(use_true_random=False),
)
def test_p_values_are_those_of_the_definition(one_sided: bool, rows: list[list[float]], chance: random.Random) -> None:
    groups = [chance.choice("ab") for _ in rows]
    wanted = by_hand(rows, groups, one_sided=one_sided)
    for found, expected in zip(family(rows, groups, main="a", one_sided=one_sided), wanted, strict=True):
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_one_difference_has_the_p_value_of_scipys_permutation_test(
    alternative: Literal["two-sided", "greater"],
) -> None:
    chance = np.random.default_rng(3)
    for clusters in (3, 8, 12):
        parts = chance.normal(0.4, 1, clusters)
        expected = scipy.stats.permutation_test(
            (parts,), summed, permutation_type="samples", n_resamples=10**6, alternative=alternative
        )
        (p,), (corrected,) = family([parts.tolist()], one_sided=alternative == "greater")
        assert p == pytest.approx(expected.pvalue, abs=1e-10)
        assert corrected == p


def test_drawn_patterns_come_near_the_exact_p_value() -> None:
    chance = np.random.default_rng(4)
    parts = chance.normal(0.5, 1, 14)
    exact = scipy.stats.permutation_test((parts,), summed, permutation_type="samples", n_resamples=10**6).pvalue
    (p,), _corrected = family([parts.tolist()])
    assert abs(p - exact) < 4 * math.sqrt(exact * (1 - exact) / DRAWN_PATTERNS)


def test_pairs_of_rows_have_the_p_values_of_their_differences() -> None:
    chance = np.random.default_rng(1)
    for clusters in (7, 20):
        parts = chance.normal(size=(5, 3, clusters))
        names = tuple(f"p{number:02}" for number in range(clusters))
        first, second = np.triu_indices(5, 1)
        found = pair_tests(parts, names, first, second)
        rows = [(parts[i, v] - parts[j, v]).tolist() for v in range(3) for i, j in zip(first, second, strict=True)]
        p, corrected = family(rows, [str(v) for v in range(3) for _ in first], main="0")
        assert found.p.ravel().tolist() == pytest.approx(p, abs=1e-12)
        assert found.corrected.ravel().tolist() == pytest.approx(corrected, abs=1e-12)


@pytest.mark.parametrize("clusters", [1, 7, 20])
def test_each_pair_can_be_a_family_of_its_own(clusters: int) -> None:
    parts = np.random.default_rng(2).normal(size=(4, 3, clusters)).round(1)
    parts[3] = parts[2]
    names = tuple(f"p{number:02}" for number in range(clusters))
    first, second = np.triu_indices(4, 1)
    found = families_of_pairs(parts, names, first, second)
    for place, (one, two) in enumerate(zip(first, second, strict=True)):
        p, corrected = family((parts[two] - parts[one]).tolist(), ["0", "1", "2"], main="0")
        assert found.p[:, place].tolist() == p
        assert found.corrected[:, place].tolist() == corrected


def test_up_to_twelve_clusters_every_pattern_counts_once() -> None:
    for count in range(1, ALL_PATTERNS + 1):
        found = sign_patterns(tuple(map(str, range(count))))
        assert found.shape == (2 ** (count - 1), count)
        assert len({tuple(row) for row in found.tolist()}) == len(found)
        assert set(found[0].tolist()) == set(found[:, 0].tolist()) == {1}
    assert sign_patterns(("a", "b", "c")).tolist() == [[1, 1, 1], [1, -1, 1], [1, 1, -1], [1, -1, -1]]


def test_the_drawn_signs_of_a_cluster_follow_from_its_name_alone() -> None:
    names = tuple(f"person {number}" for number in range(20))
    found = sign_patterns(names)
    assert found.shape == (DRAWN_PATTERNS, 20) and set(found[0].tolist()) == {1}
    assert (sign_patterns(names[5:])[:, 0] == found[:, 5]).all()
    digest = int.from_bytes(hashlib.sha256(b"memeval signs 1:2:person 7").digest())
    for row in (512, 600, 767):
        assert found[row, 7] == 1 - 2 * (digest >> (255 - row % 256) & 1)
    assert abs(found[1:].mean()) < 0.01


def test_clusters_without_a_part_change_no_p_value() -> None:
    chance = random.Random(2)
    parts = {f"p{number}": chance.gauss(0.4, 1) for number in range(9)}
    more = {**parts, "zero": 0.0, "another": 0.0}
    assert family_tests([parts], [""]).p.tolist() == family_tests([more], [""]).p.tolist()


def test_an_empty_family_has_no_p_values() -> None:
    assert family([]) == [[], []]


@pytest.mark.parametrize("clusters", [8, 30])
def test_equal_systems_with_their_own_strengths_per_cluster_rarely_differ(clusters: int) -> None:
    """Six systems of equal skill, each better on some clusters: any significant pair is a false alarm."""
    chance = np.random.default_rng(clusters)
    names, wrong, repeats = tuple(map(str, range(clusters))), 0, 200
    first, second = np.triu_indices(6, 1)
    for _ in range(repeats):
        parts = chance.normal(size=(6, 3, clusters)) * chance.uniform(0.5, 2, (6, 1, 1))
        wrong += bool((pair_tests(parts, names, first, second, 512).corrected < 0.05).any())
    assert wrong / repeats < 0.05 + 3 * math.sqrt(0.05 * 0.95 / repeats)
