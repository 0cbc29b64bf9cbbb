"""Histories of released versions for tests, written through the real records. Nothing in them was ever measured."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memeval.archive.histories import version_folder, write_history
from memeval.archive.runs import RunFolder
from memeval.records.base import digest_of
from memeval.records.beside import BesideTimes, PairedSeconds
from memeval.records.grade import Grade
from memeval.records.history import (
    MeasuredVersion,
    PackageIndex,
    ProductVersion,
    VersionHistory,
    VersionOutcome,
    VersionRun,
)
from memeval.records.submission import Product
from tests.support.runs import edit_head, make_run

CLUSTERS = 12


class Made(NamedTuple):
    """A version to make."""

    version: str
    released: str | None
    right: int | None
    """Right items of each category; ``None`` for a version that does not load."""


VERSIONS = (
    Made("0.9.0", "2024-03-01", None),
    Made("0.10.0", "2024-07-01", 20),
    Made("1.0.0", "2025-03-01", 45),
    Made("1.1.0", "2025-08-15", 45),
)
REASON = "The adapter calls a method that this version lacks."


def clustered(grade: Grade) -> Grade:
    """Return a grade in one of twelve clusters."""
    return grade.model_copy(update={"cluster": f"person-{int(grade.item_id[-3:]) % CLUSTERS:02}"})


def product_of(slug: str, version: str | None) -> Product:
    return Product(name=slug.capitalize(), package=f"{slug}-core", version=version)


def make_history(
    results: Path, slug: str, versions: Sequence[Made] = VERSIONS, *, ratio: float | None = 2.0, **parts: Any
) -> list[RunFolder]:
    """Write a history of versions, and return its runs, oldest first.

    ``ratio``: its times as a multiple of those of the control; ``None`` for no times. ``parts``: arguments of
    :func:`make_run`.
    """
    folders, measured = [], []
    for number, (version, released, right) in enumerate(versions):
        runs: tuple[VersionRun, ...] = ()
        if right is not None:
            folder = make_run(
                version_folder(results, slug, version),
                slug,
                {"kept": right, "changed": right},
                started=f"2026-11-{number + 2:02}T10:00:00.000+00:00",
                regraded=clustered,
                product=product_of(slug, version),
                **parts,
            )
            stated = ProductVersion(
                package=f"{slug}-core",
                version=version,
                index=PackageIndex.PYPI,
                released=released,
                form="adapter.py",
                lock=digest_of([slug, version]),
            )
            times = None if ratio is None else _times(ratio * (1 + number))
            edit_head(folder, product_version=stated.data(), **({"beside": times.data()} if times else {}))
            folder = RunFolder(folder.path)
            folders.append(folder)
            track = folder.run.track
            runs = (
                VersionRun(
                    benchmark=track.benchmark, protocol=track.protocol, tier=track.tier, run_id=folder.run.run_id
                ),
            )
        measured.append(
            MeasuredVersion(
                version=version,
                released=released,
                outcome=VersionOutcome.RAN if runs else VersionOutcome.NOT_LOADED,
                reason=None if runs else REASON,
                lock=digest_of([slug, version]),
                runs=runs,
            )
        )
    write_history(
        results,
        VersionHistory(
            slug=slug,
            product=slug.capitalize(),
            package=f"{slug}-core",
            index=PackageIndex.PYPI,
            dated=all(each.released for each in versions),
            known_versions=len(versions),
            versions=tuple(measured),
        ),
    )
    return folders


def _times(ratio: float) -> BesideTimes:
    pairs = tuple(PairedSeconds(system=ratio * (1 + 0.01 * repeat), control=1.0) for repeat in range(5))
    return BesideTimes(control="bm25", sessions=2, questions=20, ingest=pairs, search=pairs)
