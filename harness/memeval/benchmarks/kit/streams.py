"""Reproducible randomness: a named random stream for every purpose, and shuffled decks with exact shares."""

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def stream(*purpose: str | int) -> random.Random:
    """Return the random stream of ``purpose``, which starts with the name of a benchmark.

    Equal purposes give equal streams on every machine:
    Python seeds its generator with the SHA-512 of a text, so ``PYTHONHASHSEED`` has no effect.
    """
    return random.Random("/".join(str(part) for part in purpose))  # noqa: S311


def shares(total: int, weights: Sequence[float]) -> list[int]:
    """Split ``total`` by ``weights`` into whole numbers by largest remainder; ties go to earlier entries."""
    whole = sum(weights)
    exact = [total * weight / whole for weight in weights]
    counts = [int(value) for value in exact]
    order = sorted(range(len(weights)), key=lambda i: (round(counts[i] - exact[i], 9), i))
    for i in order[: total - sum(counts)]:
        counts[i] += 1
    return counts


def deck(rng: random.Random, size: int, cards: Mapping[T, float]) -> list[T]:
    """Return ``size`` shuffled cards, each kind as often as its weight says."""
    kinds = list(cards)
    dealt = [kind for kind, count in zip(kinds, shares(size, list(cards.values())), strict=True) for _ in range(count)]
    rng.shuffle(dealt)
    return dealt


class Hand:
    """Draws from pools without repetition until a pool is exhausted."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._left: dict[tuple[object, ...], list[object]] = {}

    def draw(self, pool: Sequence[T]) -> T:
        """Return an entry of ``pool`` (hashable entries) that was not drawn since the last shuffle."""
        name = tuple(pool)
        left = self._left.get(name)
        if not left:
            left = self._left[name] = list(pool)
            self.rng.shuffle(left)
        return left.pop()  # type: ignore[return-value]

    def left(self, pool: Sequence[T]) -> int:
        """Return how many entries of ``pool`` can be drawn before the next shuffle."""
        left = self._left.get(tuple(pool))
        return len(pool) if left is None else len(left)


class Loose(Hand):
    """Draws from pools with replacement, because a single session rarely repeats anything."""

    def draw(self, pool: Sequence[T]) -> T:
        return pool[int(self.rng.random() * len(pool))]

    def left(self, pool: Sequence[T]) -> int:
        return len(pool)
