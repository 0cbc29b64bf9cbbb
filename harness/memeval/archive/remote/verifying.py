"""Verifies an archive: every object against its name, every run against its rows."""

import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from memeval.archive.remote.index import ArchivedRun, archived_runs
from memeval.archive.remote.layout import (
    INDEX,
    RELEASES,
    ROWS,
    RUNS,
    HeadKey,
    parse_head_key,
    parse_release_key,
    parse_row_key,
    row_key,
)
from memeval.archive.remote.pulling import RowsRefused, download_rows
from memeval.objects import ObjectInfo, ObjectStore
from memeval.objects.base import in_threads
from memeval.records.errors import BadInput, MemevalError
from memeval.records.release import Release
from memeval.records.run import FileDigest


@dataclass
class ArchiveReport:
    runs: list[ArchivedRun] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    problems: list[BadInput] = field(default_factory=list)
    orphans: list[ObjectInfo] = field(default_factory=list)
    """Row files that no run names: a push is going on, was cut off, or its run was deleted."""
    foreign: list[str] = field(default_factory=list)


def verify_archive(store: ObjectStore) -> ArchiveReport:
    report = ArchiveReport()
    heads: list[HeadKey] = []
    infos: dict[str, ObjectInfo] = {}
    for each in store.list():
        if (head := parse_head_key(each.key)) is not None:
            heads.append(head)
        elif parse_row_key(each.key) is not None:
            infos[each.key] = each
        elif parse_release_key(each.key) is not None:
            report.problems += _release(store, each.key)
        elif each.key != INDEX:
            report.foreign.append(each.key)
    report.rows = {key: info.size for key, info in infos.items()}
    report.problems += _twice(store, heads)
    stated: dict[str, FileDigest] = {}
    for found in archived_runs(store, heads, by_index=False):
        if isinstance(found, BadInput):
            report.problems.append(found)
            continue
        report.runs.append(found)
        stated |= {row_key(each.digest): each for each in found.run.files.values()}
        report.problems += _without(found, infos)
    report.orphans = [info for key, info in infos.items() if key not in stated]
    report.problems += _damaged(store, {key: each for key, each in stated.items() if key in infos})
    return report


def _twice(store: ObjectStore, heads: Collection[HeadKey]) -> list[BadInput]:
    by_run: dict[str, list[HeadKey]] = {}
    for head in heads:
        by_run.setdefault(head.run, []).append(head)
    return [
        BadInput(
            f"two different run.json of this run: {' and '.join(each.digest for each in same)}.",
            where=f"{store.url}/{RUNS}{run}",
            remedy="Delete the wrong one.",
        )
        for run, same in by_run.items()
        if len(same) > 1
    ]


def _without(found: ArchivedRun, infos: Mapping[str, ObjectInfo]) -> list[BadInput]:
    lacking = [name for name, each in found.run.files.items() if row_key(each.digest) not in infos]
    problem = f"the archive lacks rows of this run: {', '.join(lacking)}."
    remedy = "Push the run again from a machine that has it."
    return [BadInput(problem, where=found.where, remedy=remedy)] if lacking else []


def _damaged(store: ObjectStore, stated: Mapping[str, FileDigest]) -> list[BadInput]:
    with tempfile.TemporaryDirectory(prefix="memeval-archive-") as temporary:

        def check(key: str) -> BadInput | None:
            path = Path(temporary, key.removeprefix(ROWS).replace("/", "-"))
            try:
                download_rows(stated[key], store, path)
            except RowsRefused as error:
                return error
            finally:
                path.unlink(missing_ok=True)
            return None

        return [error for error in in_threads(check, stated) if error is not None]


def _release(store: ObjectStore, key: str) -> list[BadInput]:
    where = f"{store.url}/{key}"
    try:
        version = Release.parse(store.read(key), where).version
    except KeyError:
        return []  # deleted meanwhile
    except MemevalError as error:
        return [BadInput(error.problem, where=where, remedy=error.remedy)]
    if f"{RELEASES}{version}.json" == key:
        return []
    return [BadInput(f"holds release {version}.", where=where, remedy="Delete the object, then push again.")]
