"""Rank ranges."""

import random
import time

from hypothesis import given
from hypothesis import strategies as st

from memeval.statistics import RankRange, composite, rank_ranges
from tests.statistics.samples import credits_of, drawn, layout, samples_of

SMALL = layout((8, 6), clusters=7)


@given(st.lists(samples_of(SMALL) | credits_of(SMALL), min_size=1, max_size=5))
def test_a_range_holds_the_rank_by_score(rows: list[list[list[float]]]) -> None:
    scores = [composite(SMALL, row) for row in rows]
    for score, found in zip(scores, rank_ranges(SMALL, rows), strict=True):
        better = sum(other > score + 1e-12 for other in scores)
        worse = sum(other < score - 1e-12 for other in scores)
        assert 1 <= found.best <= 1 + better and len(rows) - worse <= found.worst <= len(rows)


@given(st.lists(samples_of(SMALL), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows: list[list[list[bool]]], chance: random.Random) -> None:
    order = list(range(len(rows)))
    chance.shuffle(order)
    found = rank_ranges(SMALL, rows)
    assert rank_ranges(SMALL, [rows[i] for i in order]) == tuple(found[i] for i in order)


def test_distant_rows_have_distinct_ranks_and_close_rows_share_them() -> None:
    shape = layout((200, 200), clusters=50)
    rows = [drawn(shape, share, seed) for seed, share in enumerate((0.2, 0.9, 0.55, 0.55))]
    assert rank_ranges(shape, rows) == (RankRange(4, 4), RankRange(1, 1), RankRange(2, 3), RankRange(2, 3))


def test_shares_of_points_tell_rows_apart_as_points_do() -> None:
    """A difference of 0.1 on every item is significant for all credits; equal means are not."""
    shape = layout((200, 200), clusters=50)
    chance = random.Random(5)
    earned = [[chance.randint(0, 900) / 1000 for _ in category] for category in shape.clusters]
    more = [[value + 0.1 * chance.random() for value in category] for category in earned]
    other = [[0.45 for _ in category] for category in shape.clusters]
    assert rank_ranges(shape, [earned, more, earned]) == (RankRange(2, 3), RankRange(1, 1), RankRange(2, 3))
    assert rank_ranges(shape, [earned, other]) == (RankRange(1, 2), RankRange(1, 2))


def test_equal_rows_share_all_ranks() -> None:
    shape = layout()
    assert rank_ranges(shape, [drawn(shape, 0.5, 1)] * 3) == (RankRange(1, 3),) * 3


def test_one_row_stands_first() -> None:
    assert rank_ranges(SMALL, [drawn(SMALL, 0.5, 1)]) == (RankRange(1, 1),)


def test_a_board_of_forty_rows_takes_well_under_a_second() -> None:
    shape = layout((100, 80, 80, 80, 80, 80), clusters=50)
    rows = [drawn(shape, share / 40, share) for share in range(40)]
    start = time.process_time()
    rank_ranges(shape, rows)
    assert time.process_time() - start < 1.0
