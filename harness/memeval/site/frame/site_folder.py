"""The folder of a site: written beside the old one, moved into its place, and left alone if nothing changed."""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from memeval.archive.run_cache import kept_by_name
from memeval.benchmarks.data import data_folder
from memeval.benchmarks.registry import known_ids, origin
from memeval.records.base import Digest, digest_bytes, digest_of
from memeval.settings import SETTINGS
from memeval.site.model.file_digests import digest_file
from memeval.site.model.files import Asset, assets_root, entries_of, file_bytes
from memeval.site.pages.publisher import brought_pages
from memeval.storage import cache_home


class SiteFolder:
    """The folder of a site in the making.

    ``folder``: the folder, which has what the earlier site does not have. ``earlier``: the folder of an earlier site on
    the same disk; ``None`` without one.
    """

    def __init__(self, folder: Path, earlier: Path | None = None) -> None:
        self.path, self._earlier = folder, earlier
        found = () if earlier is None else entries_of(earlier)
        self._there = {path: digest_file(earlier / path) for path, is_file in found if earlier and is_file}
        self._parents: set[Path] = set()
        self._stays: set[str] = set()
        self._known: set[str] = set()

    def write(self, asset: Asset) -> None:
        """Write a file that the earlier site does not have. One with a known digest comes once, for many runs."""
        digest, content = asset.digest, asset.content
        if digest is not None:
            if asset.path in self._known:
                return
            self._known.add(asset.path)
        elif self._there and isinstance(content, bytes):
            digest = digest_bytes(content)
        if digest is not None and self._there.get(asset.path) == digest:
            self._stays.add(asset.path)
            return
        path = self.path / asset.path
        if path.parent not in self._parents:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._parents.add(path.parent)
        if isinstance(content, Path):
            shutil.copyfile(content, path)
        else:
            path.write_bytes(file_bytes(asset))

    def contents(self) -> list[tuple[str, Digest]]:
        new = {path: digest_file(self.path / path) for path, _is_file in entries_of(self.path)}
        return sorted(({path: self._there[path] for path in self._stays} | new).items())

    def move_to(self, out: Path) -> None:
        """Take the place of the earlier site: delete what the new site does not have, and move the new files there."""
        if self._earlier is None:
            self.path.rename(out)
            return
        new = [path for path, _is_file in entries_of(self.path)]
        _keep_only({*self._stays, *new}, out)
        for path in new:
            place = out / path
            place.parent.mkdir(parents=True, exist_ok=True)
            (self.path / path).replace(place)


def _keep_only(paths: set[str], out: Path) -> None:
    """Delete what is at no path of a site, also what stands where a folder or a file of the site will be."""
    folders: set[str] = set()
    for path in paths:
        while (path := path.rpartition("/")[0]) and path not in folders:
            folders.add(path)

    def keep_only(folder: str, before: str) -> None:
        with os.scandir(folder) as found:
            entries = list(found)
        for entry in entries:
            path = before + entry.name
            if not entry.is_dir(follow_symlinks=False):
                if path not in paths:
                    Path(entry.path).unlink()
            elif path in folders:
                keep_only(entry.path, f"{path}/")
            else:
                shutil.rmtree(entry.path)

    keep_only(str(out), "")


KIND = "built"


class _UnknownError(Exception):
    """What a site was built from, or its files, cannot be told."""


def inputs_of(results: Path) -> Digest | None:
    """Return the digest of all that a site is built from besides memeval's code; ``None`` if that cannot be told."""
    if brought_pages() or any(not origin(name).is_own for name in known_ids()):
        return None  # another package can change without another version
    board, assets = results.absolute().parent, assets_root()
    read = results, board / "submissions", board / "sources", board / SETTINGS, assets / "site", assets / "templates"
    try:
        return digest_of(
            [
                [contents_of(place) for place in (*read, assets / "mkdocs.yml")],
                # Large files; what was downloaded never changes in place.
                [_states(place) for place in (data_folder(), cache_home() / "rows")],
                sorted(_packages()),
                sorted(item for item in os.environ.items() if item[0].startswith("MEMEVAL_")),
            ]
        )
    except (_UnknownError, OSError):
        return None


def is_current(out: Path, inputs: Digest) -> bool:
    """Return whether a site was built from these inputs, and has the same files since."""

    def make() -> bytes:
        raise _UnknownError

    try:
        kept_by_name(str(out), KIND, digest_of([inputs, sorted(contents_of(out))]), make)
    except (_UnknownError, OSError):
        return False
    return True


def remember(out: Path, inputs: Digest, contents: Sequence[tuple[str, Digest]]) -> None:
    kept_by_name(str(out), KIND, digest_of([inputs, sorted(contents)]), lambda: b"")


def contents_of(place: Path) -> list[tuple[str, Digest]]:
    """Return the paths of all files in a folder, or of a file, with the digests of their bytes.

    Raises ``_UnknownError`` if the folder has a link or a special file.
    """
    return [(name, digest_file(path)) for name, path in _files(place)]


def _packages() -> Iterator[str]:
    return (
        each.name
        for place in sys.path
        for pattern in ("*.dist-info", "*.egg-info")
        for each in Path(place).glob(pattern)
    )


def _states(place: Path) -> list[tuple[str, int, int]]:
    states = ((name, path.stat()) for name, path in _files(place))
    return [(name, state.st_size, state.st_mtime_ns) for name, state in states]


def _files(place: Path) -> Iterator[tuple[str, Path]]:
    """Yield all files in a folder, or a file itself, with their relative paths.

    Raises ``_UnknownError`` if the folder has a link or a special file.
    """
    if place.is_file():
        yield "", place
    elif place.is_dir():
        for name, is_file in entries_of(place):
            if not is_file:
                raise _UnknownError
            yield name, place / name
