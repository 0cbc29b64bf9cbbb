"""How small a drop the regression check finds, simulated from the grades of a stored run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memeval.analysis.comparing import COMPOSITE
from memeval.archive.runs import RunFolder
from memeval.grading.layout import counting, layout_of
from memeval.leaderboard.measured import MeasuredRun, read_measured
from memeval.leaderboard.paired_values import LATENCY_RUNS
from memeval.leaderboard.regressions import check_metrics
from memeval.records.check import CheckPower, SmallestDrop
from memeval.records.settings import CheckSettings
from memeval.statistics.composite import Layout, composite
from memeval.statistics.power import DropRule, Simulation, smallest_drop

NOISE = 0.1
"""Share of items whose score changes from run to run, in the second simulation."""


def power_of(folder: RunFolder, settings: CheckSettings) -> CheckPower:
    """Return the smallest drop of the composite and of each category that the check finds in 80 % of cases.

    The p-value of a single drop must be below the level divided by the number of tests. The check asks for less if its
    tests depend on one another.

    Args:
        settings: the thresholds.

    Raises:
        BadInput: rows of the run are missing or damaged.
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
    """Yield the composite and the categories: name, layout, scores and threshold in points."""
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
