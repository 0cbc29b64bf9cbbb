"""Whether a built site is current: all that it was built from is as it was, and so are its own files."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from memeval.archive.run_cache import kept_by_name
from memeval.benchmarks.data import data_folder
from memeval.benchmarks.registry import known_ids, origin
from memeval.records.base import Digest, digest_of
from memeval.settings import SETTINGS
from memeval.site.model.file_digests import digest_file
from memeval.site.model.files import assets_root, entries_of
from memeval.site.pages.publisher import brought_pages
from memeval.storage import cache_home

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
    """Note that a site was built."""
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
