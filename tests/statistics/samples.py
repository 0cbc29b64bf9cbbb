"""Layouts and samples for statistical tests."""

import random

from hypothesis import strategies as st

from memeval.statistics.composite import Layout, Sample
from memeval.statistics.flips import family_tests
from memeval.statistics.paired import PairedDifference


def layout(sizes: tuple[int, ...] = (100, 80), clusters: int = 40) -> Layout:
    """Return a layout with equal weights whose items go round the clusters."""
    weights = tuple(1 / len(sizes) for _ in sizes)
    return Layout(weights, tuple(tuple(f"p{i % clusters}" for i in range(size)) for size in sizes))


def singles(sizes: tuple[int, ...] = (100, 80)) -> Layout:
    """Return a layout with one cluster per item."""
    weights = tuple(1 / len(sizes) for _ in sizes)
    return Layout(weights, tuple(tuple(f"{c}-{i}" for i in range(size)) for c, size in enumerate(sizes)))


def drawn(shape: Layout, share: float, seed: int) -> Sample:
    """Return a sample whose items are right with probability ``share``."""
    chance = random.Random(seed)
    return [[chance.random() < share for _ in category] for category in shape.clusters]


def samples_of(shape: Layout) -> st.SearchStrategy[list[list[bool]]]:
    return st.tuples(*(st.lists(st.booleans(), min_size=len(c), max_size=len(c)) for c in shape.clusters)).map(list)


def credits_of(shape: Layout) -> st.SearchStrategy[list[list[float]]]:
    """Return any sample of a layout whose items earn shares of a point."""
    shares = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)
    return st.tuples(*(st.lists(shares, min_size=len(c), max_size=len(c)) for c in shape.clusters)).map(list)


def p_of(found: PairedDifference) -> float:
    """Return the p-value of a difference that is a family by itself."""
    return float(family_tests([found.parts], [""]).p[0])
