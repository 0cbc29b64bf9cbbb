"""Output of publishers: pages without their frame, and plain files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from memeval.records.base import digest_bytes

SHARED = "data/sha256/"
"""Folder of the files that all releases share, relative to the root of the site; each is named by its digest."""


@dataclass(frozen=True)
class Heading:
    """A section of a page, for its table of contents."""

    id: str
    title: str


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
    """Sections to list beside the page."""
    searchable: bool = True
    """Whether the search index includes it."""
    wide: bool = False
    """Whether it uses the full width of the window."""


@dataclass(frozen=True)
class Asset:
    """A file, written unchanged."""

    path: str
    """Relative to the site's root."""
    content: bytes | Path
    """Its bytes, or the file to copy."""


GeneratedFile = Page | Asset


def shared(content: bytes, suffix: str) -> Asset:
    """Return a file that is named by its digest, so that all releases can share it.

    Args:
        content: its bytes.
        suffix: the end of its name, such as ``.json``.
    """
    digest = digest_bytes(content).removeprefix("sha256:")
    return Asset(f"{SHARED}{digest[:2]}/{digest}{suffix}", content)
