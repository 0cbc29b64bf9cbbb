"""The folder of a site in the making, which then takes the place of an earlier site.

On a board of a thousand runs, one run more changes a tenth of the files. The others stay as they are on the disk.
"""

import os
import shutil
from pathlib import Path

from memeval.records.base import Digest, digest_bytes
from memeval.site.model.file_digests import digest_file
from memeval.site.model.files import Asset, entries_of, file_bytes


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
