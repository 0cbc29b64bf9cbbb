"""What publishers yield: pages without their frame, and files as they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup


@dataclass(frozen=True)
class Heading:
    """A section of a page, for its table of contents."""

    id: str
    title: str


@dataclass(frozen=True)
class Page:
    """A page: its body is finished HTML, which nothing after it may interpret again."""

    url: str
    """Relative to the site's root: empty, or ending in a slash."""
    title: str
    """As text; whoever writes it into HTML escapes it."""
    body: Markup
    """HTML of the article, its ``h1`` first."""
    description: str
    """One sentence, as text."""
    headings: tuple[Heading, ...] = ()
    """Sections to list beside the page."""
    searchable: bool = True
    """Whether the search index holds it."""
    wide: bool = False
    """Whether it takes the window's width."""


@dataclass(frozen=True)
class Asset:
    """A file written as it is."""

    path: str
    """Relative to the site's root."""
    content: bytes | Path
    """Its bytes, or the file to copy."""


GeneratedFile = Page | Asset
