"""Finds and deletes what an archive, or the folder of an archived run, needs no longer.

What a release rests on always stays in the archive.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memeval.archive.ledger import Ledger
from memeval.archive.remote.index import ArchivedRun, archived_runs, listed_heads
from memeval.archive.remote.layout import RELEASES, ROWS, HeadKey, parse_release_key, parse_row_key, row_key
from memeval.archive.remote.pulling import fetch_rows, runs_of
from memeval.archive.runs import RunFolder
from memeval.objects import ObjectInfo, ObjectStore
from memeval.records.errors import BadInput, CheckFailed, MemevalError
from memeval.records.ledger import LedgerEvent
from memeval.records.release import Release
from memeval.storage import listed, readable, writable

_ENDS = (LedgerEvent.SUPERSEDED, LedgerEvent.INVALIDATED)


@dataclass
class PrunePlan:
    runs: list[tuple[HeadKey, str]] = field(default_factory=list)
    rows: list[ObjectInfo] = field(default_factory=list)
    kept: list[tuple[HeadKey, str]] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(each.size for each in self.rows)


def plan_pruning(store: ObjectStore, results: Path, days: int, now: datetime | None = None) -> PrunePlan:
    """Return what can be deleted: runs that the ledger ended, and rows without a run.

    A run stays if a release names it, here or in the archive, or if the results folder has its ``run.json`` without its
    rows.

    ``days``: the age from which something is deleted: of the ledger's entry, or of a row file. ``now``: the current
    time; ``None`` for the clock. Raises BadStore: the archive does not answer. BadInput: the ledger or a release cannot
    be read. CheckFailed: a ``run.json`` in the archive is damaged or none is listed, so what needs the rows is unknown.
    """
    before = (now or datetime.now(UTC)) - timedelta(days=days)
    rows = [each for each in store.list(ROWS) if parse_row_key(each.key) is not None]
    heads = listed_heads(store)
    if rows and not heads:
        raise CheckFailed(
            "lists rows but no run.", where=store.url, remedy="Run memeval archive verify, and delete the rows by hand."
        )
    ended = _ended(results, before)
    released = _released(store, results)
    plan, kept, gone = PrunePlan(), set(), set()
    for found in archived_runs(store, heads):
        if isinstance(found, BadInput):
            raise CheckFailed(found.problem, where=found.where, remedy=found.remedy)
        digests = {row_key(each.digest) for each in found.run.files.values()}
        reason = ended.get((found.key.run_id, found.key.digest))
        stays = _why_kept(found, released, results)
        if reason is None or stays is not None:
            kept |= digests
            if reason is not None and stays is not None:
                plan.kept.append((found.key, stays))
        else:
            plan.runs.append((found.key, reason))
            gone |= digests
    old = {each.key for each in rows if each.modified is not None and each.modified < before}
    plan.rows = [each for each in rows if each.key not in kept and each.key in gone | old]
    return plan


def _ended(results: Path, before: datetime) -> Mapping[tuple[str, str], str]:
    return {
        (entry.run_id, entry.run_digest): entry.event.value
        for entry in Ledger(results).entries()
        if entry.event in _ENDS and entry.run_id is not None and entry.run_digest is not None
        if datetime.fromisoformat(entry.at) < before
    }


def _why_kept(found: ArchivedRun, released: Mapping[str, str], results: Path) -> str | None:
    if (version := released.get(found.key.run_id)) is not None:
        return f"release {version} rests on it"
    folder = RunFolder(results / found.key.run)
    try:
        if (folder.path / "run.json").exists() and not all(
            (folder.path / f"{name}.gz").exists() for name in folder.run.files
        ):
            return f"{results} has no rows of it"
    except MemevalError:
        return f"{folder.path} cannot be read"
    return None


def _released(store: ObjectStore, results: Path) -> dict[str, str]:
    releases = []
    for path in listed(results / "releases", "*.json"):
        with readable(path):
            releases.append(Release.parse(path.read_bytes(), path))
    for each in store.list(RELEASES):
        if parse_release_key(each.key) is not None:
            releases.append(Release.parse(store.read(each.key), f"{store.url}/{each.key}"))
    return {run: release.version for release in releases for run in runs_of(release)}


def prune(store: ObjectStore, plan: PrunePlan) -> None:
    """Delete what a plan names: first the heads, so that no run is left without rows.

    Rows that a run names meanwhile stay.

    Raises BadStore: the archive does not answer. The same command goes on.
    """
    for key, _reason in plan.runs:
        store.delete(key.key)
    named: set[str] = set()
    for found in archived_runs(store, listed_heads(store)):
        if isinstance(found, ArchivedRun):
            named |= {row_key(each.digest) for each in found.run.files.values()}
    for row in plan.rows:
        if row.key not in named:
            store.delete(row.key)


def local_bytes(folder: RunFolder) -> int:
    paths = (folder.path / f"{name}.gz" for name in folder.run.files)
    return sum(path.stat().st_size for path in paths if path.is_file())


def thin(folder: RunFolder, store: ObjectStore) -> int:
    """Remove the row files from a run's folder, and return their size in bytes.

    Before, all rows are downloaded from the archive into the cache, and checked.

    Raises BadStore: the archive does not answer. BadInput: the archive lacks rows, or has damaged ones; the folder
    stays as it is.
    """
    size = local_bytes(folder)
    for fetched in fetch_rows(list(folder.run.files.values()), store):
        if fetched.error is not None:
            raise fetched.error
    for name in folder.run.files:
        path = folder.path / f"{name}.gz"
        with writable(path):
            path.unlink(missing_ok=True)
    return size
