"""The rank ranges of the runs of one track, from their grades."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.grading.layout import counting, layout_of
from memeval.grading.scoring import headline
from memeval.records.errors import BadInput
from memeval.records.grade import Grade
from memeval.statistics.composite import Sample
from memeval.statistics.ranks import RankRange, rank_ranges

GRADES = "grades.jsonl"


def ranks(ranked: Sequence[RunFolder]) -> dict[Path, RankRange]:
    """Return the rank ranges of a track's rankable runs, by run folder.

    Raises:
        BadInput: a run has grades of other items than the track.
    """
    if not ranked:
        return {}
    graded = [_by_category(folder) for folder in ranked]
    items = _items(graded[0])
    planned = [category.items for category in ranked[0].run.track.categories]
    for folder, grades in zip(ranked, graded, strict=True):
        if _items(grades) != items or [len(members) for members in grades] != planned:
            raise _wrong_items(folder)
    plan = ranked[0].run.track.categories
    names = [category.name for category in plan]
    layout = layout_of(
        plan,
        {name: [cluster for _item, cluster in members] for name, members in zip(names, items, strict=True)},
    )
    places = [names.index(category.name) for category in counting(plan)]
    samples: list[Sample] = [
        [[headline(grade) or 0.0 for grade in grades[place]] for place in places] for grades in graded
    ]
    return {folder.path: rank for folder, rank in zip(ranked, rank_ranges(layout, samples), strict=True)}


def _by_category(folder: RunFolder) -> list[list[Grade]]:
    """Return a run's grades by category in table order, each sorted by item, so that runs can be paired."""
    found: dict[str, list[Grade]] = {category.name: [] for category in folder.run.track.categories}
    for grade in sorted(folder.grades(), key=lambda grade: grade.item_id):
        if grade.category not in found:
            raise _wrong_items(folder)
        found[grade.category].append(grade)
    return list(found.values())


def _items(grades: Sequence[Sequence[Grade]]) -> list[list[tuple[str, str]]]:
    return [[(grade.item_id, grade.cluster) for grade in members] for members in grades]


def _wrong_items(folder: RunFolder) -> BadInput:
    return BadInput(
        "the graded items differ from those of the track or of its other runs.",
        where=folder.file(GRADES),
        remedy="Run memeval verify on the run, and restore the file or record a new run.",
    )
