"""What is computed for pages, kept from build to build in the user's cache folder.

A kept file counts only for the same inputs and the same code, and only with its own digest. The inputs of what is
computed from a run are its ``run.json``, which has the digests of all rows. Everything can be deleted at any time.
"""

import contextlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Self

from memeval.archive.runs import RunFolder
from memeval.records.base import Digest, digest_bytes, digest_of
from memeval.records.errors import BadInput
from memeval.storage import cache_home, code_digest, write_whole


@dataclass(frozen=True)
class KeptRun(RunFolder):
    """A run of which may be used what an earlier build kept. What decides about a run reads its rows."""

    @cached_property
    def has_rows(self) -> bool:
        return super().has_rows

    @classmethod
    def of(cls, folder: RunFolder) -> Self:
        made = cls(folder.path)
        vars(made).update(vars(folder))
        return made


def kept(folder: RunFolder, kind: str, depends: str, make: Callable[[], bytes]) -> bytes:
    """Return what ``make`` returns for a run; ``make`` is called only if an earlier build has not kept it.

    ``kind``: the kind of content, a part of the file's name. ``depends``: all else that the content depends on besides
    run and code, such as the digest of the data.
    """
    return kept_file(_place(folder.digest, kind), _key(kind, depends), make)


def kept_by_name(name: str, kind: str, depends: str, make: Callable[[], bytes]) -> bytes:
    """Return what ``make`` returns; ``make`` is called only if an earlier build has not kept it.

    The content belongs to a name, such as the address of a page, and replaces an earlier one. ``depends``: the digest
    of all that it depends on besides memeval's code.
    """
    return kept_file(_place(digest_of(name), kind), _key(kind, depends), make)


def keep_by_name(name: str, kind: str, content: bytes) -> None:
    """Keep a content that depends on memeval's code alone, in the place of the one that had its name."""
    _keep(_place(digest_of(name), kind), _key(kind, ""), content)


def kept_file(path: Path, key: str, make: Callable[[], bytes]) -> bytes:
    """Return what ``make`` returns; ``make`` is called only if the file does not have it whole and under the same key.

    ``key``: names all that the content depends on, without spaces.
    """
    with contextlib.suppress(OSError):
        first, _, content = path.read_bytes().partition(b"\n")
        if first.decode("ascii", "replace") == f"{key} {digest_bytes(content)}":
            return content
    content = make()
    _keep(path, key, content)
    return content


def _keep(path: Path, key: str, content: bytes) -> None:
    with contextlib.suppress(OSError, BadInput):  # without a cache, the next build computes it again
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, f"{key} {digest_bytes(content)}\n".encode() + content, synced=False)


def is_kept(folder: RunFolder, kind: str, depends: str) -> bool:
    """Return whether :func:`kept` has the content of a run already; its bytes are not checked."""
    with contextlib.suppress(OSError), _place(folder.digest, kind).open("rb") as stream:
        return stream.readline(1000).startswith(_key(kind, depends).encode())
    return False


def _place(digest: Digest, kind: str) -> Path:
    return cache_home() / "site" / f"{digest.removeprefix('sha256:')}-{kind}"


def _key(kind: str, depends: str) -> str:
    return digest_of([kind, depends, _tools(), code_digest()])


@cache
def _tools() -> str:
    return f"numpy {version('numpy')}, zlib {zlib.ZLIB_RUNTIME_VERSION}"
