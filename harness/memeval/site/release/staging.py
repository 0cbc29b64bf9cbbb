"""Builds the site of a release in a folder of this machine, before anything is published."""

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memeval.archive.ledger import Ledger
from memeval.archive.runs import sealed_runs
from memeval.leaderboard.releases import before, completed, releases
from memeval.leaderboard.traces import Traces
from memeval.records.base import Digest, digest_bytes
from memeval.records.errors import BadInput, CheckFailed
from memeval.records.release import Release
from memeval.site.frame.building import build, make_folder
from memeval.site.model.files import SHARED
from memeval.site.release.roots import root_pages
from memeval.site.release.targets.base import NewFile
from memeval.storage import locked

STAGE = Path("build", "publish")
"""The folder of built releases, in the folder of the board."""


class NotRebuilt(CheckFailed):
    """A frozen release was built again, and its files differ."""


@dataclass(frozen=True)
class Stage:
    """A built release."""

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
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            if path.is_symlink() or not path.is_file():
                raise BadInput("is not a plain file.", where=path, remedy="Delete it.")
            with path.open("rb") as stream:
                found[path.relative_to(folder).as_posix()] = (
                    "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()
                )
    found.pop("release.json", None)
    return found


def _split(files: Mapping[str, Digest]) -> tuple[dict[str, Digest], list[str]]:
    """Return the files of the version's folder with their digests, and the paths of the shared files."""
    pages = {path: digest for path, digest in files.items() if not path.startswith(SHARED)}
    return pages, sorted(files.keys() - pages.keys())
