"""The smallest difference that a number of items can show is one that McNemar's test calls significant, and no less."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.statistics.paired import mcnemar, smallest_difference


@pytest.mark.parametrize(("items", "points"), [(50, 16.0), (200, 8.0), (1986, 2.3)])
def test_it_shrinks_as_items_grow(items: int, points: float) -> None:
    assert round(100 * (smallest_difference(items) or 0), 1) == points


@given(items=st.integers(1, 300), disagreeing=st.floats(0, 1))
def test_it_is_significant_and_what_is_next_smaller_is_not(items: int, disagreeing: float) -> None:
    apart, found = round(disagreeing * items), smallest_difference(items, disagreeing)

    def p(fewer: int) -> float:
        return mcnemar([True] * (apart - fewer) + [False] * fewer, [False] * (apart - fewer) + [True] * fewer)

    if found is None:
        assert p(0) >= 0.05
        return
    fewer = (apart - round(found * items)) // 2
    assert p(fewer) < 0.05
    assert fewer == apart // 2 or p(fewer + 1) >= 0.05


def test_few_items_cannot_show_a_significant_difference() -> None:
    assert smallest_difference(8) is None
