"""Rank ranges from corrected p-values."""

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memeval.statistics.flips import pair_tests
from memeval.statistics.ranks import RankRange, rank_ranges


def ranges(parts: list[list[float]]) -> tuple[RankRange, ...]:
    """Return the rank ranges of rows, given the part of each cluster in their value."""
    rows = np.array(parts)
    first, second = np.triu_indices(len(rows), 1)
    names = tuple(f"p{number}" for number in range(rows.shape[1]))
    tested = pair_tests(rows[:, None, :], names, first, second)
    return rank_ranges(rows.sum(axis=1), first, second, tested.corrected[0])


def rows_of(clusters: int) -> st.SearchStrategy[list[list[float]]]:
    share = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)
    return st.lists(st.lists(share, min_size=clusters, max_size=clusters), min_size=1, max_size=5)


@given(rows_of(7) | rows_of(14))
def test_a_range_holds_the_rank_by_score(rows: list[list[float]]) -> None:
    scores = [sum(row) for row in rows]
    for score, found in zip(scores, ranges(rows), strict=True):
        better = sum(other > score + 1e-12 for other in scores)
        worse = sum(other < score - 1e-12 for other in scores)
        assert 1 <= found.best <= 1 + better and len(rows) - worse <= found.worst <= len(rows)


@given(rows_of(7), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows: list[list[float]], chance: random.Random) -> None:
    order = list(range(len(rows)))
    chance.shuffle(order)
    found = ranges(rows)
    assert ranges([rows[place] for place in order]) == tuple(found[place] for place in order)


def test_distant_rows_have_distinct_ranks_and_close_rows_share_them() -> None:
    chance = random.Random(7)
    rows = [[share + chance.gauss(0, 0.05) for _ in range(40)] for share in (0.2, 0.9, 0.55, 0.55)]
    assert ranges(rows) == (RankRange(4, 4), RankRange(1, 1), RankRange(2, 3), RankRange(2, 3))


def test_a_difference_in_every_cluster_separates_rows_however_small_it_is() -> None:
    chance = random.Random(5)
    row = [chance.random() for _ in range(40)]
    more = [value + 0.001 for value in row]
    assert ranges([row, more]) == (RankRange(2, 2), RankRange(1, 1))


def test_with_five_clusters_no_rows_can_be_separated_and_with_six_two_can() -> None:
    """The smallest two-sided p-value of five clusters is 2/32, of six 2/64."""
    assert ranges([[1.0] * 5, [0.0] * 5]) == (RankRange(1, 2), RankRange(1, 2))
    assert ranges([[1.0] * 6, [0.0] * 6]) == (RankRange(1, 1), RankRange(2, 2))


def test_equal_rows_share_all_ranks() -> None:
    assert ranges([[0.3, 0.2, 0.9] * 5] * 3) == (RankRange(1, 3),) * 3


def test_ten_conversations_separate_88_from_18_among_two_hundred_systems_and_never_equals() -> None:
    """Cluster-robust t-tests with Holm's correction leave every system at ranks 1 to 200 here."""
    chance = np.random.default_rng(17)
    skill = np.concatenate([[0.88, 0.18], chance.uniform(0.2, 0.86, 198)])
    rows = (skill[:, None] + chance.normal(0, 0.06, (200, 10))).tolist()
    best, worst, *_others = ranges(rows)
    assert best.worst < worst.best
    equals = (0.5 + chance.normal(0, 0.06, (200, 10))).tolist()
    assert set(ranges(equals)) == {RankRange(1, 200)}
