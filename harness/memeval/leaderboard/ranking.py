"""The tests of a track: which runs differ from which, and from the best simple baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from memeval.analysis.comparing import COMPOSITE
from memeval.archive.runs import RunFolder
from memeval.leaderboard.detectable_differences import DetectableDifferences, detectable_differences
from memeval.leaderboard.samples import TrackSamples, read_samples
from memeval.statistics.flips import Array, Tested, pair_tests
from memeval.statistics.ranks import ALPHA, RankRange, rank_ranges


@dataclass(frozen=True)
class PairTest:
    """Two runs of a track, compared item by item in one value."""

    difference: float
    """First minus second."""
    p: float
    """Two-sided p-value of no difference."""
    corrected: float
    """The same, corrected for all tests of the track."""

    @property
    def apart(self) -> bool:
        """Whether the runs differ significantly."""
        return self.corrected < ALPHA and self.difference != 0


@dataclass(frozen=True)
class TrackTests:
    """The tests of a track, as one family: the composite and the categories of all pairs of runs."""

    ranks: Mapping[Path, RankRange]
    """Rank range of each ranked run, by folder."""
    runs: Mapping[Path, int]
    """Index of each run: the ranked runs, then the baseline."""
    names: tuple[str, ...]
    """The values: the composite and the categories."""
    values: Array
    """Each value of each run, shape (runs, values)."""
    tested: Tested
    """P-values, shape (values, pairs). The pairs are (0, 1), (0, 2) … (1, 2) …."""
    samples: TrackSamples
    """The item scores of the runs."""

    @cached_property
    def detectable(self) -> DetectableDifferences:
        """How far apart two systems must be for a test to find it."""
        return detectable_differences(self.samples)

    def pair(self, first: Path, second: Path, name: str = COMPOSITE) -> PairTest:
        """Return the test of two runs.

        Args:
            first: folder of a run.
            second: folder of another run.
            name: the composite or a category.

        Raises:
            KeyError: a run is not one of the tested runs.
            ValueError: there is no such value, or both runs are the same.
        """
        one, two = self.runs[first], self.runs[second]
        low, high = sorted((one, two))
        if low == high:
            raise ValueError("a run cannot be compared with itself")
        place = low * len(self.runs) - low * (low + 1) // 2 + high - low - 1
        value = self.names.index(name)
        return PairTest(
            float(self.values[one, value] - self.values[two, value]),
            float(self.tested.p[value, place]),
            float(self.tested.corrected[value, place]),
        )


def track_tests(ranked: Sequence[RunFolder], baseline: RunFolder | None = None) -> TrackTests | None:
    """Return the tests of a track; ``None`` if no run is ranked.

    The method of ``ranks@2``: see :func:`memeval.statistics.flips.family_tests`.

    Args:
        baseline: a control that each of them is compared with; ``None`` if the track has none.

    Raises:
        BadInput: a run has grades of other items than the track.
    """
    if not ranked:
        return None
    folders = [*ranked, *([baseline] if baseline is not None else [])]
    return sample_tests(read_samples(folders), [folder.path for folder in folders], len(ranked))


def sample_tests(samples: TrackSamples, runs: Sequence[Path], ranked: int) -> TrackTests:
    """Return the tests of runs whose grades were read; see :func:`track_tests`.

    Args:
        samples: the scores.
        ranked: how many of the runs, from the first on, are ranked.
    """
    parts = samples.parts()
    values = parts.sum(axis=2)
    first, second = np.triu_indices(len(runs), 1)
    tested = pair_tests(parts, samples.clusters, first, second)
    among = second < ranked
    ranges = rank_ranges(values[:ranked, 0], first[among], second[among], tested.corrected[0, among])
    return TrackTests(
        ranks=dict(zip(runs, ranges, strict=False)),
        runs={run: number for number, run in enumerate(runs)},
        names=(COMPOSITE, *samples.names),
        values=values,
        tested=tested,
        samples=samples,
    )
