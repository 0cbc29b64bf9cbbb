"""Makes a version of a published folder beside the others, then switches to it."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memeval.archive.ledger import Ledger
from memeval.archive.runs import sealed_runs
from memeval.leaderboard.releases import age, before, completed, release_path, releases
from memeval.leaderboard.traces import Traces
from memeval.records.base import Digest, digest_bytes
from memeval.records.errors import BadInput, CheckFailed, MemevalError
from memeval.records.release import Release
from memeval.site.frame.building import build, make_folder
from memeval.site.model.file_digests import digest_file
from memeval.site.model.files import SHARED, entries_of
from memeval.site.release.roots import (
    INDEX,
    LATEST,
    LATEST_PAGE,
    NOT_FOUND,
    NOT_FOUND_PAGE,
    RELEASE_FILE,
    ROOT_PAGE,
    TAKEN,
    VERSIONS_FILE,
    latest_page,
    root_files,
    root_pages,
    selector,
)
from memeval.site.release.targets.base import Entry, EntryKind, NewFile, Target
from memeval.storage import locked

STAGE = Path("build", "publish")
"""The folder of built releases, in the folder of the board."""


class NotRebuilt(CheckFailed):
    """A frozen release was built again, and its files differ."""


@dataclass(frozen=True)
class Stage:
    folder: Path
    release: Release

    def data_files(self) -> Iterator[NewFile]:
        for path in self.release.data_files:
            yield NewFile(path, self.folder / path)

    def pages(self) -> Iterator[NewFile]:
        for path in self.release.files:
            yield NewFile(f"{self.release.version}/{path}", self.folder / path)


@contextmanager
def stages(results: Path) -> Iterator[Path]:
    """Open the folder of built releases for one process; a finished publication leaves nothing there.

    Raises ``BadInput`` if another process publishes these results, or the folder cannot be created.
    """
    folder = results.absolute().parent / STAGE
    make_folder(folder)
    with locked(folder, busy="another process is publishing these results."):
        yield folder


def forget(results: Path, version: str) -> None:
    """Delete the built site that an interrupted publication of a release has left."""
    site = results.absolute().parent / STAGE / version
    if site.is_dir():
        shutil.rmtree(site)


def stage_new(results: Path, folder: Path, draft: Release, key: Path | None, traces: Traces) -> Stage:
    """Build the site of a new release, and complete the release with its files.

    ``key``: file of an SSH key that signs the release; ``None`` to sign nothing.
    """
    site = folder / draft.version
    build(results, site, version=draft.version, releases=[*releases(results), draft], traces=traces)
    pages, data = _split(manifest(site))
    roots = {path: digest_bytes(content) for path, content in root_pages(draft.version).items()}
    return Stage(site, completed(draft, pages, key, data, roots))


def stage_again(results: Path, folder: Path, release: Release, traces: Traces) -> Stage:
    """Build the site of a frozen release again, from the ledger and the releases of that time.

    A site that an interrupted publication has left is used as it is.

    Raises:
        NotRebuilt: the files are not those of the release.
    """
    site = folder / release.version
    refusal = NotRebuilt(
        f"release {release.version} cannot be built again with equal bytes. memeval, memeval.toml, a stored file, or "
        "the data on this machine has changed since.",
        remedy=f"Check out the commit that froze release {release.version}, or publish under another version.",
    )
    wanted = (dict(release.files), list(release.data_files))
    if site.is_dir() and _split(manifest(site)) == wanted:
        return Stage(site, release)
    ledger = Ledger(results).until(release.ledger_digest)
    known = [*before(release, results), release]
    sealed = [each for each in sealed_runs(results) if release.runs.get(each.path.name) == each.digest]
    build(results, site, version=release.version, releases=known, ledger=ledger, traces=traces, sealed=sealed)
    if _split(manifest(site)) != wanted:
        shutil.rmtree(site)
        raise refusal
    return Stage(site, release)


def manifest(folder: Path) -> dict[str, Digest]:
    """Return the digest of each file in a built site, by path; without ``release.json``.

    Raises ``BadInput`` if the folder contains a symlink or another special file, or a file cannot be read.
    """
    found: dict[str, Digest] = {}
    for path, is_file in entries_of(folder):
        if not is_file:
            raise BadInput("is not a plain file.", where=folder / path, remedy="Delete it.")
        found[path] = digest_file(folder / path)
    found.pop(RELEASE_FILE, None)
    return found


def _split(files: Mapping[str, Digest]) -> tuple[dict[str, Digest], list[str]]:
    """Return the files of the version's folder with their digests, and the paths of the shared files."""
    pages = {path: digest for path, digest in files.items() if not path.startswith(SHARED)}
    return pages, sorted(files.keys() - pages.keys())


TRIES = 20
"""Number of tries to write the list of versions while other processes write it too."""


def paths_of(release: Release) -> set[str]:
    own = {f"{release.version}/{path}" for path in (*release.files, RELEASE_FILE)}
    return own | set(release.data_files)


def complete_releases(target: Target, results: Path, entries: Mapping[str, Entry]) -> list[Release]:
    """Return the releases that are published with all their files, newest first.

    ``results``: the results folder; a release that it has is not read from the target. Raises ``BadInput`` if a
    published release cannot be read, and the results folder does not have it.
    """
    found = []
    for path in entries:
        version, _, name = path.partition("/")
        if name != RELEASE_FILE or version in TAKEN:
            continue
        release = _release(target, results, version)
        if paths_of(release) <= entries.keys():
            found.append(release)
    return sorted(found, key=age, reverse=True)


def _release(target: Target, results: Path, version: str) -> Release:
    kept = release_path(results, version)
    if kept.is_file():
        return Release.parse(kept.read_bytes(), kept)
    where = f"{target.url}/{version}/{RELEASE_FILE}"
    try:
        release = Release.parse(target.read(f"{version}/{RELEASE_FILE}"), where)
    except MemevalError as error:
        raise BadInput(error.problem, where=where, remedy="Delete this version, or restore the file.") from None
    if release.version != version:
        raise BadInput(f"contains release {release.version}.", where=where, remedy="Delete this version.")
    return release


def is_switched(target: Target, versions: list[str], entries: Mapping[str, Entry]) -> bool:
    """Return whether the files at the root are those of these versions, newest first."""
    latest = entries.get(LATEST)
    if latest is not None:
        leads = latest.kind is EntryKind.LINK and latest.points_at == versions[0]
    else:
        leads = _content(target, LATEST_PAGE, entries) == latest_page(versions[0])
    return leads and all(_content(target, path, entries) == each for path, each in root_files(versions).items())


def switch(target: Target, results: Path) -> Iterator[str]:
    """Write the files at the root, the page of the root last; yield one line if something changes.

    Two processes may do this at the same time: the one that comes second sees the release of the first.

    Raises:
        BadInput: the target refuses, or other processes write all the time.
    """
    for _ in range(TRIES):
        entries = target.entries()
        versions = [release.version for release in complete_releases(target, results, entries)]
        if is_switched(target, versions, entries):
            return
        before = _content(target, VERSIONS_FILE, entries)
        content = selector(versions)
        if before != content and not target.swap(NewFile(VERSIONS_FILE, content, immutable=False), before):
            continue
        target.point(versions[0])
        for path, page in ((NOT_FOUND, NOT_FOUND_PAGE), (INDEX, ROOT_PAGE)):
            found = _content(target, path, entries)
            if found != page:
                target.swap(NewFile(path, page, immutable=False), found)
        yield f"{target.url}/{LATEST}: leads to {versions[0]}."
    raise BadInput("other processes publish here all the time.", where=target.url, remedy="Run the same command later.")


def _content(target: Target, path: str, entries: Mapping[str, Entry]) -> bytes | None:
    if path not in entries:
        return None
    try:
        return target.read(path)
    except KeyError:
        return None
