"""Files of a site: pages without their frame, plain files, digests of private texts, hand-written files."""

import gzip
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from markupsafe import Markup

import memeval
from memeval.records.base import Digest, digest_bytes
from memeval.records.errors import BadInput
from memeval.site.model.file_digests import digest_file
from memeval.site.model.text import BIDI

Data = dict[str, Any]


def lean(data: Data) -> Data:
    """Return ``data`` without empty values; readers treat a missing key as empty."""
    return {name: value for name, value in data.items() if value is not None}


def text_reference(text: str) -> Data:
    """Return the publishable data of a private text."""
    data = text.encode("utf-8", "surrogatepass")
    return {"digest": digest_bytes(data), "bytes": len(data)}


def shown_text(text: str, words: bool, most: int) -> Data | str:
    """Return a text for a page, cut after ``most`` characters; of a private one, only its publishable data."""
    if not words:
        return text_reference(text)
    over = len(text) - most
    return text if over <= 0 else {"text": text[:most], "left_out": over}


_TURNS = re.compile("|".join(rf"\\u{code:04x}" for code in BIDI))


def encode(data: Any) -> bytes:
    """Return the canonical JSON text of ``data``, in ASCII, so that untrusted text cannot break it.

    Pages show these texts, so they have no characters that turn the direction of a text.
    """
    text = json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    if _TURNS.search(text):  # seldom; the search also finds an escaped backslash before the letters
        text = _TURNS.sub(_plain, text)
    return text.encode()


def _plain(found: re.Match[str]) -> str:
    before = found.string[: found.start()]
    escaped = (len(before) - len(before.rstrip("\\"))) % 2
    return found[0] if escaped else "\\ufffd"


def joined(name: str, values: Iterable[bytes], others: Data | None = None) -> bytes:
    """Return the JSON text of an object: a list of values that are JSON text already, then other fields."""
    rest = encode(others or {})[1:]
    return b'{"%s":[%s]%s%s' % (name.encode(), b",".join(values), b"," if others else b"", rest)


@cache
def assets_root() -> Path:
    """Return the folder with ``mkdocs.yml``, ``site`` and ``templates``.

    Raises ``BadInput`` if neither the package nor a checkout contains them.
    """
    package = Path(memeval.__file__).resolve().parent
    for root in (package / "_assets", package.parents[1]):
        if (root / "mkdocs.yml").is_file() and (root / "templates").is_dir():
            return root
    raise BadInput("the site's templates are not installed with memeval.", remedy="Install memeval again.")


SHARED = "data/sha256/"
"""Folder of the files that all releases share, relative to the root of the site; each is named by its digest."""


LEVEL = 5
"""Level of compression: the default, 6, saves 2 % of the bytes and takes half as long again."""

SHARD_BYTES = 200_000
"""Size in bytes, before compression, at which a shard is closed: small enough to load quickly, and large enough for few
files that compress well."""


@dataclass(frozen=True)
class Heading:
    id: str
    title: str
    parts: "tuple[Heading, ...]" = ()


@dataclass(frozen=True)
class Page:
    """A page. Its body is finished HTML and must not be interpreted again."""

    url: str
    """Address relative to the site's root: empty, or with a slash at the end."""
    title: str
    """Plain text; escape it in HTML."""
    body: Markup
    """HTML of the article, its ``h1`` first."""
    description: str
    """One sentence, as plain text."""
    headings: tuple[Heading, ...] = ()
    searchable: bool = True
    words: str = ""
    """Words by which the search finds the page like by its title."""
    wide: bool = False
    """Whether it uses the full width of the window."""
    picture: str | None = None
    """Path of its own picture for links to it; ``None`` for that of the board."""


@dataclass(frozen=True)
class Asset:
    path: str
    """Relative to the site's root."""
    content: bytes | Path | Callable[[], bytes]
    digest: Digest | None = field(default=None, compare=False)


@dataclass(frozen=True)
class KeptPage:
    """A page in a folder with very many pages, which get one frame: it has headings, and is not searchable.

    It is made only if an earlier site does not have it.
    """

    url: str
    inputs: Digest
    """Digest of all that it depends on besides memeval's code."""
    make: Callable[[], Iterable[Page | Asset]] = field(compare=False)


GeneratedFile = Page | Asset | KeptPage


def shared(content: bytes | Path, suffix: str) -> Asset:
    """Return a file that is named by its digest, so that all releases can share it."""
    digest = digest_bytes(content) if isinstance(content, bytes) else digest_file(content)
    name = digest.removeprefix("sha256:")
    return Asset(f"{SHARED}{name[:2]}/{name}{suffix}", content, digest)


def shared_again(path: str, content: Callable[[], bytes]) -> Asset:
    """Return a file of :func:`shared` that an earlier build has made."""
    name = path.removeprefix(SHARED).partition("/")[2]
    return Asset(path, content, f"sha256:{name[:64]}")


def file_bytes(asset: Asset) -> bytes:
    content = asset.content
    return content if isinstance(content, bytes) else content.read_bytes() if isinstance(content, Path) else content()


def content_of(contents: Callable[[], Mapping[str, bytes]], path: str) -> bytes:
    """Return one of several contents that are made together, when the first of them is needed."""
    return contents()[path]


def entries_of(folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield the relative paths of all in a folder but folders, and whether it is a file: no link, nothing special."""
    return _inside(str(folder), "")


def _inside(folder: str, before: str) -> Iterator[tuple[str, bool]]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=attrgetter("name"))
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _inside(entry.path, f"{before}{entry.name}/")
        else:
            yield before + entry.name, entry.is_file(follow_symlinks=False)


def packed(content: bytes) -> Asset:
    """Return JSON text as a gzipped file that all releases can share, for a page that loads it.

    Its name has two digests: that of the file, then that of the text. A page checks the second one, because some hosts
    decompress a file on its way.
    """
    digest = digest_bytes(content).removeprefix("sha256:")
    return shared(gzip.compress(content, LEVEL, mtime=0), f"-{digest}.json.gz")
