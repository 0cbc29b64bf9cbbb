"""Made-up boards: systems of known skill, on the items and conversations of a real benchmark."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from memeval.leaderboard.samples import TrackSamples
from memeval.records.track import CategoryPlan
from memeval.statistics.flips import Array

LAYOUTS = Path(__file__).with_name("layouts.json")
"""The layouts: the weight of each category, ``null`` for one weight per item; and how many clusters have which number
of items in each category."""

ITEM, CLUSTER, SYSTEM_BY_CLUSTER = 1.0, 0.3, 0.4
"""Standard deviations on the logit scale: how hard an item is, how hard a cluster is for all systems, and how much
better or worse one system is on one cluster."""


def layouts() -> dict[str, TrackSamples]:
    """Return the layouts of real benchmarks, by benchmark, without scores."""
    return {name: _layout(data) for name, data in json.loads(LAYOUTS.read_text(encoding="utf-8")).items()}


def _layout(data: dict[str, object]) -> TrackSamples:
    categories, clusters = data["categories"], data["clusters"]
    assert isinstance(categories, dict) and isinstance(clusters, list)
    counts = np.array([row for times, row in clusters for _ in range(times)])
    items = counts.sum(axis=0).tolist()
    plan = tuple(
        CategoryPlan(
            name=name,
            weight=number / sum(items) if weight is None else weight,
            items=number,
            grader="simulated@1",
            shared=weight is None,
        )
        for (name, weight), number in zip(categories.items(), items, strict=True)
    )
    places = [(category, cluster) for category in range(len(plan)) for cluster in range(len(counts))]
    category, cluster = np.repeat(np.array(places), counts.T.ravel(), axis=0).T
    return TrackSamples(
        plan=plan,
        items=tuple(str(number) for number in range(len(category))),
        category=category,
        clusters=tuple(f"cluster {number:03}" for number in range(len(counts))),
        cluster=cluster,
        scores=np.zeros((0, len(category))),
    )


@dataclass(frozen=True)
class World:
    """Where scores come from: ``P(right) = logistic(skill + item + cluster + system by cluster)``."""

    layout: TrackSamples

    def scores(self, skills: Array, random: np.random.Generator) -> Array:
        """Return one score per system and item, 0 or 1.

        Args:
            skills: expected score of each system, between 0 and 1, shape (systems,).
            random: the source of chance.
        """
        clusters = len(self.layout.clusters)
        logits = np.array([_logit_of(round(float(skill), 6)) for skill in skills])[:, None]
        by_cluster = logits + random.normal(0, CLUSTER, clusters)
        by_cluster = by_cluster + random.normal(0, SYSTEM_BY_CLUSTER, (len(skills), clusters))
        chance = by_cluster[:, self.layout.cluster] + random.normal(0, ITEM, len(self.layout.items))
        right: Array = (random.random(chance.shape) * (1 + np.exp(-chance)) < 1).astype(np.float64)
        return right


@lru_cache(maxsize=4096)
def _logit_of(score: float) -> float:
    """Return the skill on the logit scale that gives an expected score, by bisection."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(64)
    spread = np.sqrt(ITEM**2 + CLUSTER**2 + SYSTEM_BY_CLUSTER**2) * nodes
    weights = weights / weights.sum()
    low, high = -12.0, 12.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if weights @ (1 / (1 + np.exp(-middle - spread))) < score else (low, middle)
    return (low + high) / 2
