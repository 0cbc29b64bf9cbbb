"""The tests of an overall index: which systems differ in it, over all benchmarks at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memeval.leaderboard.samples import TrackSamples
from memeval.statistics.flips import pair_tests
from memeval.statistics.ranks import RankRange, rank_ranges

_COMPOSITE = 0


@dataclass(frozen=True)
class IndexPart:
    """The scores of all systems on one benchmark of an index."""

    benchmark: str
    """The benchmark: clusters of two benchmarks are never the same."""
    samples: TrackSamples
    """The scores. The first runs are those of the systems, in the order of the index; others are left out."""
    factor: float
    """How much one point of the composite counts in the index: its share of the weights over its gap."""


@dataclass(frozen=True)
class IndexTests:
    ranks: tuple[RankRange, ...]
    against: tuple[float | None, ...]
    """Corrected p-value of each system against the baseline; ``None`` for the baseline itself, and without one."""


def index_tests(parts: Sequence[IndexPart], ranked: int, systems: int, baseline: int | None) -> IndexTests:
    """Return the tests of an index.

    An index is a sum over the clusters of all benchmarks, so the differences are tested like those of a composite: see
    :func:`memeval.statistics.flips.pair_tests`. Floors and ceilings count as fixed.

    Args:
        ranked: how many of the systems, from the first on, have a rank.
        systems: number of systems with an index, at least 1.
        baseline: place of the baseline among the systems, behind the ranked ones; ``None`` without one.
    """
    members = [*range(ranked), *([baseline] if baseline is not None else [])]
    shares = np.hstack([part.factor * part.samples.parts()[:systems, _COMPOSITE][members] for part in parts])
    clusters = tuple(f"{part.benchmark}/{name}" for part in parts for name in part.samples.clusters)
    first, second = np.triu_indices(len(members), 1)
    tested = pair_tests(shares[:, None, :], clusters, first, second)
    corrected = tested.corrected[0]
    among = second < ranked
    ranges = rank_ranges(shares.sum(axis=1)[:ranked], first[among], second[among], corrected[among])
    if baseline is None:
        return IndexTests(ranges, (None,) * ranked)
    return IndexTests(ranges, tuple(float(p) for p in corrected[second == ranked]))


def baseline_word(difference: float, apart: bool) -> str:
    """Return whether a system is ``better``, ``worse`` or ``not better`` than the baseline."""
    if not apart or difference == 0:
        return "not better"
    return "better" if difference > 0 else "worse"
