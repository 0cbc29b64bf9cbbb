"""The rank ranges of old releases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.statistics.ranks import RankRange
from memeval.statistics.ranks_1 import holm, rank_ranges_1
from tests.statistics.samples import drawn, layout, samples_of

SMALL = layout((8, 6), clusters=7)


def test_distant_rows_have_distinct_ranks_and_close_rows_share_them() -> None:
    shape = layout((200, 200), clusters=50)
    rows = [drawn(shape, share, seed) for seed, share in enumerate((0.2, 0.9, 0.55, 0.55))]
    assert rank_ranges_1(shape, rows) == (RankRange(4, 4), RankRange(1, 1), RankRange(2, 3), RankRange(2, 3))


def test_equal_rows_share_all_ranks() -> None:
    shape = layout()
    assert rank_ranges_1(shape, [drawn(shape, 0.5, 1)] * 3) == (RankRange(1, 3),) * 3


@given(st.lists(samples_of(SMALL), min_size=1, max_size=4))
def test_few_clusters_cannot_separate_many_rows(rows: list[list[list[bool]]]) -> None:
    """Seven clusters give no p-value below 1/64, and two rows have one pair."""
    found = rank_ranges_1(SMALL, rows)
    assert all(1 <= each.best <= each.worst <= len(rows) for each in found)
    if len(rows) == 4:
        assert set(found) == {RankRange(1, 4)}


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([]) == ()
    assert holm([0.6, 0.9]) == (1.0, 1.0)


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_keeps_the_order_and_never_lowers(values: list[float]) -> None:
    found = holm(values)
    assert all(p <= q <= 1 for p, q in zip(values, found, strict=True))
    order = sorted(range(len(values)), key=lambda i: values[i])
    assert [found[i] for i in order] == sorted(found)
