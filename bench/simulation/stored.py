"""How far apart two real systems must be to be told apart: pairs of stored runs, with resampled clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from memeval.archive.runs import RunFolder, runs_under
from memeval.leaderboard.samples import read_samples
from memeval.statistics.flips import Array, pair_tests
from memeval.statistics.ranks import ALPHA

TRACKS = (
    ("beliefs@1", "judge", "extractive@2"),
    ("beliefs@2", "judge", "extractive@2"),
    ("beliefs@2", "retrieval", "none@1"),
)
"""Benchmark, protocol and reader of the boards that are compared; the tier is ``full``."""

SYSTEMS = ("bm25", "bm25s", "haystack", "llamaindex", "minilm", "hybrid", "jeffs-brain")


def stored_power(results: Path, points: Sequence[int], repeats: int, seed: int) -> Iterator[dict[str, object]]:
    """Yield, for each board, how often the test of one pair finds a difference of some points.

    In each repeat, the clusters of two stored runs are drawn with replacement, and their difference is moved to the
    wanted one. So items and clusters disagree as they do for real systems.

    Args:
        results: the stored runs.
        points: the differences, in percentage points.
        repeats: samples of clusters for each pair of systems and difference.
        seed: the seed of the samples.
    """
    for benchmark, protocol, reader in TRACKS:
        runs = [run for slug in SYSTEMS if (run := _latest(results, slug, benchmark, protocol, reader))]
        samples = read_samples(runs)
        parts = samples.parts()[:, 0]
        random = np.random.default_rng(seed)
        found = np.array(
            [
                [_power(parts[first] - parts[second], each / 100, repeats, random) for each in points]
                for first, second in combinations(range(len(runs)), 2)
            ]
        )
        yield {
            "layout": benchmark,
            "protocol": protocol,
            "systems": len(runs),
            "pairs": len(found),
            "median": _by_points(points, np.median(found, axis=0)),
            "least": _by_points(points, found.min(axis=0)),
        }


def _latest(results: Path, slug: str, benchmark: str, protocol: str, reader: str) -> RunFolder | None:
    wanted = benchmark, protocol, "full", reader
    runs = runs_under(results / benchmark.partition("@")[0] / slug)
    tracks = ((run, run.run.track) for run in reversed(runs))
    return next((run for run, on in tracks if (on.benchmark, on.protocol, on.tier, on.reader) == wanted), None)


def _power(gaps: Array, difference: float, repeats: int, random: np.random.Generator) -> float:
    """Return how often a difference is found.

    Args:
        gaps: the part of each cluster in the difference of two runs.
        difference: the true difference.
        repeats: number of samples.
        random: the source of chance.
    """
    count = len(gaps)
    moved = gaps - gaps.mean() + difference / count
    names = tuple(f"cluster {number:03}" for number in range(count))
    pair, found = (np.array([0]), np.array([1])), 0
    for _ in range(repeats):
        drawn = moved[random.integers(count, size=count)]
        found += bool(pair_tests(np.stack([drawn, np.zeros(count)])[:, None, :], names, *pair).p[0, 0] < ALPHA)
    return found / repeats


def _by_points(points: Sequence[int], shares: Array) -> dict[str, float]:
    return {str(each): round(float(share), 4) for each, share in zip(points, shares, strict=True)}
