"""Simulate boards of known truth, and store how often the ranks are wrong, and what they can show."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.simulation.index import index_of
from bench.simulation.page import write_page
from bench.simulation.stored import stored_power
from bench.simulation.world import World, layouts
from memeval.leaderboard.samples import TrackSamples
from memeval.statistics.composite import composite_interval
from memeval.statistics.flips import ALL_PATTERNS, DRAWN_PATTERNS, pair_tests
from memeval.statistics.paired import paired_difference
from memeval.statistics.ranks import ALPHA

Flags = NDArray[np.bool_]

OUT, RESULTS = Path("site/simulation.json"), Path("results")
SYSTEMS = (8, 50, 200)
POINTS = (2, 3, 5, 8)
"""Differences between the two halves of a board, in percentage points."""

SEED = 2026
REPEATS, POWER_REPEATS = 2000, 100
"""Boards for an error rate, and for a power."""

PATTERNS = {8: 1024, 50: 256, 200: 128}
"""Drawn patterns of signs by number of systems: with fewer, a test is as exact and slightly weaker."""

INDEX_PATTERNS = 1024
"""Drawn patterns of the boards of several benchmarks."""

WHOLE_FAMILY = 50
"""Up to this number of systems, the categories are tested too."""


def main(repeats: int = REPEATS, power_repeats: int = POWER_REPEATS) -> None:
    """Run all simulations on two processes, and write the results and their page."""
    tasks = [(name, systems, repeats, power_repeats) for systems in reversed(SYSTEMS) for name in layouts()]
    with ProcessPoolExecutor(2) as pool:
        boards = []
        for found in pool.map(board_of, *zip(*tasks, strict=True)):
            print(f"{found['layout']:16} {found['systems']:4} systems: error {found['error']}, power {found['power']}")
            boards.append(found)
        wide = pool.submit(wide_board, power_repeats).result()
        coverage = list(pool.map(coverage_of, layouts(), [repeats] * len(layouts())))
        pairs = list(pool.map(pair_of, layouts(), [repeats] * len(layouts())))
    result = {
        "seed": SEED,
        "repeats": repeats,
        "power_repeats": power_repeats,
        "boards": sorted(boards, key=lambda each: (each["layout"], each["systems"])),
        "wide": wide,
        "coverage": coverage,
        "pairs": pairs,
        "stored": list(stored_power(RESULTS, POINTS, power_repeats, SEED)),
        "index": index_of(max(2, repeats // 4), INDEX_PATTERNS),
    }
    write(result)


def again(part: str) -> None:
    """Compute one part again, ``stored`` or ``index``, and keep the rest: new runs come more often than new methods."""
    result = json.loads(OUT.read_text(encoding="utf-8"))
    if part == "index":
        write(result | {"index": index_of(result["repeats"] // 4, INDEX_PATTERNS)})
    else:
        write(result | {"stored": list(stored_power(RESULTS, POINTS, result["power_repeats"], SEED))})


def write(result: dict[str, object]) -> None:
    """Write the results and their page."""
    OUT.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    write_page(result)


def board_of(name: str, systems: int, repeats: int, power_repeats: int) -> dict[str, object]:
    """Return error rates and power of one layout and number of systems.

    Args:
        name: the layout.
        systems: number of systems.
        repeats: boards of equal systems, for the error rates.
        power_repeats: boards with two halves of equal systems, for each difference.
    """
    wrong = [bool(apart.any()) for apart in _boards(name, systems, 0, repeats)]
    power: dict[str, float] = {}
    halves = np.arange(systems) < systems // 2
    first, second = np.triu_indices(systems, 1)
    across = halves[first] != halves[second]
    for points in POINTS:
        found = [float(apart[0, across].mean()) for apart in _boards(name, systems, points, power_repeats)]
        power[str(points)] = round(float(np.mean(found)), 4)
    return {
        "layout": name,
        "systems": systems,
        "error": round(float(np.mean(wrong)), 4),
        "power": power,
    }


def wide_board(repeats: int) -> dict[str, object]:
    """Return what ten conversations show of 200 systems between 18 and 88 points.

    Args:
        repeats: number of boards.
    """
    world = World(layouts()["locomo@1"])
    skills = np.linspace(0.18, 0.88, 200)
    first, second = np.triu_indices(200, 1)
    gap = 100 * (skills[second] - skills[first])
    found = []
    for repeat in range(repeats):
        samples = replace(world.layout, scores=world.scores(skills, _random("wide", 200, 0, repeat)))
        found.append(_apart(samples))
    ends = gap > 69.9
    return {
        "repeats": repeats,
        "ends_apart": float(np.mean([apart[0, ends].mean() for apart in found])),
        "by_gap": {
            f"{low} to {low + 10}": round(
                float(np.mean([apart[0, (gap > low) & (gap <= low + 10)].mean() for apart in found])), 4
            )
            for low in range(0, 70, 10)
        },
    }


def coverage_of(name: str, repeats: int) -> dict[str, object]:
    """Return how often 95 % intervals hold the truth: of one score, and of a difference of three points."""
    world, skills = World(layouts()[name]), np.array([0.6, 0.57])
    inside = np.zeros(2)
    for repeat in range(repeats):
        samples = replace(world.layout, scores=world.scores(skills, _random(name, 2, 3, repeat)))
        layout, one, two = samples.layout, samples.sample(0), samples.sample(1)
        score, difference = composite_interval(layout, one), paired_difference(layout, one, two)
        assert score.low is not None and score.high is not None
        inside += (score.low <= 0.6 <= score.high, difference.low <= 0.03 <= difference.high)
    one_score, pair = np.round(inside / repeats, 4).tolist()
    return {"layout": name, "score": one_score, "difference": pair}


def pair_of(name: str, repeats: int) -> dict[str, object]:
    """Return how often the test finds the difference of two systems that were compared alone, without a correction.

    Args:
        name: the layout.
        repeats: pairs of systems for each difference.
    """
    world = World(layouts()[name])
    pair = np.array([0]), np.array([1])
    power = {}
    for points in POINTS:
        skills = 0.5 + points / 200 * np.array([1, -1])
        found = 0
        for repeat in range(repeats):
            samples = replace(world.layout, scores=world.scores(skills, _random(name, 1, points, repeat)))
            found += bool(pair_tests(samples.parts()[:, :1], samples.clusters, *pair).p[0, 0] < ALPHA)
        power[str(points)] = round(found / repeats, 4)
    return {"layout": name, "power": power}


def _boards(name: str, systems: int, points: float, repeats: int) -> Iterator[Flags]:
    world = World(layouts()[name])
    skills = 0.5 + points / 200 * np.where(np.arange(systems) < systems // 2, 1, -1)
    for repeat in range(repeats):
        scores = world.scores(skills, _random(name, systems, points, repeat))
        yield _apart(replace(world.layout, scores=scores))


def _random(name: str, systems: int, points: float, repeat: int) -> np.random.Generator:
    return np.random.default_rng([SEED, *name.encode(), systems, int(100 * points), repeat])


def _apart(samples: TrackSamples) -> Flags:
    """Return whether the ranks separate each pair of systems, shape (values, pairs).

    The first value is the composite. The categories are tested too, except on large boards.
    """
    systems = len(samples.scores)
    parts = samples.parts()
    first, second = np.triu_indices(systems, 1)
    patterns = PATTERNS[systems] if len(samples.clusters) > ALL_PATTERNS else DRAWN_PATTERNS
    tested = pair_tests(parts if systems <= WHOLE_FAMILY else parts[:, :1], samples.clusters, first, second, patterns)
    return tested.corrected < ALPHA


def options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m bench.simulation", description=__doc__)
    parser.add_argument("--repeats", type=int, default=REPEATS, help="boards for an error rate; a fifth for a power")
    parser.add_argument("--only", choices=("stored", "index"), help="compute only this part again, in a minute or two")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    asked = options()
    if asked.only:
        again(asked.only)
    else:
        main(asked.repeats, POWER_REPEATS if asked.repeats == REPEATS else max(2, asked.repeats // 5))
