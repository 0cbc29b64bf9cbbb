"""Pulls archived runs into a results folder, and rows into the cache: each complete and checked, or not at all."""

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path

from memeval.archive.remote.index import ArchivedRun, archived_runs
from memeval.archive.remote.layout import HeadKey, release_key, row_key
from memeval.archive.rows import cache_path, check_rows
from memeval.archive.runs import ROW_FILES, RunFolder
from memeval.objects import ObjectStore
from memeval.objects.base import in_threads
from memeval.records.base import Digest
from memeval.records.errors import BadInput, MemevalError
from memeval.records.release import Release
from memeval.records.run import FileDigest
from memeval.storage import unwritable, writable, write_whole

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class PullState(StrEnum):
    PULLED = "pulled"
    PRESENT = "already here"
    REFUSED = "refused"


@dataclass(frozen=True)
class Pulled:
    run: str
    state: PullState
    received_bytes: int = 0
    error: BadInput | None = None


@dataclass(frozen=True)
class Selection:
    runs: tuple[str, ...] = ()
    benchmark: str | None = None
    """A benchmark, with or without version: the archive does not tell versions apart."""
    system: str | None = None
    since: str | None = None
    """First UTC day of the start of a run, ``2026-11-22``."""
    until: str | None = None
    """Last UTC day of the start of a run."""

    def check(self) -> None:
        for option, day in (("--since", self.since), ("--until", self.until)):
            if day is not None:
                try:
                    date.fromisoformat(day if _DAY.fullmatch(day) else "")
                except ValueError:
                    raise BadInput(f"invalid {option} '{day}'.", remedy="Write a day as 2026-11-22.") from None

    def takes(self, key: HeadKey) -> bool:
        return (
            (not self.runs or any(named.rstrip("/").endswith(key.run_id) for named in self.runs))
            and self.benchmark in (None, key.benchmark)
            and self.system in (None, key.slug)
            and (self.since is None or self.since <= key.day)
            and (self.until is None or key.day <= self.until)
        )


def released_runs(version: str, results: Path, store: ObjectStore) -> Mapping[str, Digest]:
    """Return the runs of a frozen release by id, each with the digest of its ``run.json``.

    ``version``: the release, in the results folder or in the archive. Raises BadInput: there is no such release, or its
    file is damaged.
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
    return {row.run_id: row.run_digest for row in release.rows} | release.runs


def pull_runs(wanted: Sequence[HeadKey], store: ObjectStore, results: Path) -> Iterator[Pulled]:
    """Pull runs into a results folder, and yield the outcome of each. A run that is there receives nothing.

    ``wanted``: names of archived runs. Raises BadStore: the archive does not answer. BadInput: the results folder
    cannot be written.
    """
    twice = sorted(run for run, count in Counter(key.run for key in wanted).items() if count > 1)
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


@dataclass(frozen=True)
class Fetched:
    digest: FileDigest
    size: int = 0
    error: BadInput | None = None


def missing_rows(folders: Iterable[RunFolder]) -> list[FileDigest]:
    """Return the rows that are neither in the folders of their runs nor in the cache, each once."""
    found: list[FileDigest] = []
    for folder in folders:
        with suppress(MemevalError):  # verify names it
            files = folder.run.files.items()
            found += (stated for name, stated in files if name in ROW_FILES and not folder.file(name).exists())
    return list(dict.fromkeys(found))


def fetch_rows(digests: Iterable[FileDigest], store: ObjectStore) -> Iterator[Fetched]:
    """Download rows into the cache, and yield the outcome of each in their order.

    ``digests``: the rows, from ``run.json``. Raises BadStore: the archive does not answer. BadInput: the cache cannot
    be written.
    """
    yield from in_threads(lambda stated: _fetch(stated, store), digests)


def _fetch(stated: FileDigest, store: ObjectStore) -> Fetched:
    path = cache_path(stated.digest)
    with writable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-", suffix=path.suffix)
        os.close(handle)
        part = Path(name)
        try:
            download_rows(stated, store, part)
            size = part.stat().st_size
            part.replace(path)
        except RowsRefused as error:
            return Fetched(stated, error=error)
        finally:
            part.unlink(missing_ok=True)
    return Fetched(stated, size)


class RowsRefused(BadInput):
    """Rows in the archive that are missing or damaged."""


def download_rows(stated: FileDigest, store: ObjectStore, path: Path) -> None:
    """Download rows into a file, and check them.

    Raises BadStore: the archive does not answer. RowsRefused: the archive lacks the rows, or has others under their
    name. BadInput: the file cannot be written.
    """
    key = row_key(stated.digest)
    where = f"{store.url}/{key}"
    try:
        store.download(key, path)
    except KeyError:
        raise RowsRefused(
            "the rows are missing in the archive.", where=where, remedy="Push the run again from a machine that has it."
        ) from None
    try:
        check_rows(path, stated, where)
    except BadInput as error:
        raise RowsRefused(
            f"the rows are damaged: {error.problem}",
            where=where,
            remedy="Delete the object, then push the run again from a machine that has it.",
        ) from None
