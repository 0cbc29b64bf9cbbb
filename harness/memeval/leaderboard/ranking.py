"""The tests of a track: which runs differ from which, and from the best simple baseline."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from memeval.analysis.comparing import COMPOSITE
from memeval.archive.run_cache import kept_by_name
from memeval.archive.runs import RunFolder
from memeval.leaderboard.samples import TrackSamples, read_samples
from memeval.records.overall import TiedPair
from memeval.statistics.detectable import ASSUMED, Clustering, Disagreement, detectable, disagreement
from memeval.statistics.flips import Array, Places, PValues, pair_tests
from memeval.statistics.ranks import ALPHA, RankRange, rank_ranges


@dataclass(frozen=True)
class DetectableDifferences:
    values: Mapping[str, float | None]
    """Minimum detectable difference of the composite and of each category, by name; ``None`` if no difference can be
    shown."""
    clusters: int
    disagreement: Disagreement | None
    """How two systems differ in the composite; ``None`` with fewer than two runs: it is then assumed."""

    @property
    def is_assumed(self) -> bool:
        return self.disagreement is None

    @property
    def composite(self) -> float | None:
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

    ``samples``: the runs of a table. How far two systems disagree, and how much that varies between clusters, is the
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


@dataclass(frozen=True)
class PairTest:
    difference: float
    p: float
    """Two-sided p-value of no difference."""
    corrected: float
    """The same, corrected for all tests of the track."""

    @property
    def apart(self) -> bool:
        return self.corrected < ALPHA and self.difference != 0

    @property
    def word(self) -> str:
        """Whether the first run is ``better``, ``worse`` or ``not better`` than the second."""
        return baseline_word(self.difference, self.apart)


@dataclass(frozen=True)
class TrackTests:
    """The tests of a track, as one family: the composite and the categories of all pairs of runs."""

    ranks: Mapping[Path, RankRange]
    runs: Mapping[Path, int]
    names: tuple[str, ...]
    values: Array
    """Each value of each run, shape (runs, values)."""
    tested: PValues
    """P-values, shape (values, pairs). The pairs are (0, 1), (0, 2) … (1, 2) …."""
    samples: TrackSamples

    @cached_property
    def detectable(self) -> DetectableDifferences:
        return detectable_differences(self.samples)

    def pair(self, first: Path, second: Path, name: str = COMPOSITE) -> PairTest:
        """Return the test of two runs. Raises KeyError: a run is not tested. Raises ValueError: both are the same."""
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

    The method of ``ranks@2``: see :func:`memeval.statistics.flips.family_tests`. Raises BadInput: a run has grades of
    other items than the track.
    """
    if not ranked:
        return None
    folders = [*ranked, *([baseline] if baseline is not None else [])]
    return sample_tests(read_samples(folders), [folder.path for folder in folders], len(ranked))


def sample_tests(samples: TrackSamples, runs: Sequence[Path], ranked: int) -> TrackTests:
    """Return the tests of runs whose grades were read; see :func:`track_tests`.

    ``ranked``: how many of the runs, from the first on, are ranked.
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


def baseline_word(difference: float, apart: bool) -> str:
    """Return whether a system is ``better``, ``worse`` or ``not better`` than the baseline.

    ``apart``: whether the difference, its value minus that of the baseline, is significant.
    """
    if not apart or difference == 0:
        return "not better"
    return "better" if difference > 0 else "worse"


def tied_apart(
    systems: Sequence[str],
    intervals: Sequence[tuple[float | None, float | None]],
    first: Places,
    second: Places,
    tested: PValues,
) -> tuple[TiedPair, ...]:
    """Return the pairs of systems that no test separates although their intervals do not overlap.

    The pairs have the indexes ``first`` and ``second``; those with runs behind the systems are left out.
    """
    found = []
    for one, two, p, corrected in zip(first, second, tested.p, tested.corrected, strict=True):
        if corrected < ALPHA or max(one, two) >= len(systems):
            continue
        (low, high), (other_low, other_high) = intervals[one], intervals[two]
        if low is None or high is None or other_low is None or other_high is None:
            continue
        if low > other_high or other_low > high:
            higher, lower = (one, two) if low > other_high else (two, one)
            reason = (
                f"Their difference alone has p = {p:.2g}. Corrected for all tests of the table, it has "
                f"p = {corrected:.2g}, and only p below {ALPHA:g} separates two systems."
            )
            found.append(
                TiedPair(
                    higher=systems[higher], lower=systems[lower], p=float(p), corrected=float(corrected), reason=reason
                )
            )
    return tuple(found)
