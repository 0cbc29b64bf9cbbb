"""The stratified sample: the same items on every machine and in every programming language.

The algorithm is that of jeffs-brain/memory (``go/eval/lme/dataset.go``), to the bit.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

MULTIPLIER = 6364136223846793005
INCREMENT = 1442695040888963407
"""Constants of the 64-bit linear congruential generator. Draws use its upper 31 bits."""


def sampled(items: Sequence[T], group: Callable[[T], str], size: int, seed: int) -> tuple[T, ...]:
    """Return a stratified sample, group by group in the order of their names.

    A group that is taken completely keeps its order; other groups are shuffled and cut. ``size``: sample size; if there
    are no more items, all are returned in the order of the file. ``seed``: seed of the shuffle; each group starts with
    the same seed.
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
    """Return the sample size of each group, in the order of names.

    Each group has its proportional share, rounded down. The groups with the largest remainders get one more each; ties
    go to the first name.
    """
    total = sum(sizes.values())
    shares = {name: sizes[name] * size // total for name in sorted(sizes)}
    # Fewer items are left than groups have a remainder, and none of those groups is full.
    left = size - sum(shares.values())
    for name in sorted(shares, key=lambda name: (-(sizes[name] * size % total), name))[:left]:
        shares[name] += 1
    return shares


def shuffled(count: int, seed: int) -> list[int]:
    """Return the numbers below ``count`` in shuffled order (Fisher and Yates, from the end)."""
    order = list(range(count))
    state = seed
    for last in range(count - 1, 0, -1):
        state = (state * MULTIPLIER + INCREMENT) % (1 << 64)
        other = (state >> 33) % (last + 1)
        order[last], order[other] = order[other], order[last]
    return order
