"""The minimum detectable differences of a table: in the composite and in each category."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from memeval.analysis.comparing import COMPOSITE
from memeval.archive.run_cache import kept_by_name
from memeval.leaderboard.samples import TrackSamples
from memeval.statistics.detectable import ASSUMED, Clustering, Disagreement, detectable, disagreement


@dataclass(frozen=True)
class DetectableDifferences:
    """How far apart two systems of a table must be for the paired test to find it."""

    values: Mapping[str, float | None]
    """Minimum detectable difference of the composite and of each category, by name; ``None`` if no difference can be
    shown."""
    clusters: int
    """Number of clusters of all items."""
    disagreement: Disagreement | None
    """How two systems differ in the composite; ``None`` with fewer than two runs: it is then assumed."""

    @property
    def is_assumed(self) -> bool:
        """Whether the disagreement is assumed."""
        return self.disagreement is None

    @property
    def composite(self) -> float | None:
        """That of the composite."""
        return self.values[COMPOSITE]


def kept_detectable(clustering: Clustering, differs: Disagreement) -> float | None:
    """Return :func:`memeval.statistics.detectable.detectable` of the arguments, kept from build to build.

    With few clusters, the value is simulated, which takes up to a second.
    """
    inputs = repr((clustering, differs))
    found: float | None = json.loads(
        kept_by_name(inputs, "detectable", "", lambda: json.dumps(detectable(clustering, differs)).encode())
    )
    return found


def detectable_differences(samples: TrackSamples) -> DetectableDifferences:
    """Return the minimum detectable differences of two systems; see :func:`memeval.statistics.detectable.detectable`.

    Args:
        samples: the runs of a table. How far two systems disagree, and how much that varies between clusters, is the
            mean over all pairs of them.
    """
    found: dict[str, float | None] = {}
    differs: dict[str, Disagreement | None] = {}
    for name, weights in zip((COMPOSITE, *samples.names), samples.weights, strict=True):
        differs[name] = disagreement(samples.scores, weights, samples.cluster, samples.category)
        counted = weights.any()
        clustering = Clustering.of(weights, samples.cluster) if counted else None
        found[name] = None if clustering is None else kept_detectable(clustering, differs[name] or ASSUMED)
    return DetectableDifferences(found, len(samples.clusters), differs[COMPOSITE])
