"""The grades of a track's runs as arrays: what ranks, item statistics and the overall index are computed from."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from sys import intern

import numpy as np

from memeval.archive.run_cache import KeptRun, kept
from memeval.archive.runs import RunFolder
from memeval.grading.scoring import counting, headline, layout_of
from memeval.records.errors import BadInput
from memeval.records.track import CategoryPlan
from memeval.statistics.composite import Layout, Sample
from memeval.statistics.flips import Array, Places

GRADES = "grades.jsonl"


@dataclass(frozen=True)
class TrackSamples:
    plan: tuple[CategoryPlan, ...]
    items: tuple[str, ...]
    """The items: by category in plan order, then by id."""
    category: Places
    """Index of each item's category in the plan, shape (items,)."""
    clusters: tuple[str, ...]
    cluster: Places
    """Index of each item's cluster, shape (items,)."""
    scores: Array
    """Score of each item in [0, 1], shape (runs, items). An error scores 0."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.plan[place].name for place in np.unique(self.category))

    @property
    def layout(self) -> Layout:
        names = np.array(self.clusters, dtype=object)[self.cluster]
        return layout_of(self.plan, {each.name: list(names[self._of(each)]) for each in self.plan})

    def sample(self, run: int) -> Sample:
        return [self.scores[run, self._of(each)].tolist() for each in counting(self.plan)]

    @property
    def weights(self) -> Array:
        """The weight of each item in each value, shape (values, items): the composite, then :attr:`names`."""
        present = np.unique(self.category)
        shares = (self.category == present[:, None]) / np.bincount(self.category)[present][:, None]
        weights = dict(zip((each.name for each in counting(self.plan)), self.layout.weights, strict=True))
        return np.vstack([np.array([weights.get(name, 0.0) for name in self.names]) @ shares, shares])

    def parts(self) -> Array:
        """Return the part of each cluster in each value of each run, shape (runs, values, clusters).

        The values are the composite and the categories :attr:`names`. A value is the sum of its parts.
        """
        order = np.argsort(self.cluster, kind="stable")
        starts = np.searchsorted(self.cluster[order], np.arange(len(self.clusters)))
        return np.stack(
            [np.add.reduceat(self.scores[:, order] * weights[order], starts, axis=1) for weights in self.weights],
            axis=1,
        )

    def _of(self, category: CategoryPlan) -> Places:
        return np.flatnonzero(self.category == self.plan.index(category))


Graded = tuple[str, str, str, float | None]
"""A graded item: category, item, cluster, and score in [0, 1]; ``None`` for an error."""


def graded_items(folder: RunFolder) -> Sequence[Graded]:
    """Return the graded items of a run in plan order, those of a :class:`KeptRun` from build to build.

    Raises BadInput: the grades cannot be read.
    """

    def made() -> list[Graded]:
        return [(grade.category, grade.item_id, grade.cluster, headline(grade)) for grade in folder.grades()]

    if not isinstance(folder, KeptRun):
        return made()
    known = vars(folder)  # a board asks several times
    if "graded_items" not in known:
        rows = json.loads(kept(folder, "scores", "", lambda: json.dumps(made(), separators=(",", ":")).encode()))
        known["graded_items"] = [
            (category, intern(item), intern(cluster), score) for category, item, cluster, score in rows
        ]
    found: Sequence[Graded] = known["graded_items"]
    return found


def read_samples(folders: Sequence[RunFolder]) -> TrackSamples:
    """Return the scores of runs of one track.

    Raises BadInput: a run has grades of other items than the track or the first run.
    """
    plan = folders[0].run.track.categories
    place = {category.name: number for number, category in enumerate(plan)}
    items: list[tuple[int, str, str]] | None = None
    scores = []
    for folder in folders:
        grades = [
            (place.get(category, -1), item, cluster, score or 0.0)
            for category, item, cluster, score in graded_items(folder)
        ]
        grades.sort()
        found = [grade[:3] for grade in grades]
        if items is None:
            items = found
            counts = np.bincount([max(0, category) for category, _item, _cluster in items], minlength=len(plan))
            if any(category < 0 for category, _item, _cluster in items) or counts.tolist() != [c.items for c in plan]:
                raise _wrong_items(folder)
        if found != items:
            raise _wrong_items(folder)
        scores.append([score for *_place, score in grades])
    known = items or []
    clusters = sorted({cluster for _category, _item, cluster in known})
    number = {cluster: index for index, cluster in enumerate(clusters)}
    return TrackSamples(
        plan=tuple(plan),
        items=tuple(item for _category, item, _cluster in known),
        category=np.array([category for category, _item, _cluster in known], dtype=np.intp),
        clusters=tuple(clusters),
        cluster=np.array([number[cluster] for _category, _item, cluster in known], dtype=np.intp),
        scores=np.array(scores, dtype=np.float64).reshape(len(folders), len(known)),
    )


def _wrong_items(folder: RunFolder) -> BadInput:
    return BadInput(
        "the graded items differ from those of the track or of its other runs.",
        where=folder.file(GRADES),
        remedy="Run memeval verify on the run, and restore the file or record a new run.",
    )
