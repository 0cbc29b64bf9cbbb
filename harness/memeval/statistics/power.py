"""The smallest drop that a one-sided paired test usually finds, by simulation with a fixed seed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from memeval.statistics.composite import Layout, Sample
from memeval.statistics.flips import TOLERANCE, Array, sign_patterns

STEP = 0.005
"""Drops are multiples of half a point."""


@dataclass(frozen=True)
class DropRule:
    """When a drop counts as found."""

    level: float
    """The one-sided p-value below which a test shows a drop; already divided by the number of tests."""
    absolute: float
    """The drop must be larger than this."""
    relative: float
    """Or larger than this share of the earlier value."""


@dataclass(frozen=True)
class Simulation:
    """How drops are simulated."""

    noise: float = 0.0
    """Share of items whose score is drawn again, from the category's scores, in every run."""
    baseline_runs: int = 5
    """Earlier runs; the paired value is their mean."""
    repeats: int = 400
    power: float = 0.8
    """Share of the repeats in which the drop must be found."""
    seed: int = 15


def smallest_drop(layout: Layout, sample: Sample, rule: DropRule, simulation: Simulation) -> float | None:
    """Return the smallest drop of a composite that is found in most repeats.

    In each repeat, every item loses its whole credit with the same probability, so that the expected drop is the wanted
    one. The test is that of :func:`memeval.statistics.flips.family_tests`, one-sided.

    Args:
        layout: categories, weights and clusters.
        sample: the scores of a real run.
        rule: when a drop counts as found.
        simulation: noise, repeats and seed.

    Returns:
        A multiple of ``STEP``; ``None`` if not even the loss of all credits is found.
    """
    steps = math.floor(_total(layout, sample) / STEP + 1e-9)
    if steps < 1 or share_found(layout, sample, steps * STEP, rule, simulation) < simulation.power:
        return None
    low, high = 0, steps
    while high - low > 1:
        middle = (low + high) // 2
        found = share_found(layout, sample, middle * STEP, rule, simulation) >= simulation.power
        low, high = (low, middle) if found else (middle, high)
    return high * STEP


def share_found(layout: Layout, sample: Sample, drop: float, rule: DropRule, simulation: Simulation) -> float:
    """Return the share of the repeats in which a drop is found; see :func:`smallest_drop`."""
    names = {name: number for number, name in enumerate(layout.names)}
    count = len(names)
    random = np.random.default_rng(simulation.seed)
    repeats = simulation.repeats
    kept = 1 - drop / _total(layout, sample)
    parts = np.zeros((repeats, count))
    difference, base = np.zeros(repeats), np.zeros(repeats)
    for weight, clusters, values in zip(layout.weights, layout.clusters, sample, strict=True):
        scores = np.asarray(values, dtype=np.float64)
        before = np.mean([_run(scores, simulation, random) for _ in range(simulation.baseline_runs)], axis=0)
        after = _run(scores, simulation, random) * (random.random((repeats, len(scores))) < kept)
        change = after - before
        difference += weight * change.mean(axis=1)
        base += weight * before.mean(axis=1)
        place = np.zeros((len(scores), count))
        place[np.arange(len(scores)), [names[name] for name in clusters]] = weight / len(scores)
        parts += change @ place
    patterns = sign_patterns(tuple(names)).astype(np.float64)
    flipped, limit = parts @ patterns.T, difference[:, None] + TOLERANCE
    shown = ((flipped <= limit).sum(axis=1) + (-flipped <= limit).sum(axis=1)) / (2 * len(patterns)) < rule.level
    passed = (-difference > rule.absolute) | (-difference > rule.relative * base)
    return float((shown & passed).mean())


def _total(layout: Layout, sample: Sample) -> float:
    return math.fsum(w * math.fsum(values) / len(values) for w, values in zip(layout.weights, sample, strict=True))


def _run(scores: Array, simulation: Simulation, random: np.random.Generator) -> Array:
    """Return the scores of one run in each repeat."""
    shape = (simulation.repeats, len(scores))
    if not simulation.noise:
        return np.broadcast_to(scores, shape)
    return np.where(random.random(shape) < simulation.noise, random.choice(scores, shape), scores)
