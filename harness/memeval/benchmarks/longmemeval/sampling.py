"""The stratified sample: the same items on every machine and in every language.

The algorithm is that of jeffs-brain/memory (``go/eval/lme/dataset.go``), to the bit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

MULTIPLIER = 6364136223846793005
INCREMENT = 1442695040888963407
"""Of the 64-bit linear congruential generator; its upper 31 bits are what is drawn."""


def sampled(items: Sequence[T], group: Callable[[T], str], size: int, seed: int) -> tuple[T, ...]:
    """Return a sample in which every group has its share, group by group in the order of their names.

    A group that is taken whole keeps its order, another gives the first of a shuffle.

    Args:
        items: what there is, in the order of the file.
        group: the group of an item.
        size: items in the sample; all, in the order of the file, where there are no more than that.
        seed: of the shuffles; every group starts from it anew.
    """
    if size <= 0 or size >= len(items):
        return tuple(items)
    groups: dict[str, list[T]] = defaultdict(list)
    for item in items:
        groups[group(item)].append(item)
    shares = allocations({name: len(members) for name, members in groups.items()}, size)
    chosen: list[T] = []
    for name, share in shares.items():
        members = groups[name]
        whole = share >= len(members)
        chosen += members if whole else [members[place] for place in shuffled(len(members), seed)[:share]]
    return tuple(chosen)


def allocations(sizes: Mapping[str, int], size: int) -> dict[str, int]:
    """Return how many of each group are sampled, by the names in order.

    Each group has its proportional share, rounded down; what is left over goes, one each, to the groups with the
    largest remainders, and at equal remainders to the first by name.

    Args:
        sizes: per group, how many there are.
        size: items in the sample, fewer than there are.
    """
    total = sum(sizes.values())
    shares = {name: sizes[name] * size // total for name in sorted(sizes)}
    # What is left over is less than the groups with a remainder, and none of those is full.
    left = size - sum(shares.values())
    for name in sorted(shares, key=lambda name: (-(sizes[name] * size % total), name))[:left]:
        shares[name] += 1
    return shares


def shuffled(count: int, seed: int) -> list[int]:
    """Return the numbers below ``count`` in shuffled order (Fisher and Yates, from the end).

    Args:
        count: how many.
        seed: the generator's first state.
    """
    order = list(range(count))
    state = seed
    for last in range(count - 1, 0, -1):
        state = (state * MULTIPLIER + INCREMENT) % (1 << 64)
        other = (state >> 33) % (last + 1)
        order[last], order[other] = order[other], order[last]
    return order
