"""Pushes stored runs into the archive: rows first, each checked against ``run.json``, and ``run.json`` last."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from memeval.archive.remote.index import GZIP
from memeval.archive.remote.layout import ROWS, RUNS, HeadKey, head_key, parse_head_key, release_key, row_key
from memeval.archive.rows import check_rows
from memeval.archive.runs import RunFolder
from memeval.objects import BadStore, Headers, ObjectStore
from memeval.objects.base import in_threads
from memeval.records.errors import BadInput
from memeval.records.release import Release
from memeval.storage import listed

ASKED_SINGLY = 8
"""Up to this many runs are asked for one by one; for more, the whole archive is listed once."""

_JSON = Headers("application/json")


class PushState(StrEnum):
    PUSHED = "pushed"
    PRESENT = "already archived"
    REFUSED = "refused"


@dataclass(frozen=True)
class Pushed:
    folder: RunFolder
    state: PushState
    sent_bytes: int = 0
    error: BadInput | None = None


class _Present:
    def __init__(self, store: ObjectStore, all_listed: bool) -> None:
        self._store = store
        self._keys: set[str] | None = None
        self._heads: dict[str, list[HeadKey]] = {}
        if all_listed:
            self._keys = {each.key for each in store.list(ROWS)}
            for each in store.list(RUNS):
                if (key := parse_head_key(each.key)) is not None:
                    self._heads.setdefault(key.prefix, []).append(key)

    def __contains__(self, key: str) -> bool:
        return self._store.info(key) is not None if self._keys is None else key in self._keys

    @property
    def is_listed(self) -> bool:
        return self._keys is not None

    def heads(self, key: HeadKey) -> list[HeadKey]:
        return _heads(self._store, key) if self._keys is None else self._heads.get(key.prefix, [])


def _heads(store: ObjectStore, key: HeadKey) -> list[HeadKey]:
    return [found for each in store.list(key.prefix) if (found := parse_head_key(each.key)) is not None]


def push_runs(folders: Sequence[RunFolder], store: ObjectStore) -> Iterator[Pushed]:
    """Push runs, and yield the outcome of each in their order. A run that is archived already sends nothing.

    Raises BadStore: the archive does not answer.
    """
    _ = store.refuses_overwriting  # its probe is sent once, before there are threads
    present = _Present(store, len(folders) > ASKED_SINGLY)

    def push_one(folder: RunFolder) -> Pushed:
        try:
            sent = _push(folder, store, present)
        except BadStore:
            raise
        except BadInput as error:
            return Pushed(folder, PushState.REFUSED, error=error)
        return Pushed(folder, PushState.PRESENT if sent is None else PushState.PUSHED, sent or 0)

    yield from in_threads(push_one, folders)


def _push(folder: RunFolder, store: ObjectStore, present: _Present) -> int | None:
    key = head_key(folder.run, folder.digest, folder.path / "run.json")
    if folder.run.product_version is not None:
        problem = "is a run of a released version, which an archive does not hold."
        raise BadInput(problem, where=folder.path, remedy="Keep it in the repository.")
    if folder.name != key.run:
        problem = f"the run belongs in {key.run}, not in {folder.name}."
        raise BadInput(problem, where=folder.path, remedy="Move the folder back.")
    heads = present.heads(key)
    _refuse_other(folder, key, heads)
    files, is_archived = folder.run.files, key in heads
    # Rows of a new run are seldom there: sending them answers the question, unless all is known already.
    asked = [name for name in files if is_archived or present.is_listed or not folder.file(name).exists()]
    there = {name for name in asked if row_key(files[name].digest) in present}
    if is_archived and len(there) == len(files):
        return None
    for name, stated in files.items():
        if name not in there or folder.file(name).exists():
            check_rows(folder.file(name), stated)
    sent = _send_rows(folder, files.keys() - there, store)
    if not is_archived:
        content = folder.head_bytes
        sent["run.json"] = len(content) if store.create(key.key, content, _JSON) else 0
        # Rows that were there may have been pruned before this head protected them.
        lost = [name for name in files if not sent.get(name) and store.info(row_key(files[name].digest)) is None]
        for name in lost:
            check_rows(folder.file(name), files[name])
        sent |= _send_rows(folder, lost, store)
        _refuse_other(folder, key, _heads(store, key))
    return sum(sent.values())


def _send_rows(folder: RunFolder, names: Collection[str], store: ObjectStore) -> dict[str, int]:
    sent = {}
    for name in sorted(names):
        path = folder.file(name)
        is_new = store.create(row_key(folder.run.files[name].digest), path, GZIP)
        sent[name] = path.stat().st_size if is_new else 0
    return sent


def _refuse_other(folder: RunFolder, key: HeadKey, heads: Collection[HeadKey]) -> None:
    if others := [other for other in heads if other.digest != key.digest]:
        raise BadInput(
            f"the archive has another run.json of this run: {others[0].digest}, not {key.digest}.",
            where=folder.path,
            remedy="Restore run.json from version control, or pull the archived run into another folder.",
        )


def push_releases(results: Path, store: ObjectStore) -> Iterator[tuple[str, BadInput | None]]:
    """Copy the frozen releases, so that pruning the archive keeps what they rest on.

    Yields: The version of each release that was copied; or that was refused, with the reason. Raises BadStore: the
    archive does not answer.
    """
    for path in listed(results / "releases", "*.json"):
        try:
            content = path.read_bytes()
            version = Release.parse(content, path).version
            key = release_key(version)
            if store.create(key, content, _JSON):
                yield version, None
            elif store.read(key) != content:
                raise BadInput(
                    f"the archive has another release {version}.",
                    where=path,
                    remedy="Restore the file from version control.",
                )
        except BadStore:
            raise
        except BadInput as error:
            yield path.stem, error
        except OSError as error:
            yield path.stem, BadInput(f"cannot be read ({error.strerror}).", where=path)
