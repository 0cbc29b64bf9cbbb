"""Reads the set of runs that ``make results`` makes, and lists its runs."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from memeval.benchmarks import find
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput
from memeval.records.result_set import ResultGroup, ResultSet
from memeval.removed import why_removed
from memeval.systems.controls import controls_of
from memeval.systems.source import MANIFEST, SUBMISSIONS, SystemSource, find_system, folder_source
from memeval.toml import Keys, Toml, read_toml

ALL_CONTROLS, ALL_SUBMISSIONS = "controls", "submissions"
"""Names of groups of systems."""


@dataclass(frozen=True)
class PlannedRun:
    """One run of the set."""

    benchmark: str
    protocol: str
    tier: str
    source: SystemSource
    reader: str | None
    """The reader; ``None`` for the default."""

    @property
    def track(self) -> tuple[str, str, str]:
        """Benchmark, protocol and tier."""
        return self.benchmark, self.protocol, self.tier

    def __str__(self) -> str:
        reader = f", reader {self.reader}" if self.reader else ""
        return f"{self.source.slug} on {self.benchmark}, {self.protocol}, {self.tier}{reader}"


def offline_submissions(submissions: Path = SUBMISSIONS) -> list[SystemSource]:
    """Return the submissions that declare no model and no host: they need no key and no network.

    Raises:
        BadInput: a submission is not valid.
    """
    found = [folder_source(manifest.parent) for manifest in sorted(submissions.glob(f"*/{MANIFEST}"))]
    return [each for each in found if each.submission and not (each.declared_models or each.submission.hosts)]


def planned_runs(path: Path, submissions: Path = SUBMISSIONS) -> list[PlannedRun]:
    """Return the runs of a file, in its order.

    Args:
        path: a TOML file; see :class:`ResultSet`.
        submissions: the folder of the submissions.

    Raises:
        BadInput: the file is not valid; or a benchmark, protocol, tier or system is unknown; or a run occurs twice.
    """
    file = read_toml(path)
    runs: dict[tuple[object, ...], PlannedRun] = {}
    for number, group in enumerate(file.record(ResultSet).groups):
        keys: Keys = ("groups", number)
        info = _checked(file, keys, group)
        sources = _sources(file, keys, info, group, submissions)
        for protocol, tier, source in product(group.protocols, group.tiers, sources):
            for reader in _readers(info, protocol, group, source):
                run = PlannedRun(info.id, protocol, tier, source, reader)
                if runs.setdefault((*run.track, source.slug, reader), run) is not run:
                    raise BadInput(
                        f"the run '{run}' occurs twice.",
                        where=file.place(*keys, "systems"),
                        remedy="Name each system once for each protocol and tier.",
                    )
    return list(runs.values())


def matrix_files(path: Path) -> list[Path]:
    """Return the matrix files that a file names.

    Args:
        path: a TOML file; see :class:`ResultSet`.

    Raises:
        BadInput: the file is not valid, or a matrix file does not exist.
    """
    file = read_toml(path)
    found = [path.parent / name for name in file.record(ResultSet).matrices]
    for matrix in found:
        if not matrix.is_file():
            raise BadInput(
                f"the matrix file {matrix} does not exist.", where=file.place("matrices"), remedy="Check the path."
            )
    return found


def _checked(file: Toml, keys: Keys, group: ResultGroup) -> BenchmarkInfo:
    """Return the benchmark of a group that names only protocols and tiers that it has."""
    try:
        info = find(group.benchmark).info
    except BadInput as error:
        raise BadInput(error.problem, where=file.place(*keys, "benchmark"), remedy=error.remedy) from None
    for key, names, known in (
        ("protocols", group.protocols, [each.name for each in info.protocols]),
        ("tiers", group.tiers, [each.name for each in info.tiers]),
    ):
        for name in names:
            if name not in known:
                raise BadInput(
                    f"{info.id} has no {key[:-1]} '{name}'.",
                    where=file.place(*keys, key),
                    remedy=_choose(name, known),
                )
    return info


def _sources(file: Toml, keys: Keys, info: BenchmarkInfo, group: ResultGroup, submissions: Path) -> list[SystemSource]:
    """Return the systems of a group, without those that it leaves out."""
    found: list[SystemSource] = []
    for name in group.systems:
        if name == ALL_CONTROLS:
            found += [find_system(slug) for slug in controls_of(info.id)]
        elif name == ALL_SUBMISSIONS:
            found += offline_submissions(submissions)
        else:
            try:
                found.append(find_system(name, submissions))
            except BadInput as error:
                raise BadInput(error.problem, where=file.place(*keys, "systems"), remedy=error.remedy) from None
    slugs = [source.slug for source in found]
    for slug in group.without:
        if slug not in slugs:
            raise BadInput(
                f"'without' names '{slug}', which is not among the systems of this group.",
                where=file.place(*keys, "without"),
                remedy=_choose(slug, slugs),
            )
    return [source for source in found if source.slug not in group.without]


def _readers(info: BenchmarkInfo, protocol: str, group: ResultGroup, source: SystemSource) -> Iterator[str | None]:
    """Yield the readers of a system under a protocol."""
    fixed = next(each.reader for each in info.protocols if each.name == protocol)
    if fixed is not None:
        yield None
    elif group.readers:
        for name in group.readers:
            if why := why_removed(name):
                raise BadInput(why, remedy="Name another reader.")
            yield name
    elif source.control is not None:
        yield from source.control.readers
    else:
        yield None


def _choose(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean '{near[0]}'?" if near else f"Choose one of: {', '.join(known)}."
