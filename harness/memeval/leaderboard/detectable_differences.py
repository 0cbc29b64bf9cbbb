"""The minimum detectable differences of a table: in the composite and in each category."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memeval.analysis.comparing import COMPOSITE
from memeval.leaderboard.samples import TrackSamples
from memeval.statistics.detectable import ASSUMED, Clustering, detectable, disagreement


@dataclass(frozen=True)
class DetectableDifferences:
    """How far apart two systems of a table must be for the paired test to find it."""

    values: Mapping[str, float | None]
    """Minimum detectable difference of the composite and of each category, by name; ``None`` if no difference can be
    shown."""
    clusters: int
    """Number of clusters of all items."""
    is_assumed: bool
    """Whether there are fewer than two runs, so that their disagreement is assumed."""

    @property
    def composite(self) -> float | None:
        """That of the composite."""
        return self.values[COMPOSITE]


def detectable_differences(samples: TrackSamples) -> DetectableDifferences:
    """Return the minimum detectable differences of two systems; see :func:`memeval.statistics.detectable.detectable`.

    Args:
        samples: the runs of a table. How far two systems disagree, and how much that varies between clusters, is the
            mean over all pairs of them.
    """
    found: dict[str, float | None] = {}
    for name, weights in zip((COMPOSITE, *samples.names), samples.weights, strict=True):
        differs = disagreement(samples.scores, weights, samples.cluster, samples.category)
        counted = weights.any()
        found[name] = detectable(Clustering.of(weights, samples.cluster), differs or ASSUMED) if counted else None
    return DetectableDifferences(found, len(samples.clusters), len(samples.scores) < 2)
