"""The tests of a track, on tables of every shape."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memeval.leaderboard.ranking import TrackTests, sample_tests
from memeval.leaderboard.samples import TrackSamples
from memeval.records.track import CategoryPlan
from memeval.statistics.ranks import RankRange


def table(scores: NDArray[np.float64], clusters: int, sizes: tuple[int, ...] | None = None) -> TrackTests:
    """Return the tests of runs whose items go round the clusters.

    ``scores``: one row per run, one column per item. ``clusters``: number of clusters. ``sizes``: items of each
    category; one category unless said.
    """
    sizes = sizes or (scores.shape[1],)
    samples = TrackSamples(
        plan=tuple(
            CategoryPlan(name=f"c{number}", weight=1 / len(sizes), items=size, grader="judged@1")
            for number, size in enumerate(sizes)
        ),
        items=tuple(map(str, range(scores.shape[1]))),
        category=np.repeat(np.arange(len(sizes)), sizes),
        clusters=tuple(f"p{number:03}" for number in range(clusters)),
        cluster=np.arange(scores.shape[1]) % clusters,
        scores=scores,
    )
    return sample_tests(samples, [Path(str(run)) for run in range(len(scores))], len(scores))


def drawn(shares: list[float], items: int, seed: int) -> NDArray[np.float64]:
    """Return runs whose items are right with these probabilities."""
    random = np.random.default_rng(seed)
    return (random.random((len(shares), items)) < np.array(shares)[:, None]).astype(np.float64)


def ranges(found: TrackTests) -> set[RankRange]:
    return set(found.ranks.values())


@pytest.mark.parametrize("clusters", [1, 2, 5])
def test_too_few_clusters_separate_no_runs(clusters: int) -> None:
    scores = np.vstack([np.ones(60), np.zeros(60), np.zeros(60)])
    assert ranges(table(scores, clusters)) == {RankRange(1, 3)}


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_runs_that_are_all_right_all_wrong_or_all_tied_share_all_ranks(value: float) -> None:
    found = table(np.full((4, 60), value), 20)
    assert ranges(found) == {RankRange(1, 4)}
    assert found.tested.p.min() == found.tested.corrected.min() == 1.0


def test_all_right_and_all_wrong_are_separated() -> None:
    found = table(np.vstack([np.ones(60), np.zeros(60)]), 20, (40, 20))
    assert list(found.ranks.values()) == [RankRange(1, 1), RankRange(2, 2)]
    assert found.pair(Path("1"), Path("0"), "c1").difference == pytest.approx(-1)


def test_a_category_of_one_item_is_never_significant() -> None:
    found = table(drawn([0.5] * 5, 61, 3), 20, (60, 1))
    assert (found.tested.p[2] > 0.4).all()
    assert (found.tested.corrected[2] > 0.4).all()


def test_two_hundred_runs_over_ten_clusters_get_ranks_that_separate_the_ends() -> None:
    found = table(drawn(np.linspace(0.05, 0.95, 200).tolist(), 200, 4), 10)
    assert found.ranks[Path("199")].worst < found.ranks[Path("0")].best
    assert all(1 <= each.best <= each.worst <= 200 for each in found.ranks.values())
