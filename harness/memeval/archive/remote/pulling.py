"""Pulls archived runs into a results folder: each appears complete and checked, or not at all."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path

from memeval.archive.remote.fetching import RowsRefused, download_rows
from memeval.archive.remote.index import ArchivedRun, archived_runs
from memeval.archive.remote.layout import HeadKey, release_key
from memeval.archive.remote.transfers import in_threads
from memeval.archive.runs import RunFolder
from memeval.objects import ObjectStore
from memeval.records.base import Digest
from memeval.records.errors import BadInput
from memeval.records.release import Release
from memeval.storage import unwritable, write_whole

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class PullState(StrEnum):
    """What a pull did; its values are part of the JSON output."""

    PULLED = "pulled"
    PRESENT = "already here"
    REFUSED = "refused"


@dataclass(frozen=True)
class Pulled:
    """The outcome of one run."""

    run: str
    """Its folder below the results folder."""
    state: PullState
    received_bytes: int = 0
    error: BadInput | None = None
    """Why it was refused."""


@dataclass(frozen=True)
class Selection:
    """Which archived runs are meant; ``None`` and an empty tuple mean all."""

    runs: tuple[str, ...] = ()
    """Run ids, or run folders below a results folder."""
    benchmark: str | None = None
    """A benchmark, with or without version: the archive does not tell versions apart."""
    system: str | None = None
    since: str | None = None
    """First UTC day of the start of a run, ``2026-11-22``."""
    until: str | None = None
    """Last UTC day of the start of a run."""

    def check(self) -> None:
        """Check the days.

        Raises:
            BadInput: a day is not valid.
        """
        for option, day in (("--since", self.since), ("--until", self.until)):
            if day is not None:
                try:
                    date.fromisoformat(day if _DAY.fullmatch(day) else "")
                except ValueError:
                    raise BadInput(f"invalid {option} '{day}'.", remedy="Write a day as 2026-11-22.") from None

    def takes(self, key: HeadKey) -> bool:
        """Return whether a run is meant."""
        return (
            (not self.runs or any(named.rstrip("/").endswith(key.run_id) for named in self.runs))
            and self.benchmark in (None, key.benchmark)
            and self.system in (None, key.slug)
            and (self.since is None or self.since <= key.day)
            and (self.until is None or key.day <= self.until)
        )


def released_runs(version: str, results: Path, store: ObjectStore) -> Mapping[str, Digest]:
    """Return the runs of a frozen release by id, each with the digest of its ``run.json``.

    Args:
        version: the release, in the results folder or in the archive.

    Raises:
        BadInput: there is no such release, or its file is damaged.
    """
    key = release_key(version)
    path = results / key
    try:
        content, where = path.read_bytes(), str(path)
    except OSError:
        try:
            content, where = store.read(key), f"{store.url}/{key}"
        except KeyError:
            raise BadInput(f"there is no release {version} here or in the archive.", where=path) from None
    return runs_of(Release.parse(content, where))


def runs_of(release: Release) -> dict[str, Digest]:
    """Return all runs of a release by id, also those that schema version 1 names only in its rows."""
    return {row.run_id: row.run_digest for row in release.rows} | release.runs


def pull_runs(wanted: Sequence[HeadKey], store: ObjectStore, results: Path) -> Iterator[Pulled]:
    """Pull runs into a results folder, and yield the outcome of each. A run that is there receives nothing.

    Args:
        wanted: names of archived runs.

    Raises:
        BadStore: the archive does not answer.
        BadInput: the results folder cannot be written.
    """
    counted: dict[str, int] = {}
    for key in wanted:
        counted[key.run] = counted.get(key.run, 0) + 1
    twice = sorted(run for run, count in counted.items() if count > 1)
    for run in twice:
        digests = " and ".join(key.digest for key in wanted if key.run == run)
        problem = f"the archive has two different run.json of this run: {digests}."
        remedy = "Delete the wrong one, then pull again."
        yield Pulled(run, PullState.REFUSED, error=BadInput(problem, where=f"{store.url}/runs/{run}", remedy=remedy))
    missing = []
    for key in wanted:
        if key.run in twice:
            continue
        if (state := _present(key, results)) is not None:
            yield state
        else:
            missing.append(key)
    found = list(archived_runs(store, missing))
    yield from in_threads(lambda pair: _pull(*pair, store, results), zip(missing, found, strict=True))


def _present(key: HeadKey, results: Path) -> Pulled | None:
    """Return the outcome of a run whose place in the results folder is taken."""
    folder = RunFolder(results / key.run)
    if not folder.path.exists():
        return None
    try:
        digest = folder.digest
    except BadInput:
        error = BadInput(
            "an unfinished run is here.", where=folder.path, remedy="Finish or delete it, then pull again."
        )
        return Pulled(key.run, PullState.REFUSED, error=error)
    if digest == key.digest:
        return Pulled(key.run, PullState.PRESENT)
    problem = f"has another run.json than the archive: {digest}, not {key.digest}."
    remedy = "Restore it from version control, or pull into another folder with --results."
    return Pulled(key.run, PullState.REFUSED, error=BadInput(problem, where=folder.path, remedy=remedy))


def _pull(key: HeadKey, found: ArchivedRun | BadInput, store: ObjectStore, results: Path) -> Pulled:
    if isinstance(found, BadInput):
        return Pulled(key.run, PullState.REFUSED, error=found)
    folder = results / key.run
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".part-", dir=folder.parent, ignore_cleanup_errors=True) as temporary:
            part = Path(temporary) / key.run_id
            part.mkdir(mode=0o755)
            size = 0
            for name, stated in found.run.files.items():
                path = part / f"{name}.gz"
                download_rows(stated, store, path)
                size += path.stat().st_size
            write_whole(part / "run.json", found.content)
            if (taken := _present(key, results)) is not None:  # another pull was faster
                return taken
            part.rename(folder)
    except RowsRefused as error:
        return Pulled(key.run, PullState.REFUSED, error=error)
    except OSError as error:
        raise unwritable(folder, error) from None
    return Pulled(key.run, PullState.PULLED, size + len(found.content))
