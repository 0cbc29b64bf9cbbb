"""Made-up boards of three benchmarks: intervals and ties of an index, at the items and clusters of real ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bench.simulation.world import World, layouts
from memeval.leaderboard.overall import cluster_scores
from memeval.statistics.flips import DRAWN_PATTERNS, Array
from memeval.statistics.overall import half_widths, index_tests
from memeval.statistics.ranks import ALPHA

BENCHMARKS = ("beliefs@2", "deepmemeval@1", "locomo@1")
"""Clusters of Beliefs, DeepMemEval and LoCoMo: 260, 50 and 10."""

SYSTEMS = 11
SEED = 2027

_PLACE = np.linspace(-1, 1, SYSTEMS)
_TURNS = np.where(np.arange(SYSTEMS) % 2, 1, -1)

SKILLS: Mapping[str, tuple[Array, Array, Array]] = {
    "equal": (np.full(SYSTEMS, 0.33), np.full(SYSTEMS, 0.35), np.full(SYSTEMS, 0.7)),
    "unlike": (0.33 + 0.08 * _TURNS, np.full(SYSTEMS, 0.35), 0.7 - 0.08 * _TURNS),
    "one": (np.full(SYSTEMS, 0.33), np.full(SYSTEMS, 0.35), 0.55 + 0.3 * _PLACE),
}
"""Expected scores by benchmark. Equal systems; systems of equal index that are good at unlike benchmarks; systems that
differ on the ten conversations of LoCoMo alone, by up to 60 points there."""

GAPS = ((0.0, 0.03), (0.03, 0.06), (0.06, 0.12), (0.12, 1.0))
"""Differences of the index of two systems, in shares."""


def index_of(repeats: int, patterns: int = DRAWN_PATTERNS) -> dict[str, object]:
    """Return how often intervals hold the truth, how often ties are wrong, and what the ties can show.

    Args:
        repeats: boards for each kind of systems.
        patterns: use at most the first patterns: with fewer, the tests are as exact and slightly weaker.
    """
    found: dict[str, object] = {"repeats": repeats, "systems": SYSTEMS, "seed": SEED}
    for name, skills in SKILLS.items():
        truth = np.mean(skills, axis=0)
        first, second = np.triu_indices(SYSTEMS, 1)
        gaps = np.abs(truth[first] - truth[second])
        wrong, inside, shown = [], [], []
        for values, half, apart in _boards(skills, repeats, patterns):
            inside.append((np.abs(values - truth) <= half).mean())
            wrong.append((apart & (gaps < 1e-9)).any())
            shown.append([apart[(gaps > low + 1e-9) & (gaps <= high + 1e-9)] for low, high in GAPS])
        error = round(float(np.mean(wrong)), 4) if (gaps < 1e-9).any() else None
        found[name] = {"coverage": round(float(np.mean(inside)), 4), "error": error}
        if error is None:
            found["power"] = {
                f"{100 * low:.0f} to {100 * high:.0f}": round(float(np.mean([each[place] for each in shown])), 4)
                for place, (low, high) in enumerate(GAPS)
                if shown[0][place].size
            }
    return found


def _boards(skills: Sequence[Array], repeats: int, patterns: int) -> Iterator[tuple[Array, Array, NDArray[np.bool_]]]:
    """Yield index and half interval of each system, and whether each pair is separated."""
    worlds = [World(layouts()[name]) for name in BENCHMARKS]
    names = tuple(
        f"{name}/{each}" for name, world in zip(BENCHMARKS, worlds, strict=True) for each in world.layout.clusters
    )
    first, second = np.triu_indices(SYSTEMS, 1)
    for repeat in range(repeats):
        random = np.random.default_rng([SEED, repeat])
        scores = [
            cluster_scores(replace(world.layout, scores=world.scores(each, random)), factor=1 / len(worlds))
            for world, each in zip(worlds, skills, strict=True)
        ]
        values = np.sum([each.parts.sum(axis=(1, 2)) for each in scores], axis=0)
        tested = index_tests(scores, names, first, second, patterns)
        yield values, half_widths([each.deviations() for each in scores]), tested.corrected < ALPHA
