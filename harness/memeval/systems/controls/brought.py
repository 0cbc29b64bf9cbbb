"""Controls that a benchmark brings for itself: a file ``controls.toml`` in its folder, with adapter files.

Nothing of the benchmark is imported. Its folder follows from its entry point.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from memeval.records.base import Record, Slug
from memeval.systems.controls.table import CONTROLS, Control
from memeval.toml import read_toml

GROUP = "memeval.benchmarks"
"""The group of the entry points of benchmarks."""

FILENAME = "controls.toml"


class BroughtControl(Record):
    """A control for one benchmark; see :class:`Control`. Paths are relative to the benchmark's folder."""

    slug: Slug
    title: str
    calibrates: str
    """What its score says about a track."""
    file: str
    class_name: str
    readers: tuple[str, ...]
    """The readers it runs under; the first is its default."""
    gains_in: str
    """Where it should score, and where it should not."""
    reads: tuple[str, ...] = ()
    """Other files that it reads, all of them in the benchmark's package."""
    is_simple: bool = False
    """Whether it knows nothing of the benchmark's sentences and answers, so that systems are compared with it."""


class BroughtControls(Record):
    schema_version: int = 1
    controls: tuple[BroughtControl, ...]


@cache
def all_controls() -> dict[str, Control]:
    """Return the controls of every benchmark and those of single benchmarks by slug; the first of a name counts.

    Raises:
        BadInput: a table is not valid.
    """
    found = dict(CONTROLS)
    for entry in entry_points(group=GROUP):
        for control in _brought(entry):
            found.setdefault(control.slug, control)
    return found


def controls_of(benchmark_id: str) -> dict[str, Control]:
    """Return the controls for a benchmark by slug: those of every benchmark, and its own."""
    return {slug: each for slug, each in all_controls().items() if each.benchmark in (None, benchmark_id)}


def _brought(entry: EntryPoint) -> Iterator[Control]:
    top, *inside = entry.module.split(".")
    spec = importlib.util.find_spec(top)
    for package in map(Path, (spec.submodule_search_locations or ()) if spec else ()):
        folder = package.joinpath(*inside)
        if not (folder / FILENAME).is_file():
            continue
        for each in read_toml(folder / FILENAME).record(BroughtControls).controls:
            filename, *reads = (
                Path(os.path.normpath(folder / name)).relative_to(package).as_posix()
                for name in (each.file, *each.reads)
            )
            yield Control(
                slug=each.slug,
                title=each.title,
                calibrates=each.calibrates,
                filename=filename,
                class_name=each.class_name,
                readers=each.readers,
                gains_in=each.gains_in,
                folder=package,
                reads=tuple(reads),
                benchmark=entry.name,
                is_simple=each.is_simple,
            )
