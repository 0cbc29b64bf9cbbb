"""Statistics of 200 made systems on LoCoMo's 1,986 items: all of a board, or t-tests of all pairs alone."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from bench.simulation.world import World, layouts
from memeval.leaderboard.item_report import weighting_of
from memeval.leaderboard.overall import cluster_scores
from memeval.leaderboard.ranking import sample_tests
from memeval.leaderboard.samples import TrackSamples
from memeval.statistics.composite import composite, contributions, variance
from memeval.statistics.intervals import two_sided_p
from memeval.statistics.items import item_statistics
from memeval.statistics.overall import (
    drawn_weightings,
    half_widths,
    leave_one_out,
    ranks_by,
    weighted_mean,
)

SYSTEMS, BENCHMARKS = 200, 10


def main(what: str) -> int:
    """Compute ``all`` statistics, or t-tests of all pairs."""
    world, random = World(layouts()["locomo@1"]), np.random.default_rng(17)
    skills = np.linspace(0.2, 0.85, SYSTEMS)
    samples = replace(world.layout, scores=world.scores(skills, random))
    if what == "all":
        _all(samples, skills[:, None] + random.normal(0, 0.05, (SYSTEMS, BENCHMARKS)))
    else:
        _t_tests(samples)
    return 0


def _all(samples: TrackSamples, shares: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
    """Compute ranks, detectable differences, item statistics, and interval and stability of an index."""
    tests = sample_tests(samples, [Path(str(system)) for system in range(SYSTEMS)], SYSTEMS)
    assert tests.detectable.clusters == 10
    item_statistics(samples.scores, weighting_of(samples))
    assert (half_widths([cluster_scores(samples).deviations()]) > 0).all()
    ranks_by(weighted_mean(shares, drawn_weightings(BENCHMARKS)).T)
    leave_one_out(shares, np.ones(BENCHMARKS))


def _t_tests(samples: TrackSamples) -> None:
    """Compute cluster-robust t-tests of all pairs in plain Python, to relate other times to."""
    layout, systems = samples.layout, [samples.sample(system) for system in range(SYSTEMS)]
    rows = [(composite(layout, each), contributions(layout, each)) for each in systems]
    for (one, ours), (other, theirs) in combinations(rows, 2):
        error = math.sqrt(variance([a - b for a, b in zip(ours, theirs, strict=True)]))
        assert two_sided_p((one - other) / error, len(ours) - 1) <= 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
