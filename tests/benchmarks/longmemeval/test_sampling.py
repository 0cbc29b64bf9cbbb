"""The stratified sample, against the reference implementation's golden values (jeffs-brain/memory)."""

import hashlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.longmemeval.sampling import INCREMENT, MULTIPLIER, allocations, sampled, shuffled

GROUPS = {"a": "alpha", "b": "beta", "g": "gamma", "d": "delta"}
NAMES = ("a1", "a2", "a3", "b1", "b2", "b3", "g1", "g2", "d1", "d2")
REAL = {
    "knowledge-update": 78,
    "multi-session": 133,
    "single-session-assistant": 56,
    "single-session-preference": 30,
    "single-session-user": 70,
    "temporal-reasoning": 133,
}


def test_the_generator_is_the_reference_ones() -> None:
    states = [42]
    for _ in range(3):
        states.append((states[-1] * MULTIPLIER + INCREMENT) % (1 << 64))
    assert states[1:] == [10481999410520546993, 4159066171780167020, 7615522811268512075]
    assert [state >> 33 for state in states[1:]] == [1220265334, 484179026, 886563538]


@pytest.mark.parametrize(
    ("seed", "order"),
    [
        (0, "4 8 6 0 9 5 2 1 3 7"),
        (1, "7 8 1 6 5 0 2 9 3 4"),
        (42, "3 8 0 9 1 6 7 2 5 4"),
    ],
)
def test_ten_items_are_shuffled_as_the_reference_shuffles_them(seed: int, order: str) -> None:
    assert shuffled(10, seed) == [int(place) for place in order.split()]


def test_a_part_of_a_group_is_the_head_of_its_shuffle() -> None:
    assert sampled(range(10), lambda _: "all", 5, 7) == (2, 5, 3, 0, 4)


@pytest.mark.parametrize(
    ("size", "seed", "chosen", "signature"),
    [
        (5, 42, "a3 a1 b3 d2 g2", "15b0adcd0d5bdde4"),
        (3, 42, "a3 b3 d2", "3840d2538e48348f"),
        (7, 7, "a1 a2 b1 b2 d1 d2 g2", "44389a66f66a89a0"),
        (9, 1, "a1 a2 a3 b1 b2 d1 d2 g1 g2", "8cf6bd20a3880410"),
    ],
)
def test_samples_and_their_signatures_are_the_reference_ones(size: int, seed: int, chosen: str, signature: str) -> None:
    found = sampled(NAMES, lambda name: GROUPS[name[0]], size, seed)
    assert " ".join(found) == chosen
    assert hashlib.sha256("\n".join(found).encode()).hexdigest().startswith(signature)


@pytest.mark.parametrize(
    ("size", "shares"), [(18, [3, 5, 2, 1, 2, 5]), (50, [8, 13, 6, 3, 7, 13]), (100, [16, 27, 11, 6, 14, 26])]
)
def test_the_real_types_have_the_reference_shares(size: int, shares: list[int]) -> None:
    assert list(allocations(REAL, size).values()) == shares


@pytest.mark.parametrize("size", [-1, 0, 10, 11])
def test_no_size_and_one_that_is_not_smaller_take_all_in_order(size: int) -> None:
    assert sampled(NAMES, lambda name: GROUPS[name[0]], size, 42) == NAMES


@given(
    st.dictionaries(st.text("abcdef", min_size=1), st.integers(1, 40), min_size=1, max_size=8),
    st.integers(1, 100),
    st.integers(0, 1 << 64),
)
def test_every_sample_has_its_size_its_shares_and_nothing_twice(sizes: dict[str, int], size: int, seed: int) -> None:
    items = [(name, number) for name, count in sizes.items() for number in range(count)]
    found = sampled(items, lambda item: item[0], size, seed)
    assert len(found) == len(set(found)) == min(size, len(items))
    if size < len(items):
        assert all(one <= two for one, two in pairwise(name for name, _ in found))
        for name, count in sizes.items():
            assert abs(sum(item[0] == name for item in found) - count * size / len(items)) < 1
