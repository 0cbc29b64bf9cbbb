"""How small a drop the regression check finds, simulated from the grades of a stored run."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from memeval.analysis.comparing import COMPOSITE
from memeval.archive.runs import RunFolder
from memeval.grading.scoring import counting, layout_of
from memeval.leaderboard.measured import MeasuredRun, read_measured
from memeval.leaderboard.paired_values import LATENCY_RUNS
from memeval.leaderboard.regressions import check_metrics
from memeval.records.check import CheckPower, SmallestDrop
from memeval.records.settings import CheckSettings
from memeval.statistics.composite import Layout, Sample, composite
from memeval.statistics.flips import TOLERANCE, Array, sign_patterns

NOISE = 0.1


def power_of(folder: RunFolder, settings: CheckSettings) -> CheckPower:
    """Return the smallest drop of the composite and of each category that the check finds in 80 % of cases.

    The p-value of a single drop must be below the level divided by the number of tests. The check asks for less if its
    tests depend on one another. Raises BadInput: rows of the run are missing or damaged.
    """
    run = read_measured(folder)
    family = check_metrics(run, [run] * LATENCY_RUNS, settings)
    tests = sum(metric.corrected is not None for metric in family)
    level = settings.significance_percent / 100 / max(1, tests)
    quiet = Simulation(baseline_runs=settings.baseline_runs)
    noisy = replace(quiet, noise=NOISE)
    drops = []
    for name, layout, sample, points in _parts(run, settings):
        rule = DropRule(level, points / 100, settings.relative_percent / 100)
        drops.append(
            SmallestDrop(
                metric=name,
                items=layout.items,
                clusters=len(layout.names),
                value=composite(layout, sample),
                quiet=smallest_drop(layout, sample, rule, quiet),
                noisy=smallest_drop(layout, sample, rule, noisy),
            )
        )
    return CheckPower(
        run_id=run.run.run_id,
        track_id=run.run.track_id,
        tests=tests,
        noise=NOISE,
        baseline_runs=settings.baseline_runs,
        drops=tuple(drops),
    )


def _parts(run: MeasuredRun, settings: CheckSettings) -> Iterator[tuple[str, Layout, list[list[float]], float]]:
    plan = run.run.track.categories
    members = {c.name: [item for item in run.items.values() if item.category == c.name] for c in plan}
    scores = {name: [item.score for item in items] for name, items in members.items()}
    clusters = {name: [item.cluster for item in items] for name, items in members.items()}
    counted = counting(plan)
    if counted and all(members[category.name] for category in counted):
        layout = layout_of(plan, clusters)
        yield COMPOSITE, layout, [scores[category.name] for category in counted], settings.overall_points
    for name, items in members.items():
        if items:
            yield name, Layout((1.0,), (tuple(clusters[name]),)), [scores[name]], settings.category_points


STEP = 0.005


@dataclass(frozen=True)
class DropRule:
    level: float
    """The one-sided p-value below which a test shows a drop; already divided by the number of tests."""
    absolute: float
    relative: float


@dataclass(frozen=True)
class Simulation:
    noise: float = 0.0
    """Share of items whose score is drawn again, from the category's scores, in every run."""
    baseline_runs: int = 5
    """Earlier runs; the paired value is their mean."""
    repeats: int = 400
    power: float = 0.8
    seed: int = 15


def smallest_drop(layout: Layout, sample: Sample, rule: DropRule, simulation: Simulation) -> float | None:
    """Return the smallest drop of a composite that is found in most repeats, a multiple of ``STEP``.

    In each repeat, every item loses its whole credit with the same probability, so that the expected drop is the wanted
    one. The test is that of :func:`memeval.statistics.flips.family_tests`, one-sided. Returns ``None`` if not even the
    loss of all credits is found.
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
    shape = (simulation.repeats, len(scores))
    if not simulation.noise:
        return np.broadcast_to(scores, shape)
    return np.where(random.random(shape) < simulation.noise, random.choice(scores, shape), scores)
